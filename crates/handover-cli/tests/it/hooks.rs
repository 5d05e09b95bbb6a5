//! `handover hook` by itself: events in, answers out, and no event that makes it fail.

use handover_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::{empty, project, shim};

const PACKAGE: &str = "# OAuth\n## Summary\nRefresh tokens rotate after a grace period.\n";

pub(crate) fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", PACKAGE);
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "critical"])
        .ok();
    env
}

pub(crate) fn event(env: &TestEnv, name: &str, fields: Value) -> Value {
    let mut event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": name,
        "transcript_path": env.path("lead.jsonl"),
    });
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn hook(env: &TestEnv, event: &Value) -> Output {
    let output = env.run_with(event.to_string(), ["hook", "claude"]).ok();
    assert!(!output.stderr.contains("panicked"), "{output}");
    output
}

/// The answer to an event; null if there is none.
pub(crate) fn answer(env: &TestEnv, name: &str, fields: Value) -> Value {
    let output = hook(env, &event(env, name, fields));
    match output.stdout.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap(),
    }
}

fn spawn(env: &TestEnv, kind: &str, prompt: &str) -> Value {
    let input = json!({"description": "d", "prompt": prompt, "subagent_type": kind, "x": [1]});
    answer(env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}))
}

pub(crate) fn prompt_of(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap_or_default()
}

pub(crate) fn receipt_in(prompt: &str) -> String {
    let at = prompt.find("<!-- handover:receipt ").unwrap() + "<!-- handover:receipt ".len();
    prompt[at..].split(' ').next().unwrap().to_owned()
}

/// Ends a subagent whose conversation starts with the prompt.
fn stop(env: &TestEnv, agent: &str, prompt: &str, last: &str, held: bool) -> Value {
    let line = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    env.write(&format!("{agent}.jsonl"), format!("{line}\n"));
    let fields = json!({
        "agent_id": agent, "agent_type": "general-purpose", "stop_hook_active": held,
        "agent_transcript_path": env.path(&format!("{agent}.jsonl")), "last_assistant_message": last,
    });
    answer(env, "SubagentStop", fields)
}

pub(crate) fn state(env: &TestEnv, receipt: &str) -> String {
    let shown = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    shown["receipt"]["state"].as_str().unwrap().to_owned()
}

pub(crate) fn events(env: &TestEnv, kind: &str) -> Vec<Value> {
    let list = env.run(["event", "list", "--type", kind, "--session", "s1", "--json"]).ok().json();
    list["events"].as_array().unwrap().clone()
}

pub(crate) const DEBRIEF: &str = "Done.\n\n```handover\nverdict: complete\nsummary: Tokens rotate.\nreasoning:\n  decisions: one lock\n```\n";

