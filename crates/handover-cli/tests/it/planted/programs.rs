//! Agents that print secrets, results and gates that contain them.

use handover_testkit::FakeAgent;
use serde_json::json;

use super::commands::debrief;
use super::{Planted, list_everything};
use crate::project;
use crate::prove::oracle;
use crate::runs::Epic;

/// Shell commands that print a text line by line, slowly at one place.
fn printing(text: &str) -> String {
    text.lines().map(|line| format!("printf '%s\\n' '{line}'\n")).collect::<Vec<_>>().join("")
}

#[test]
fn spawned_agents() {
    let env = project();
    let mut planted = Planted::default();
    let p = &mut planted;
    let script = env.folder().join("agent.sh");
    let text = format!(
        "cat > /dev/null\n{}{}sleep 0.6\n{}{}echo {} >&2\n{}",
        printing(&p.token("spawn, output")),
        printing(&p.private_key("spawn")),
        printing(&p.kubernetes("spawn")),
        // Interrupted in the middle, with time for a pause.
        printing(&p.private_key("spawn, slow")).replacen(
            "KCAQEA0Zx7'\n",
            "KCAQEA0Zx7'\nsleep 0.6\n",
            3
        ),
        p.token("spawn, error"),
        printing(&debrief(p, "spawn")).replace("'\"'\"'", ""),
    );
    fs_err::write(&script, text).unwrap();
    let command = format!("sh {}", script.display());
    let spawn = |task: &str, command: &str| {
        [
            "spawn",
            "--host",
            "command",
            "--role",
            "developer",
            "--agent-command",
            command,
            "--task",
            task,
        ]
        .map(str::to_owned)
    };
    let task = p.token("spawn, task");
    p.run(&env, "", spawn(&task, &command));
    let argument = format!("{command} {}", p.token("spawn, argument"));
    p.run(&env, "", spawn("x", &argument));
    let missing = format!("missing-{}", p.token("spawn, program"));
    p.run(&env, "", spawn("x", &missing));
    let failing =
        format!("{} err {} exit 3", FakeAgent::program().display(), p.token("spawn, failure"));
    p.run(&env, "", spawn("x", &failing));
    list_everything(p, &env);
    assert!(env.path(".handover/spawns").exists());
    planted.nowhere(&env);
}

#[test]
fn experiments() {
    let env = oracle(2, "");
    let mut planted = Planted::default();
    let p = &mut planted;
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    let prompt = format!(
        "prompt = '''Configure it with {}\n{}'''\n",
        p.token("prove, prompt"),
        p.private_key("prove, prompt")
    );
    let judge = format!("[\"sh\", \"-c\", \"echo {}; exit 1\"]", p.token("prove, judge"));
    let lines = tasks.lines().map(|line| match line {
        line if line.starts_with("prompt") => prompt.clone(),
        line if line.starts_with("judge") => format!("judge = {judge}\n"),
        line => format!("{line}\n"),
    });
    env.write("tasks.toml", lines.collect::<String>());
    // What an agent prints.
    let says =
        format!("{}echo {} >&2\n", printing(&p.token("prove, output")), p.token("prove, error"));
    let agent = format!("#!/bin/sh\ncat\n{says}");
    let script = env.folder().join("agent.sh");
    fs_err::write(&script, agent).unwrap();
    let command = format!("sh {}", script.display());
    let args = ["prove", "tasks.toml", "--host", "command", "--agent-command", &command];
    p.run(&env, "", args.iter().chain(&["--repeat", "1"]));
    p.run(&env, "", args.iter().chain(&["--show", "--html", "result.html"]));
    p.printed("the page", fs_err::read_to_string(env.path("result.html")).unwrap());
    list_everything(p, &env);
    let folder = env.path(".handover/experiments");
    let first = fs_err::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert!(fs_err::read_dir(first.join("prompts")).unwrap().count() >= 6);
    planted.nowhere(&env);
}

#[test]
fn runs() {
    let epic = Epic::new(&["1-1-a"]);
    let env = &epic.env;
    let mut planted = Planted::default();
    let p = &mut planted;
    let story = format!("# Story 1-1-a\n\nStatus: ready-for-dev\n\nUse {}.\n", p.token("story"));
    env.write("docs/stories/1-1-a.md", story);
    let check = format!(
        "echo {}\n{}\ntest ! -e a.txt || test -e fixed.txt\n",
        p.token("gate"),
        printing(&p.private_key("gate"))
    );
    env.write("check.sh", check);
    env.write(
        ".handover/config.toml",
        "[gates]\ndetect = false\ncommands = [{ name = \"unit\", argv = [\"sh\", \"check.sh\"] }]\n",
    );
    epic.commit_all("story");
    let key = env.folder().join("key.sh");
    let text = format!("{}{}", printing(&p.private_key("agent")), printing(&p.kubernetes("agent")));
    fs_err::write(&key, text).unwrap();
    let mut result = |phase: &str, verdict: &str| {
        let mut field = |name: &str| p.token(&format!("{phase} result, {name}"));
        json!({
            "nonce": "{HANDOVER_NONCE}", "story": "1-1-a", "phase": phase, "verdict": verdict,
            "summary": field("summary"),
            "findings": [{"severity": "high", "file": field("file"), "issue": field("issue")}],
            "reasoning": {"decisions": field("decisions")},
            "packages": [{"path": field("path"), "kind": "research", "summary": field("package")}],
            "errors": [{"message": field("error"), "solution": field("solution")}],
            field("key"): field("value"),
        })
        .to_string()
    };
    let lines = [
        format!(
            "* dev 1 | run \"sh {}\" write a.txt x result '{}'",
            key.display(),
            result("dev", "complete")
        ),
        format!("* fix 1 | write fixed.txt x result '{}'", result("fix", "complete")),
        format!("* review 1 | result '{}'", result("review", "passed")),
    ];
    let printed = format!("print {} err {}", p.token("agent, output"), p.token("agent, error"));
    epic.script(&lines.map(|line| line.replacen("| ", &format!("| {printed} "), 1)).join("\n"));
    let mut tracing = env.command();
    let output = tracing.args(epic.args(&[])).env("HANDOVER_LOG", "trace").output().unwrap();
    p.printed("run", String::from_utf8_lossy(&output.stdout));
    p.printed("run", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for command in
        ["status", "journal", "report --html -", "stats", "receipt list", "event list", "export"]
    {
        p.run(env, "", command.split(' ').chain(["--session", "epic-1"]));
    }
    // What is committed besides the user's story: records and messages of commits.
    let own = p.secrets[0].1.clone();
    p.printed("git", epic.git(&["log", "--format=%B", "handover/epic-1"]));
    p.printed(
        "git",
        epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]).replace(&own, ""),
    );
    planted.nowhere(env);
}
