//! `HANDOVER_LOG`: silent by default, never in the way.

use handover_testkit::TestEnv;
use serde_json::json;

const LOG_FILE: &str = ".handover/handover.log";

fn logging(directives: &str) -> TestEnv {
    let mut env = crate::project();
    env.set("HANDOVER_LOG", directives);
    env
}

#[test]
fn is_silent_by_default() {
    let env = crate::project();
    assert_eq!(env.run(["session", "list"]).ok().stderr, "");
    assert!(!env.path(LOG_FILE).exists());
}

#[test]
fn writes_events_to_standard_error() {
    let env = logging("debug");
    let output = env.run(["session", "list", "--json"]).ok();
    assert!(output.stderr.contains(" DEBUG handover::cli: command ended exit=Done"), "{output}");
    assert_eq!(output.json()["sessions"][0]["id"], "s1");
    assert!(!env.path(LOG_FILE).exists());
    let output = logging("handover::cli=off,debug").run(["session", "list"]).ok();
    assert!(!output.stderr.contains("command ended"), "{output}");
}

#[test]
fn an_invalid_value_is_a_warning() {
    let output = logging("loud").run(["session", "list"]).ok();
    assert!(output.stderr.contains("warning: HANDOVER_LOG ignores `loud`"), "{output}");
}

#[test]
fn hooks_write_to_a_file_because_their_standard_error_is_shown_to_users() {
    let env = logging("debug,loud");
    let event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "PostToolUse",
        "transcript_path": env.path("lead.jsonl"), "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "t",
        "tool_response": {"stdout": "", "stderr": "", "interrupted": false},
    });
    let output = env.run_with(event.to_string(), ["hook", "claude"]).ok();
    assert_eq!(output.stderr, "");
    let log = fs_err::read_to_string(env.path(LOG_FILE)).unwrap();
    assert!(log.contains("HANDOVER_LOG ignores `loud`"), "{log}");
    assert!(log.contains(" DEBUG handover::cli: command ended"), "{log}");
}