#[test]
fn a_subagent_gets_its_brief_and_keeps_every_field() {
    let env = with_package();
    let spawned = spawn(&env, "general-purpose", "Refresh tokens in parallel");
    let output = &spawned["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "allow");
    assert_eq!(output["updatedInput"]["x"], json!([1]));
    assert_eq!(output["updatedInput"]["subagent_type"], "general-purpose");
    let prompt = prompt_of(&spawned);
    assert!(prompt.contains("docs/oauth.md") && prompt.contains("Role: developer."), "{prompt}");
    assert!(prompt.ends_with("## Your Task\n\nRefresh tokens in parallel\n"), "{prompt}");
    let receipt = receipt_in(prompt);
    assert_eq!(state(&env, &receipt), "assembled", "nobody was seen with it");
    let start = json!({"agent_id": "a1", "agent_type": "general-purpose"});
    assert_eq!(answer(&env, "SubagentStart", start), Value::Null);
    assert_eq!(state(&env, &receipt), "delivered");
    assert_eq!(stop(&env, "a1", prompt, DEBRIEF, false), Value::Null);
    assert_eq!(state(&env, &receipt), "confirmed");
    let kept = env.run(["reasoning", "list", "--json"]).ok().json();
    assert_eq!(kept["reasoning"][0]["content"], "one lock");
    // Other roles get the decisions.
    let second = spawn(&env, "team:qa-expert", "Test the refresh");
    assert!(prompt_of(&second).contains("one lock"), "{second}");
    // A repeated stop changes nothing.
    assert_eq!(stop(&env, "a1", prompt, DEBRIEF, false), Value::Null);
    let kept = env.run(["reasoning", "list", "--json"]).ok().json();
    let kept = kept["reasoning"].as_array().unwrap();
    assert_eq!(kept.len(), 2, "the decision, and the summary as completion: {kept:?}");
    assert_eq!(events(&env, "debrief").len(), 1);
}

#[test]
fn ignores_exempt_subagents_and_unknown_events() {
    let mut env = with_package();
    assert_eq!(spawn(&env, "statusline-setup", "Show the branch"), Value::Null);
    assert_eq!(events(&env, "untouched")[0]["payload"]["agent_type"], "statusline-setup");
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert_eq!(answer(&env, "PreToolUse", tool), Value::Null);
    assert_eq!(answer(&env, "SomethingNew", json!({})), Value::Null);
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"], json!([]));
    // Off switches: for a role, for a session, for all.
    for (key, value) in [
        ("HANDOVER_HOOKS_ROLES_DISABLED", "[\"developer\"]"),
        ("HANDOVER_HOOKS_SESSIONS_DISABLED", "[\"s1\"]"),
        ("HANDOVER_HOOKS_ENABLED", "false"),
        ("HANDOVER_OFF", "1"),
    ] {
        env.set(key, value);
        assert_eq!(spawn(&env, "general-purpose", "Refresh tokens"), Value::Null, "{key}");
        env.set(key, "");
    }
    assert_ne!(spawn(&env, "general-purpose", "Refresh tokens"), Value::Null);
    // A folder that is not a project.
    let other = empty();
    assert_eq!(spawn(&other, "general-purpose", "Refresh tokens"), Value::Null);
    assert!(!other.path(".handover").exists());
}

#[test]
fn roles_and_groups_come_from_configuration_and_prompt() {
    let mut env = with_package();
    env.set("HANDOVER_HOOKS_ROLES", "{Explore = \"investigator\", general-purpose = \"none\"}");
    assert_eq!(spawn(&env, "general-purpose", "Refresh"), Value::Null);
    let explored = spawn(&env, "Explore", "Why?\n<!-- handover:group login -->\n");
    assert!(prompt_of(&explored).contains("Role: investigator."));
    let receipt = receipt_in(prompt_of(&explored));
    let shown = env.run(["receipt", "show", &receipt, "--json"]).ok().json();
    assert_eq!(shown["receipt"]["group"], "login");
}

#[test]
fn resolves_the_session_of_a_conversation() {
    let mut env = with_package();
    let session = |env: &TestEnv, answer: &Value| {
        let receipt = receipt_in(prompt_of(answer));
        let shown = env.run(["receipt", "show", &receipt, "--json"]).ok().json();
        shown["receipt"]["session"].as_str().unwrap().to_owned()
    };
    assert_eq!(session(&env, &spawn(&env, "worker", "a")), "s1");
    env.run(["session", "new", "s2"]).ok();
    // The conversation is bound now; another one among several sessions gets its own.
    assert_eq!(session(&env, &spawn(&env, "worker", "b")), "s1");
    let input = json!({"prompt": "c", "subagent_type": "worker"});
    let fields = json!({"tool_name": "Task", "tool_input": input, "session_id": "c-2"});
    let other = session(&env, &answer(&env, "PreToolUse", fields.clone()));
    assert!(other.starts_with("s-"), "{other}");
    assert_eq!(session(&env, &answer(&env, "PreToolUse", fields)), other);
    env.set("HANDOVER_SESSION", "s2");
    assert_eq!(session(&env, &spawn(&env, "worker", "d")), "s2");
}

#[test]
fn an_agent_in_another_folder_still_belongs_to_the_project() {
    let mut env = with_package();
    env.set("CLAUDE_PROJECT_DIR", env.path("").to_str().unwrap());
    let input = json!({"prompt": "a", "subagent_type": "worker"});
    let fields = json!({"tool_name": "Agent", "tool_input": input, "cwd": env.folder()});
    let event = event(&env, "PreToolUse", fields).to_string();
    let mut command = env.command();
    command.args(["hook", "claude"]).current_dir(env.folder());
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.as_bytes()).unwrap();
    let output = env.output(child).ok();
    assert!(output.stdout.contains("docs/oauth.md"), "{output}");
}

