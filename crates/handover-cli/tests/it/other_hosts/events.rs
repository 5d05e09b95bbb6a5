//! Events that the real programs send only when something goes wrong.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nRefresh tokens rotate.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"]).ok();
    env
}

/// The answer to an event; null if there is none.
fn answer(env: &TestEnv, host: &str, mut event: Value) -> Value {
    event["cwd"] = env.path("").display().to_string().into();
    let output = env.run_with(event.to_string(), ["hook", host]).ok().stdout;
    if output.is_empty() { Value::Null } else { serde_json::from_str(&output).unwrap() }
}

fn state(env: &TestEnv) -> Value {
    env.run(["receipt", "list", "--json"]).ok().json()["receipts"][0]["state"].clone()
}

#[test]
fn a_brief_that_another_hook_removed_follows_with_the_task() {
    let env = with_package();
    let spawn = json!({
        "hook_event_name": "PreToolUse", "session_id": "c1", "timestamp": "2026-11-18T04:24:32Z",
        "tool_name": "Agent",
        "tool_input": {"prompt": "Refresh", "agent_type": "general-purpose", "name": "x"},
    });
    let rewritten = answer(&env, "copilot", spawn);
    assert_eq!(rewritten["modifiedArgs"]["name"], "x");
    assert!(rewritten["modifiedArgs"]["prompt"].as_str().unwrap().contains("docs/oauth.md"));
    assert!(rewritten["permissionDecision"].is_null(), "the user still decides");
    let told = |prompt: &str| {
        json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "a1", "agent_id": "a1",
            "agent_type": "general-purpose", "parent_agent_id": "c1", "prompt": prompt,
            "timestamp": "2026-11-18T04:24:33Z",
        })
    };
    let late = answer(&env, "copilot", told("Refresh"));
    assert!(late["additionalContext"].as_str().unwrap().contains("docs/oauth.md"), "{late}");
    assert_eq!(state(&env), "delivered");
    assert_eq!(answer(&env, "copilot", told("Go on.")), Value::Null, "it has its brief");
}

#[test]
fn a_brief_that_never_arrived_is_recorded_as_failed() {
    let env = with_package();
    let base = json!({
        "session_id": "c1", "transcript_path": "/nowhere/chats/c1.jsonl", "tool_name": "invoke_agent",
        "timestamp": "2026-11-18T04:24:32Z",
    });
    let with = |more: Value| {
        let mut event = base.clone();
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let input = json!({"agent_name": "generalist", "prompt": "Refresh"});
    let spawn = with(json!({"hook_event_name": "BeforeTool", "tool_input": input}));
    let rewritten = answer(&env, "gemini", spawn);
    let prompt = &rewritten["hookSpecificOutput"]["tool_input"]["prompt"];
    assert!(prompt.as_str().unwrap().contains("docs/oauth.md"), "{rewritten}");
    // Another kind of subagent is not taken for it.
    let response = json!({"llmContent": [{"text": "Result:\nDone."}]});
    let other = json!({"agent_name": "other", "prompt": "Refresh"});
    let finished = |input: &Value| {
        with(json!({
            "hook_event_name": "AfterTool", "tool_input": input, "tool_response": response.clone(),
        }))
    };
    assert_eq!(answer(&env, "gemini", finished(&other)), Value::Null);
    assert_eq!(state(&env), "delivered");
    assert_eq!(answer(&env, "gemini", finished(&input)), Value::Null);
    assert_eq!(state(&env), "failed");
}
