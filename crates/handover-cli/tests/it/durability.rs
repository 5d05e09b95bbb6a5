//! Stores that are locked, cannot be written, or lose a file: what is read, what is kept, what is said.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use handover_testkit::{Disk, TestEnv};
use serde_json::{Value, json};

use crate::project;

/// Another program that holds the write lock of the store.
struct Lock(Child);

impl Lock {
    fn take(env: &TestEnv) -> Self {
        let script = "import sqlite3, sys\n\
            store = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
            store.execute('BEGIN IMMEDIATE')\n\
            print('locked', flush=True)\n\
            sys.stdin.read()\n";
        let mut python = env.tool("python3");
        python.args(["-c", script]).arg(env.path(".handover/store.db"));
        let mut child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        Self(child)
    }

    fn release(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SUMMARY: &str = "Refresh tokens rotate after a grace period";

fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", format!("# OAuth\n## Summary\n{SUMMARY}.\n"));
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "critical"])
        .ok();
    env
}

fn spooled(env: &TestEnv) -> usize {
    fs_err::read_dir(env.path(".handover/spool")).map_or(0, Iterator::count)
}

fn receipt_state(env: &TestEnv, receipt: &str) -> Value {
    let shown = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    shown["receipt"]["state"].clone()
}

#[test]
fn a_locked_store_gives_the_whole_context() {
    let env = with_package();
    let lock = Lock::take(&env);
    let mut receipts = Vec::new();
    for deliver in [&[][..], &["--deliver"]] {
        let args = [&["assemble", "--role", "developer", "--json"], deliver].concat();
        let output = env.run(args).ok();
        let document = output.json();
        assert!(document["markdown"].as_str().unwrap().contains(SUMMARY), "{document}");
        assert!(output.stderr.contains("locked") && output.stderr.contains("spool"), "{output}");
        receipts.push(document["receipt"].as_str().unwrap().to_owned());
    }
    assert_eq!(spooled(&env), 2);
    lock.release();
    env.run(["doctor"]).ok();
    assert_eq!(spooled(&env), 0);
    assert_eq!(receipt_state(&env, &receipts[0]), "assembled");
    assert_eq!(receipt_state(&env, &receipts[1]), "delivered");
}

#[test]
fn a_locked_store_gives_the_whole_brief() {
    let env = with_package();
    let lock = Lock::take(&env);
    let brief = |extra: &[&str]| {
        let args = ["brief", "--role", "developer", "--task", "Refresh tokens", "--json"];
        env.run([&args[..], extra].concat()).ok().json()
    };
    let (draft, delivered) = (brief(&[]), brief(&["--deliver"]));
    for document in [&draft, &delivered] {
        assert!(document["text"].as_str().unwrap().contains(SUMMARY), "{document}");
        assert_eq!(document["provided"]["context"]["state"], "present", "{document}");
    }
    lock.release();
    env.run(["doctor"]).ok();
    assert_eq!(receipt_state(&env, draft["receipt"].as_str().unwrap()), "assembled");
    assert_eq!(receipt_state(&env, delivered["receipt"].as_str().unwrap()), "delivered");
}

fn spawn_event(env: &TestEnv) -> String {
    let input = json!({"description": "d", "prompt": "Refresh tokens", "subagent_type": "worker"});
    json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "PreToolUse",
        "transcript_path": env.path("lead.jsonl"), "tool_name": "Agent", "tool_input": input,
    })
    .to_string()
}

#[test]
fn a_locked_store_gives_a_subagent_its_whole_brief() {
    let env = with_package();
    let lock = Lock::take(&env);
    let output = env.run_with(spawn_event(&env), ["hook", "claude"]).ok();
    let answer: Value = serde_json::from_str(output.stdout.trim()).unwrap();
    let prompt = answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap();
    assert!(prompt.contains(SUMMARY), "{prompt}");
    assert!(answer["systemMessage"].as_str().unwrap().contains("spool"), "{answer}");
    lock.release();
    assert_eq!(spooled(&env), 1);
    env.run(["doctor"]).fails(1);
    assert_eq!(spooled(&env), 0);
}

#[test]
fn a_disk_that_cannot_be_written_gives_the_whole_context() {
    for disk in [Disk::ReadOnly, Disk::Full] {
        let env = with_package();
        for rest in [&[][..], &["store.db-wal", "store.db-shm"]] {
            for file in rest {
                let _ = fs_err::remove_file(env.path(".handover").join(file));
            }
            let output = env.run_on(disk, "", ["assemble", "--role", "developer", "--json"]).ok();
            let document = output.json();
            assert!(
                document["markdown"].as_str().unwrap().contains(SUMMARY),
                "{disk:?} without {rest:?}: {output}"
            );
            assert!(output.stderr.contains("not recorded anywhere"), "{disk:?}: {output}");
            let list = env.run_on(disk, "", ["package", "list", "--json"]).ok().json();
            assert_eq!(list["packages"].as_array().unwrap().len(), 1, "{disk:?} {rest:?}");
        }
    }
}

#[test]
fn deleting_the_log_of_an_idle_store_loses_nothing() {
    let env = with_package();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "Two clocks"]).ok();
    for file in ["store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(".handover").join(file));
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!((&counts["packages"], &counts["reasoning"]), (&json!(1), &json!(1)));
    env.run(["doctor"]).ok();
}

#[test]
fn a_flipped_bit_in_the_log_of_an_idle_store_loses_nothing() {
    let env = with_package();
    for n in 0..5 {
        let thought = format!("thought {n}");
        env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", &thought]).ok();
    }
    let log = env.path(".handover/store.db-wal");
    let mut bytes = fs_err::read(&log).unwrap_or_default();
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
        fs_err::write(&log, bytes).unwrap();
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!((&counts["packages"], &counts["reasoning"]), (&json!(1), &json!(5)));
}