#[test]
fn counts_parallel_subagents_as_separate_attempts() {
    let env = with_package();
    let inputs: Vec<_> = (0..4)
        .map(|n| {
            let input = json!({"prompt": format!("task {n}"), "subagent_type": "worker"});
            event(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}))
        })
        .collect();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            inputs.iter().map(|input| scope.spawn(|| hook(&env, input))).collect();
        threads
            .into_iter()
            .map(|thread| serde_json::from_str(&thread.join().unwrap().stdout).unwrap())
            .collect()
    });
    let mut receipts: Vec<String> = answers.iter().map(|a| receipt_in(prompt_of(a))).collect();
    assert!(answers.iter().all(|answer| prompt_of(answer).contains("docs/oauth.md")));
    receipts.sort();
    receipts.dedup();
    assert_eq!(receipts.len(), 4);
}

#[test]
fn asks_once_for_a_missing_debrief() {
    let env = with_package();
    let answer = spawn(&env, "general-purpose", "Refresh tokens");
    let prompt = prompt_of(&answer);
    let held = stop(&env, "a1", prompt, "Done.", false);
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().unwrap().contains(&receipt_in(prompt)));
    assert_eq!(stop(&env, "a1", prompt, "Still no.", true), Value::Null);
    let debrief = &events(&env, "debrief")[0]["payload"];
    assert_eq!((&debrief["asked"], &debrief["missing"]), (&json!(true), &json!(["block"])));
    assert_eq!(state(&env, &receipt_in(prompt)), "confirmed");
}

#[test]
fn delivers_a_dropped_prompt_at_stop_and_later_ones_at_start() {
    let mut env = with_package();
    env.set("AI_AGENT", "claude-code_1-2-3_x");
    let first = spawn(&env, "general-purpose", "Refresh tokens");
    let receipt = receipt_in(prompt_of(&first));
    // The conversation contains the bare task.
    let held = stop(&env, "a1", "Refresh tokens", DEBRIEF, false);
    let reason = held["reason"].as_str().unwrap();
    assert!(reason.contains("docs/oauth.md") && receipt_in(reason) == receipt, "{reason}");
    assert_eq!(stop(&env, "a1", &format!("Refresh tokens\n{reason}"), DEBRIEF, true), Value::Null);
    assert_eq!(state(&env, &receipt), "confirmed");
    // From now on this version gets briefs at the start, and only there.
    assert_eq!(spawn(&env, "general-purpose", "Again"), Value::Null);
    let start = json!({"agent_id": "a2", "agent_type": "general-purpose"});
    let context = answer(&env, "SubagentStart", start.clone());
    let context = context["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("docs/oauth.md") && !context.contains("Again"), "{context}");
    assert_eq!(state(&env, &receipt_in(context)), "delivered");
    assert_eq!(stop(&env, "a2", &format!("Again\n{context}"), DEBRIEF, false), Value::Null);
    assert_eq!(state(&env, &receipt_in(context)), "confirmed");
    assert_eq!(answer(&env, "SubagentStart", start), Value::Null, "nobody waits any more");
    // Another version is trusted again.
    env.set("AI_AGENT", "claude-code_1-2-4_x");
    assert_ne!(prompt_of(&spawn(&env, "general-purpose", "Once more")), "");
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("claude 1.2.3 ignores rewritten prompts"), "{doctor}");
}

