//! Hooks keep notes current: commits and documents when a conversation starts, the conversation when it ends,
//! that of a subagent when it stops; and within their deadline.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

fn repository() -> TestEnv {
    let env = project();
    env.git("", &["init", "-q"]);
    env.write(
        "docs/a.md",
        "# Prices\n\nPrices are integers in cents, never floats, in every table.\n",
    );
    env.git("", &["add", "docs"]);
    env.git(
        "",
        &["commit", "-q", "-m", "Store prices in cents\n\nFloats lost money in big orders."],
    );
    env
}

fn hook(env: &TestEnv, name: &str, fields: Value) {
    let mut event = json!({"session_id": "c-1", "cwd": env.path(""), "hook_event_name": name});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let output = env.run_with(event.to_string(), ["hook", "claude"]).ok();
    assert!(!output.stderr.contains("panicked"), "{output}");
}

fn notes(env: &TestEnv, kind: &str) -> Vec<Value> {
    let listed = env.run(["note", "list", "--kind", kind, "--json"]).ok().json();
    listed["notes"].as_array().unwrap().clone()
}

/// A conversation of this project in a file of its own.
fn transcript(env: &TestEnv, file: &Path, said: &str, answered: &str) {
    let root = fs_err::canonicalize(env.path("")).unwrap();
    let line = |number: u32, kind: &str, content: Value| {
        json!({
            "type": kind, "message": {"role": kind, "content": content}, "cwd": root,
            "sessionId": "c-1", "uuid": format!("u-{number}"), "parentUuid": null,
            "isSidechain": false, "version": "2.1.197", "userType": "external",
            "timestamp": format!("2026-03-01T10:0{number}:00.000Z"),
        })
        .to_string()
    };
    let text = [
        line(0, "user", json!(said)),
        line(1, "assistant", json!([{"type": "text", "text": answered}])),
    ];
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    fs_err::write(file, text.join("\n") + "\n").unwrap();
}

fn in_home(env: &TestEnv, path: &str) -> PathBuf {
    let root = fs_err::canonicalize(env.path("")).unwrap();
    let slug: String = root
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    env.folder().join("home/.claude/projects").join(slug).join(path)
}

#[test]
fn commits_and_documents_when_a_conversation_starts() {
    let env = repository();
    assert!(notes(&env, "doc").is_empty());
    hook(&env, "SessionStart", json!({"source": "startup"}));
    assert_eq!((notes(&env, "doc").len(), notes(&env, "commit").len()), (1, 1));
    env.write(
        "docs/a.md",
        "# Prices\n\nPrices are decimals with four places now, in every table.\n",
    );
    env.git(
        "",
        &["commit", "-q", "-am", "Use decimals for prices\n\nTaxes need fractions of a cent."],
    );
    hook(&env, "SessionStart", json!({"source": "resume"}));
    let docs = notes(&env, "doc");
    assert_eq!((docs.len(), notes(&env, "commit").len()), (1, 2));
    assert!(docs[0]["text"].as_str().unwrap().contains("decimals"), "{docs:?}");
}

#[test]
fn the_conversation_when_it_ends() {
    let env = repository();
    let file = in_home(&env, "c-1.jsonl");
    transcript(
        &env,
        &file,
        "We decided to keep audit logs for ninety days, because the law asks for it.",
        "Understood, I will do that.",
    );
    hook(&env, "SessionStart", json!({"source": "startup", "transcript_path": file}));
    assert!(notes(&env, "conversation").is_empty(), "it has only begun");
    hook(&env, "SessionEnd", json!({"reason": "exit", "transcript_path": file}));
    let talks = notes(&env, "conversation");
    assert_eq!(talks.len(), 1, "{talks:?}");
    assert!(talks[0]["text"].as_str().unwrap().contains("ninety days"));
    // Switched off, nothing is learned.
    let other = in_home(&env, "c-2.jsonl");
    transcript(
        &env,
        &other,
        "We decided that invoices are immutable; a correction is a new invoice.",
        "Understood, I will do that.",
    );
    env.write(
        ".handover/config.toml",
        "[project]\nid = \"project\"\n[learn]\ntranscripts = false\n",
    );
    hook(&env, "SessionEnd", json!({"reason": "exit", "transcript_path": other}));
    assert_eq!(notes(&env, "conversation").len(), 1);
}

#[test]
fn a_subagent_when_it_stops() {
    let env = repository();
    let file = in_home(&env, "c-1/subagents/agent-a1.jsonl");
    transcript(
        &env,
        &file,
        "Find out how often the gateway may retry a payment.",
        "I decided to retry payments at most twice, because the bank counts every attempt.",
    );
    let fields = json!({
        "agent_id": "a1", "agent_type": "general-purpose", "stop_hook_active": false,
        "agent_transcript_path": file, "last_assistant_message": "Done.",
    });
    hook(&env, "SubagentStop", fields);
    let talks = notes(&env, "conversation");
    assert_eq!(talks.len(), 1, "{talks:?}");
    assert!(talks[0]["text"].as_str().unwrap().contains("at most twice"));
}

#[test]
fn a_long_history_waits_for_the_next_time() {
    let env = repository();
    let mut import = String::new();
    for n in 0..2_000 {
        let message =
            format!("Change number {n} of the shop\n\nBecause of reason {n} that somebody gave.\n");
        let time = 1_700_000_000 + n;
        write!(
            import,
            "commit refs/heads/long\ncommitter A <a@b.c> {time} +0000\ndata {}\n{message}\nM 100644 inline f{}.txt\ndata 2\nx\n\n",
            message.len(),
            n % 50
        )
        .unwrap();
    }
    env.write("import", import);
    let input = fs_err::File::open(env.path("import")).unwrap().into_parts().0;
    let mut git = env.tool("git");
    git.args(["fast-import", "--quiet"]).stdin(input);
    assert!(git.status().unwrap().success());
    env.git("", &["checkout", "-q", "-f", "long"]);
    let started = Instant::now();
    hook(&env, "SessionStart", json!({"source": "startup"}));
    let took = started.elapsed();
    // The deadline is five seconds; a busy machine may add to it.
    assert!(took < Duration::from_secs(12), "{took:?}");
    let first = notes(&env, "commit").len();
    for _ in 0..40 {
        if notes(&env, "commit").len() >= 2_000 {
            break;
        }
        hook(&env, "SessionStart", json!({"source": "startup"}));
    }
    let all = notes(&env, "commit").len();
    assert!(all >= 2_000 && first <= all, "{first} at first, {all} in the end");
}
