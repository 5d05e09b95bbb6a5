//! Real programs that are killed while a subagent works: when another conversation starts ten minutes later, their own
//! transcripts say what became of it.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use handover_testkit::{Answer, ModelServer, RealHost, Script, TestEnv};
use serde_json::json;

use crate::moving::database;
use crate::project;
use crate::real_hosts::{LEAD, is_lead, of};
use crate::real_versions::codex;

/// A little more than it takes until a silent conversation counts as dead.
const LATER: Duration = Duration::from_secs(11 * 60);

/// The files below the home of the programs that are transcripts.
fn transcripts(env: &TestEnv) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![env.folder().join("home")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if path.extension().is_some_and(|end| end == "jsonl") => found.push(path),
                _ => {}
            }
        }
    }
    found
}

fn is_settled(name: &str, host: fn(&TestEnv, &ModelServer) -> RealHost, spawn: Answer) {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nRefresh tokens rotate.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"]).ok();
    let scope = if name == "gemini" { "project" } else { "user" };
    env.run(["host", "install", name, "--scope", scope]).ok();
    let script = Script::new()
        .when(of("CHILD-ONE"), Answer::Silence)
        .when(|r| is_lead(r) && r.turns() == 0, spawn)
        .when(is_lead, Answer::Silence);
    let server = ModelServer::start(script);
    let host = host(&env, &server);
    let mut command = host.command();
    command.arg(format!("Do the {LEAD}.")).stdout(Stdio::null()).stderr(Stdio::null());
    // Some are started by another program, which must not survive.
    let mut program = command.process_group(0).spawn().unwrap();
    let has_brief = |path: &PathBuf| {
        fs_err::read_to_string(path).unwrap_or_default().contains("<!-- handover:receipt ")
    };
    let started = Instant::now();
    while !server.requests().iter().any(of("CHILD-ONE")) || !transcripts(&env).iter().any(has_brief)
    {
        assert!(started.elapsed() < Duration::from_secs(60), "{name}: it never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    let group = format!("-{}", program.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    program.wait().unwrap();
    let state = || {
        let list = env.run(["receipt", "list", "--json"]).ok().json();
        list["receipts"][0]["state"].as_str().unwrap().to_owned()
    };
    // Copilot CLI reports the prompt of a subagent.
    let before = if name == "copilot" { "confirmed" } else { "delivered" };
    assert_eq!(state(), before, "{name}");
    for path in transcripts(&env) {
        let file = fs_err::File::options().append(true).open(path).unwrap().into_parts().0;
        #[expect(clippy::disallowed_methods, reason = "files have the time of the machine")]
        let now = std::time::SystemTime::now();
        file.set_modified(now - LATER).unwrap();
    }
    let earlier = LATER.as_micros() as i64;
    database(&env).execute("UPDATE ticket SET created_at = created_at - ?1", [earlier]).unwrap();
    let output = host.command().arg("Say hello.").output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(state(), "confirmed", "{name}");
    let debriefs = env.run(["event", "list", "--type", "debrief", "--json"]).ok().json();
    assert_eq!(debriefs["events"].as_array().unwrap().len(), 1, "{name}: {debriefs}");
}

#[test]
fn a_killed_codex() {
    let input = json!({"message": "CHILD-ONE: refresh", "agent_type": "worker"});
    is_settled("codex", codex, Answer::tool("multi_agent_v1.spawn_agent", input));
}

#[test]
fn a_killed_codex_with_named_agents() {
    let input = json!({"message": "CHILD-ONE: refresh", "task_name": "one", "fork_turns": "none"});
    let host = |env: &TestEnv, server: &ModelServer| codex(env, server).with_named_agents();
    is_settled("codex", host, Answer::tool("collaboration.spawn_agent", input));
}

#[test]
fn a_killed_copilot() {
    let input = json!({"description": "work", "prompt": "CHILD-ONE: refresh",
        "agent_type": "general-purpose", "name": "worker", "mode": "sync"});
    is_settled("copilot", RealHost::copilot, Answer::tool("task", input));
}

#[test]
fn a_killed_gemini() {
    let input = json!({"agent_name": "generalist", "prompt": "CHILD-ONE: refresh"});
    is_settled("gemini", RealHost::gemini, Answer::tool("invoke_agent", input));
}