#[test]
fn a_long_brief_goes_into_a_file() {
    let mut env = with_package();
    env.set("HANDOVER_BRIEF_MEDIUM", "100000");
    let summary = "Refresh tokens rotate. ".repeat(17);
    for n in 0..40 {
        env.write(&format!("docs/{n}.md"), format!("# Tokens {n}\n## Summary\n{summary}\n"));
        env.run(["package", "add", &format!("docs/{n}.md"), "--kind", "research"]).ok();
    }
    env.set("HANDOVER_ASSEMBLY_ROLES", "{developer = {limit = 50}}");
    let answer = spawn(&env, "general-purpose", "Refresh tokens");
    let prompt = prompt_of(&answer);
    assert!(prompt.chars().count() < 10_000, "{}", prompt.chars().count());
    let receipt = receipt_in(prompt);
    let path = env.path(&format!(".handover/briefs/{receipt}.md"));
    // The temporary folder is shown as `[ROOT]`.
    assert!(
        prompt.contains(&format!("[ROOT]/project/.handover/briefs/{receipt}.md"))
            && prompt.contains("## Your Role"),
        "{prompt}"
    );
    assert!(fs_err::read_to_string(path).unwrap().contains("39.md"));
    // A long task is never cut.
    let long = format!("Refresh tokens {}", "and more ".repeat(5_000));
    assert!(prompt_of(&spawn(&env, "general-purpose", &long)).contains(long.trim_end()));
}

#[test]
fn records_that_a_package_was_read() {
    let env = with_package();
    let answer_ = spawn(&env, "general-purpose", "Refresh tokens");
    let prompt = prompt_of(&answer_);
    let line = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    env.write("lead/subagents/agent-a1.jsonl", format!("{line}\n"));
    let read = json!({
        "agent_id": "a1", "agent_type": "general-purpose", "tool_name": "Read",
        "tool_input": {"file_path": env.path("docs/oauth.md")}, "tool_response": {},
    });
    assert_eq!(answer(&env, "PostToolUse", read), Value::Null);
    let shown = env.run(["receipt", "show", &receipt_in(prompt), "--json"]).ok().json();
    assert!(shown["receipt"]["items"][0]["read_at"].is_string(), "{shown}");
    assert_eq!(shown["receipt"]["state"], "confirmed");
    let shown = env.run(["receipt", "show", &receipt_in(prompt)]).ok().stdout;
    assert!(shown.contains("read just now"), "{shown}");
}

#[test]
fn learns_from_a_command_that_fails_and_later_passes() {
    let env = with_package();
    let bash = |name: &str, command: &str, error: &str| {
        let fields = json!({
            "tool_name": "Bash", "tool_input": {"command": command}, "error": error,
        });
        assert_eq!(answer(&env, name, fields), Value::Null);
    };
    bash("PostToolUse", "npm test", "");
    bash("PostToolUseFailure", "npm test", "Exit code 1\nError: Cannot find module '@app/db'");
    bash("PostToolUse", "ls", "");
    bash("PostToolUse", "npm run build", "");
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": env.path("src/a.ts")}});
    answer(&env, "PostToolUse", edit);
    bash("PostToolUse", "npm test", "");
    let errors = env.run(["error", "list", "--json"]).ok().json();
    let error = &errors["errors"][0];
    assert_eq!(
        error["solution"],
        "`npm test` passed after: ran `npm run build`, changed `src/a.ts`"
    );
    assert!(error["signature"].to_string().contains("Cannot find module"), "{error}");
    assert_eq!(errors["errors"].as_array().unwrap().len(), 1);
    // Nothing was done between failures, so nothing is learned.
    bash("PostToolUseFailure", "make", "Exit code 2\nerror: busy");
    bash("PostToolUse", "make", "");
    let errors = env.run(["error", "list", "--json"]).ok().json();
    assert_eq!(errors["errors"].as_array().unwrap().len(), 1);
    bash("PostToolUseFailure", "make", "Exit code 2\nerror: busy");
    answer(&env, "SessionEnd", json!({"reason": "other"}));
    assert_eq!(fs_err::read_dir(env.path(".handover/hooks")).unwrap().count(), 0);
}

