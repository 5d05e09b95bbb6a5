//! What a project learns from: documents, commits, conversations, the memories of other tools, notes by hand, and the
//! index of files.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use super::{Planted, list_everything};
use crate::project;

#[test]
fn notes_and_places() {
    let env = project();
    let mut planted = Planted::default();
    every_source(&mut planted, &env);
    planted.nowhere(&env);
}

pub(super) fn every_source(p: &mut Planted, env: &TestEnv) {
    env.git("", &["init", "--quiet"]);
    documents(p, env);
    code(p, env);
    env.git("", &["add", "--all"]);
    let message = format!(
        "Rotate {} in the gateway\n\nThe old key leaked, so every request is signed with {} from now on. {}\n\n{}\n",
        p.token("subject"),
        p.token("message"),
        p.password("message"),
        p.private_key("message"),
    );
    env.git("", &["commit", "--quiet", "--message", &message]);
    conversation(p, env);
    memories(p, env);
    let title = p.token("title of a note");
    let text = format!("Deploy with {} only. {}", p.token("note"), p.password("note"));
    p.run(env, "", ["note", "add", &text, "--title", &title, "--path", "docs/setup.md"]);
    p.run(env, "", ["learn", "--dry-run"]);
    p.run(env, "", ["learn"]);
    let ids = learned(env);
    for id in &ids {
        p.run(env, "", ["note", "show", id]);
    }
    let (id, reason) = (&ids[0], p.token("reason"));
    p.run(env, "", ["note", "retire", id, "--reason", &reason]);
    p.run(env, "", ["note", "list"]);
    let asked = p.token("task");
    let task = "Rotate the key of the gateway and deploy with the token";
    for task in [task, &format!("{task} {asked}")] {
        p.run(env, "", ["search", task]);
        p.run(env, "", ["where", task]);
        p.run(env, "", ["assemble", "--role", "developer", "--task", task, "--explain"]);
    }
    // A user's own task reaches the agent as it was typed.
    p.run(env, "", ["brief", "--role", "developer", "--task", task]);
    for (name, argument) in [("note show", "note show @"), ("learn", "learn --forget @")] {
        let token = p.token(name);
        p.run(env, "", argument.split(' ').map(|word| word.replace('@', &token)));
    }
    list_everything(p, env);
}

/// The ids of all notes; each source has some.
#[track_caller]
fn learned(env: &TestEnv) -> Vec<String> {
    let listed = env.run(["note", "list", "--json", "--limit", "1000"]).ok().json();
    let notes = listed["notes"].as_array().unwrap();
    for kind in ["doc", "commit", "conversation", "memory", "manual"] {
        assert!(notes.iter().any(|note| note["kind"] == kind), "no note of kind {kind}: {listed}");
    }
    assert!(listed.to_string().contains("[REDACTED-1]"), "{listed}");
    notes.iter().map(|note| note["id"].as_str().unwrap().to_owned()).collect()
}

fn documents(p: &mut Planted, env: &TestEnv) {
    let text = format!(
        "# Gateway {}\n\n## Keys\n\nThe gateway accepts {} until the key is rotated. {}\n\n{}\n\n```yaml\n{}\n```\n\n\
         | user | password |\n|---|---|\n| ann | {} |\n",
        p.token("heading"),
        p.token("paragraph"),
        p.password("paragraph"),
        p.private_key("document"),
        p.kubernetes("document"),
        p.token("table"),
    );
    env.write("docs/setup.md", text);
    let named = format!("docs/{}.md", p.token("name of a document"));
    env.write(
        &named,
        "# Deploy\n\nThe gateway is deployed on Mondays, before the token expires.\n",
    );
}

fn code(p: &mut Planted, env: &TestEnv) {
    let text = format!(
        "//! Signs requests of the gateway.\n\nconst TOKEN: &str = \"{}\";\n// {}\n\nfn rotate_{}() {{}}\n",
        p.token("source"),
        p.password("source"),
        p.token("symbol"),
    );
    env.write("src/gateway.rs", text);
    let named = format!("src/{}.rs", p.token("name of a source"));
    env.write(&named, "fn deploy_gateway() {}\n");
}

/// A conversation of Claude Code about this project.
fn conversation(p: &mut Planted, env: &TestEnv) {
    let root = fs_err::canonicalize(env.path("")).unwrap();
    let cwd = root.display().to_string();
    let asked = format!(
        "The key {} is in the log of the gateway. Which token should it use instead, and how often do we rotate it?",
        p.token("question")
    );
    let decided = format!(
        "Use {} and rotate it every Monday, because the partner revokes older ones. {}",
        p.token("decision"),
        p.password("decision")
    );
    let done = format!(
        "Done. The gateway signs with {} now and rotates it every Monday.\n\n{}\n\n{}",
        p.token("conclusion"),
        p.private_key("conclusion"),
        p.kubernetes("conclusion"),
    );
    let said = [
        (
            "user",
            json!("Requests of the gateway are rejected since yesterday. Please find out why."),
        ),
        ("assistant", json!([{"type": "text", "text": asked}])),
        ("user", json!(decided)),
        ("assistant", json!([{"type": "text", "text": done}])),
    ];
    let lines = said.iter().enumerate().map(|(at, (role, content))| {
        let line = json!({
            "type": role, "uuid": format!("u{at}"), "sessionId": "c1", "cwd": &cwd, "isSidechain": false,
            "timestamp": format!("2026-11-17T18:28:{at:02}.000Z"), "version": "2.1.197", "userType": "external",
            "message": {"role": role, "content": content},
        });
        format!("{line}\n")
    });
    let folder = claude_folder(env);
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join("c1.jsonl"), lines.collect::<String>()).unwrap();
}

/// What Claude Code and beads remember.
fn memories(p: &mut Planted, env: &TestEnv) {
    let folder = claude_folder(env).join("memory");
    fs_err::create_dir_all(&folder).unwrap();
    let text = format!(
        "# Gateway\n\n## Keys\n\nThe user prefers {} for the gateway and never commits it. {}\n",
        p.token("memory of Claude"),
        p.password("memory of Claude"),
    );
    fs_err::write(folder.join("MEMORY.md"), text).unwrap();
    let issue: Value = json!({
        "id": "bd-1", "title": format!("Replace {}", p.token("title of an issue")),
        "description": format!("The gateway still uses {} for the nightly job.", p.token("issue")),
        "status": "open", "created_at": "2026-11-17T18:28:57Z", "updated_at": "2026-11-17T18:28:57Z",
    });
    env.write(".beads/issues.jsonl", format!("{issue}\n"));
}

/// Where Claude Code keeps what belongs to this project.
fn claude_folder(env: &TestEnv) -> std::path::PathBuf {
    let root = fs_err::canonicalize(env.path("")).unwrap();
    let name: String = root
        .to_string_lossy()
        .trim_end_matches('/')
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    env.folder().join("home/.claude/projects").join(name)
}
