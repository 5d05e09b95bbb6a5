//! Tickets that no event settles: the host's own transcripts say what became of them.

use handover_testkit::{Lock, TestEnv};
use serde_json::{Value, json};

use crate::hooks::{DEBRIEF, answer, events, prompt_of, receipt_in, state, with_package};
use crate::tickets::{children, spawn, start};

/// The conversation of the lead, with the result of a call.
fn lead(env: &TestEnv, call: &str, error: Option<&str>) {
    let used = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": call, "name": "Agent", "input": {"prompt": "Refresh tokens"}},
    ]}});
    let result = json!({"type": "user", "message": {"role": "user", "content": [{
        "type": "tool_result", "tool_use_id": call, "is_error": error.is_some(),
        "content": error.unwrap_or("Launched."),
    }]}});
    env.write("lead.jsonl", format!("{used}\n{result}\n"));
}

fn turn_ends(env: &TestEnv, running: &[&str]) {
    let tasks: Vec<Value> = running
        .iter()
        .map(|id| json!({"id": id, "type": "subagent", "status": "running"}))
        .collect();
    let fields = json!({"stop_hook_active": false, "background_tasks": tasks});
    assert_eq!(answer(env, "Stop", fields), Value::Null);
}

#[test]
fn a_spawn_that_another_hook_denied_is_given_back_when_the_turn_ends() {
    let env = with_package();
    let denied = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let waits = spawn(&env, "toolu_2", json!({"prompt": "Refresh tokens"}));
    lead(&env, "toolu_1", Some("PreToolUse:Agent hook error: no"));
    turn_ends(&env, &[]);
    assert_eq!(state(&env, &receipt_in(prompt_of(&denied))), "failed");
    let shown = env.run(["receipt", "show", &receipt_in(prompt_of(&denied))]).ok().stdout;
    assert!(shown.contains("hook error: no"), "{shown}");
    // One without a result may still start: the user may be asked for permission.
    assert_eq!(state(&env, &receipt_in(prompt_of(&waits))), "assembled");
    answer(&env, "SessionEnd", json!({"reason": "other"}));
    assert_eq!(state(&env, &receipt_in(prompt_of(&waits))), "failed");
}

#[test]
fn an_agent_that_reached_its_limit_of_turns_is_settled_when_the_turn_ends() {
    let env = with_package();
    let spawned = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let (prompt, receipt) = (prompt_of(&spawned), receipt_in(prompt_of(&spawned)));
    start(&env, "a1", "general-purpose");
    lead(&env, "toolu_1", None);
    children(&env, "a1", "general-purpose", "toolu_1", &[prompt, DEBRIEF]);
    turn_ends(&env, &["a1"]);
    assert_eq!(state(&env, &receipt), "delivered", "it still runs");
    turn_ends(&env, &[]);
    assert_eq!(state(&env, &receipt), "confirmed");
    assert_eq!(events(&env, "debrief")[0]["payload"]["verdict"], "complete");
    turn_ends(&env, &[]);
    assert_eq!(events(&env, "debrief").len(), 1);
}

#[test]
fn the_result_of_a_call_settles_an_agent_that_never_stopped() {
    let env = with_package();
    let spawned = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let (prompt, receipt) = (prompt_of(&spawned), receipt_in(prompt_of(&spawned)));
    start(&env, "a1", "general-purpose");
    children(&env, "a1", "general-purpose", "toolu_1", &[prompt, "I have no turn left"]);
    let completed = json!({
        "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"prompt": prompt},
        "tool_response": {"status": "completed", "agentId": "a1"},
    });
    assert_eq!(answer(&env, "PostToolUse", completed), Value::Null);
    assert_eq!(state(&env, &receipt), "confirmed");
    assert_eq!(events(&env, "debrief")[0]["payload"]["missing"], json!(["block"]));
}