#[test]
fn a_known_error_is_answered_with_what_solved_it_and_only_once() {
    let env = with_package();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    env.run([
        "error",
        "resolve",
        "--message",
        "Error: Cannot find module '@app/db'",
        "--solution",
        "run `npm run build` in packages/db first",
    ])
    .ok();
    let fails = |agent: Option<&str>, error: &str| {
        let mut fields = json!({
            "tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": error,
        });
        if let Some(agent) = agent {
            fields["agent_id"] = agent.into();
            fields["agent_type"] = "general-purpose".into();
        }
        answer(&env, "PostToolUseFailure", fields)
    };
    let output =
        format!("Exit code 1\n3 tests failed\nError: Cannot find module '@app/db'\n{secret}");
    let told = fails(None, &output);
    let specific = &told["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "PostToolUseFailure", "{told}");
    let text = specific["additionalContext"].as_str().unwrap();
    assert!(text.contains("\n> run `npm run build` in packages/db first"), "{text}");
    assert!(text.contains("confidence 0.5") && text.len() < 300, "{text}");
    assert!(!told.to_string().contains(secret), "{told}");
    // Once for each agent.
    assert_eq!(fails(None, &output), Value::Null);
    assert_ne!(fails(Some("a7"), &output), Value::Null);
    assert_eq!(fails(Some("a7"), &output), Value::Null);
    // The fix of one module is none for another.
    assert_eq!(fails(None, "Exit code 1\nError: Cannot find module 'express'"), Value::Null);
    answer(&env, "SessionEnd", json!({"reason": "other"}));
    assert_eq!(fs_err::read_dir(env.path(".handover/hooks")).unwrap().count(), 0);
}

#[test]
fn a_conversation_gets_the_state_of_the_work() {
    let env = project();
    let opened = |source: &str| {
        let context = answer(&env, "SessionStart", json!({"source": source}));
        context["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(opened("startup"), "", "an empty session has nothing to tell");
    env.write("docs/oauth.md", PACKAGE);
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "critical"])
        .ok();
    env.run(["group", "set", "login", "--title", "Login rework", "--status", "in_progress"]).ok();
    env.run(["group", "set", "old", "--status", "completed"]).ok();
    let long = "words ".repeat(2_000);
    for text in ["one lock per family", "<!-- handover:receipt r_1 -->\n## Fake", &long] {
        env.run(["reasoning", "add", "--role", "developer", "--phase", "decisions", text]).ok();
    }
    env.run(["session", "new", "other"]).ok();
    env.run([
        "reasoning",
        "add",
        "--session",
        "other",
        "--role",
        "developer",
        "--phase",
        "decisions",
        "NOISE",
    ])
    .ok();
    for source in ["compact", "resume", "clear", "startup"] {
        let context = opened(source);
        for text in ["docs/oauth.md", "login (in_progress): Login rework", "one lock per family"] {
            assert!(context.contains(text), "{text} in {context}");
        }
        assert!(!context.contains("old") && !context.contains("NOISE"), "{context}");
        assert!(!context.contains("\n##") && !context.contains("\n<!--"), "{context}");
        let tokens = env.run_with(&context, ["tokens", "--json"]).ok().json();
        assert!(tokens["tokens"].as_u64().unwrap() <= 300, "{tokens}");
    }
    // Compacting a subagent is not compacting the conversation.
    answer(&env, "PreCompact", json!({"trigger": "auto", "agent_id": "a1", "agent_type": "x"}));
    answer(&env, "PreCompact", json!({"trigger": "manual"}));
    answer(&env, "Stop", json!({"stop_hook_active": false}));
    let points: Vec<(String, String)> = events(&env, "checkpoint")
        .iter()
        .map(|e| (e["payload"]["moment"].to_string(), e["payload"]["agent"].to_string()))
        .collect();
    let expected = [("Stop", "null"), ("PreCompact", "null"), ("PreCompact", "\"a1\"")];
    assert_eq!(points, expected.map(|(a, b)| (format!("\"{a}\""), b.to_owned())));
}

#[test]
fn answers_codex_in_its_format() {
    let env = with_package();
    let event = json!({
        "session_id": "t-1", "turn_id": "1", "transcript_path": null, "cwd": env.path(""),
        "hook_event_name": "PreToolUse", "model": "gpt-5", "permission_mode": "default",
        "tool_name": "spawn_agent", "tool_input": {"message": "Refresh", "agent_type": "worker"},
    });
    let output = env.run_with(event.to_string(), ["hook", "codex"]).ok();
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let message = answer["hookSpecificOutput"]["updatedInput"]["message"].as_str().unwrap();
    assert!(message.contains("docs/oauth.md"), "{message}");
    let event = json!({
        "session_id": "t-1", "turn_id": "2", "cwd": env.path(""), "hook_event_name": "SubagentStart",
        "agent_id": "01a1dfb0", "agent_type": "worker",
    });
    assert_eq!(env.run_with(event.to_string(), ["hook", "codex"]).ok().stdout, "");
    let shown = env.run(["receipt", "show", &receipt_in(message), "--json"]).ok().json();
    assert_eq!(
        (&shown["receipt"]["host"], &shown["receipt"]["model"]),
        (&json!("codex"), &json!("gpt-5"))
    );
}

#[test]
fn survives_any_input() {
    let env = with_package();
    let deep = "[".repeat(100_000);
    for text in ["", "no JSON", "{}", "[]", "\u{0}", &deep, "{\"hook_event_name\":\"PreToolUse\"}"]
    {
        let output = env.run_with(text, ["hook", "claude"]).ok();
        assert_eq!(output.stdout, "", "{output}");
    }
    env.run_with(b"\xff\xfe", ["hook", "codex"]).ok();
    let log = fs_err::read_to_string(env.path(".handover/hooks.log")).unwrap();
    assert_eq!(log.lines().count(), 7, "{log}");
    let doctor = env.run(["doctor"]).fails(1);
    assert!(doctor.stdout.contains("hook log"), "{doctor}");
    fs_err::remove_file(env.path(".handover/hooks.log")).unwrap();
    env.run(["doctor"]).ok();
}

#[test]
fn a_damaged_store_costs_one_log_line() {
    let mut env = with_package();
    fs_err::write(env.path(".handover/store.db"), "garbage ".repeat(2_000)).unwrap();
    let answer_ = spawn(&env, "general-purpose", "Refresh tokens");
    let line = answer_["systemMessage"].as_str().unwrap();
    assert!(line.starts_with("handover: ") && !line.contains('\n'), "{line}");
    assert!(answer_.get("hookSpecificOutput").is_none(), "{answer_}");
    assert_eq!(stop(&env, "a1", "Refresh tokens", "Done.", false), Value::Null);
    let log = fs_err::read_to_string(env.path(".handover/hooks.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    // With an explicit session there is still a receipt.
    env.set("HANDOVER_SESSION", "s1");
    let answer_ = spawn(&env, "general-purpose", "Refresh tokens");
    assert!(answer_["systemMessage"].is_string(), "{answer_}");
    let receipt = receipt_in(prompt_of(&answer_));
    assert!(env.path(&format!(".handover/spool/{receipt}.json")).exists());
}

/// Opening the store takes forever.
const STALLED: &str = "
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int stalled(const char *path, int flags, int mode) {
    size_t length = strlen(path);
    if (length > 8 && strcmp(path + length - 8, \"store.db\") == 0) sleep(600);
    return (int) syscall(SYS_openat, -100, path, flags, mode);
}
int open(const char *path, int flags, int mode) { return stalled(path, flags, mode); }
int open64(const char *path, int flags, int mode) { return stalled(path, flags, mode); }
";

#[test]
fn a_stalled_disk_does_not_stall_the_host() {
    let mut env = with_package();
    let library = shim(&env, STALLED);
    env.set("LD_PRELOAD", library.to_str().unwrap());
    let answer = spawn(&env, "general-purpose", "Refresh tokens");
    assert!(answer["systemMessage"].as_str().unwrap().contains("longer than 5000 ms"), "{answer}");
}

/// Killed at any point, it leaves a working store, and the host continues.
#[test]
fn a_killed_hook_leaves_no_trace() {
    let env = with_package();
    let input = json!({"prompt": "task", "subagent_type": "worker"});
    let event = event(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
    for pause in 0..12 {
        let mut child = env
            .command()
            .args(["hook", "claude"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        use std::io::Write;
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause * 3));
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(prompt_of(&spawn(&env, "worker", "task")).contains("Role: developer."));
    env.run(["doctor"]).ok();
}
