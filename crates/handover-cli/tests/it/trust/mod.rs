//! Trust: what the files of a checkout may do before and after the user has agreed to it.

mod agents;
mod asking;
mod classes;
mod hostile;
mod owners;

use std::os::unix::fs::PermissionsExt;

use handover_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::handover;

/// A user's environment: nothing is trusted but what the user has agreed to.
fn user() -> TestEnv {
    let mut env = TestEnv::empty(handover());
    env.trust_nothing();
    env
}

/// A project that its owner has set up, with an open session `s1`.
fn own_project() -> TestEnv {
    let env = user();
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    env
}

/// A checkout with such a configuration, as `git clone` leaves it: nobody has called `init`.
fn clone_with(config: &str) -> TestEnv {
    let env = user();
    env.write(".handover/config.toml", config);
    env.git("", &["init", "--quiet"]);
    env
}

/// Writes the user's own configuration.
fn user_file(env: &TestEnv, text: &str) {
    let path = env.folder().join("home/.config/handover/config.toml");
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// Writes a shell script.
fn script(path: &std::path::Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The document of `handover trust`.
fn trust(env: &TestEnv, args: &[&str]) -> Value {
    let mut all = vec!["trust", "--json"];
    all.extend(args);
    env.run(all).ok().json()["trust"].clone()
}

fn keys(trust: &Value) -> Vec<String> {
    let wants = trust["wants"].as_array().unwrap();
    wants.iter().map(|want| want["key"].as_str().unwrap().to_owned()).collect()
}

/// The effective value of a key.
fn value(env: &TestEnv, key: &str) -> Value {
    let shown = env.run(["config", "show", "--json"]).ok().json();
    let all = shown["config"].as_array().unwrap();
    all.iter().find(|entry| entry["key"] == key).unwrap()["value"].clone()
}

/// Sends an event of Claude Code, as hooks of the user's own settings do in any folder.
fn hook(env: &TestEnv, name: &str, fields: Value) -> Output {
    let mut event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": name,
        "transcript_path": env.folder().join("lead.jsonl"),
    });
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    env.run_with(event.to_string(), ["hook", "claude"]).ok()
}

/// The message to the user when a conversation starts.
fn notice(env: &TestEnv, source: &str) -> String {
    let output = hook(env, "SessionStart", json!({"source": source}));
    let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// The prompt that a subagent starts with.
fn briefed(env: &TestEnv, task: &str) -> String {
    let input = json!({"description": "d", "prompt": task, "subagent_type": "general-purpose"});
    let output = hook(env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
    let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let prompt = answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str();
    prompt.unwrap_or_default().to_owned()
}