#[test]
fn a_program_that_was_killed_is_settled_when_its_conversation_goes_on() {
    let env = with_package();
    let calls = ["toolu_1", "toolu_2", "toolu_3"];
    let prompts = calls.map(|call| spawn(&env, call, json!({"prompt": "Refresh tokens"})));
    let receipts = prompts.each_ref().map(|prompt| receipt_in(prompt_of(prompt)));
    // The first is at work, the second has lost its brief, the third never started.
    start(&env, "a1", "general-purpose");
    start(&env, "a2", "general-purpose");
    children(&env, "a1", "general-purpose", "toolu_1", &[prompt_of(&prompts[0]), "Reading."]);
    children(&env, "a2", "general-purpose", "toolu_2", &["Other words", "Reading."]);
    answer(&env, "SessionStart", json!({"source": "compact"}));
    assert_eq!(state(&env, &receipts[0]), "delivered", "the same process goes on");
    answer(&env, "SessionStart", json!({"source": "resume"}));
    let states = receipts.each_ref().map(|receipt| state(&env, receipt));
    assert_eq!(states, ["confirmed", "failed", "failed"]);
}

#[test]
fn who_started_while_the_store_was_locked_is_settled_when_it_is_free() {
    let env = with_package();
    answer(&env, "SessionStart", json!({"source": "startup"}));
    let lock = Lock::take(&env);
    let calls = ["toolu_1", "toolu_2", "toolu_3"];
    let prompts = calls.map(|call| spawn(&env, call, json!({"prompt": "Refresh tokens"})));
    let receipts = prompts.each_ref().map(|prompt| receipt_in(prompt_of(prompt)));
    for agent in ["a1", "a2"] {
        assert_eq!(start(&env, agent, "general-purpose"), Value::Null, "its prompt has its brief");
        assert_eq!(start(&env, agent, "general-purpose"), Value::Null, "it is continued");
    }
    // One that nobody announced is briefed once, too.
    let late = start(&env, "a4", "workflow-subagent");
    let late = late["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(late.contains("docs/oauth.md"), "{late}");
    assert_eq!(start(&env, "a4", "workflow-subagent"), Value::Null, "it is continued");
    children(&env, "a1", "general-purpose", "toolu_1", &[prompt_of(&prompts[0]), DEBRIEF]);
    children(&env, "a2", "general-purpose", "toolu_2", &[prompt_of(&prompts[1]), "Reading."]);
    children(&env, "a4", "workflow-subagent", "", &["Do it", &late, DEBRIEF]);
    lead(&env, "toolu_3", Some("PreToolUse:Agent hook error: no"));
    lock.release();
    turn_ends(&env, &["a2"]);
    let states = || receipts.each_ref().map(|receipt| state(&env, receipt));
    assert_eq!(states(), ["confirmed", "delivered", "failed"], "the second still runs");
    assert_eq!(state(&env, &receipt_in(&late)), "confirmed");
    assert_eq!(start(&env, "a2", "general-purpose"), Value::Null, "it has its ticket");
    turn_ends(&env, &[]);
    assert_eq!(states(), ["confirmed", "confirmed", "failed"]);
    assert_eq!(events(&env, "debrief").len(), 3);
}

#[test]
fn who_was_killed_before_anything_was_written_has_started() {
    let env = with_package();
    let spawned = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let receipt = receipt_in(prompt_of(&spawned));
    start(&env, "a1", "general-purpose");
    let late = start(&env, "a2", "workflow-subagent");
    let late = receipt_in(late["hookSpecificOutput"]["additionalContext"].as_str().unwrap());
    children(&env, "a1", "general-purpose", "toolu_1", &[]);
    // What a hook added would follow.
    children(&env, "a2", "workflow-subagent", "", &["Do it"]);
    answer(&env, "SessionStart", json!({"source": "resume"}));
    for receipt in [&receipt, &late] {
        assert_eq!(state(&env, receipt), "delivered");
    }
    assert_eq!(events(&env, "debrief").len(), 2, "their tickets are closed");
    assert_eq!(start(&env, "a1", "general-purpose"), Value::Null, "it has its brief");
}

#[test]
fn a_receipt_that_was_imported_before_its_subagent_started_is_taken_once() {
    let env = with_package();
    answer(&env, "SessionStart", json!({"source": "startup"}));
    let lock = Lock::take(&env);
    spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    lock.release();
    turn_ends(&env, &[]);
    assert_eq!(start(&env, "a1", "general-purpose"), Value::Null, "its prompt has its brief");
    // One that nobody announced does not get its ticket, but a brief of its own.
    let late = start(&env, "a2", "general-purpose");
    let late = late["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(late.contains("docs/oauth.md"), "{late}");
}
