//! Every agent is briefed, exempt by a rule that the user can see, or refused, whether it was announced or not.

use handover_testkit::{Lock, TestEnv};
use serde_json::{Value, json};

use crate::hooks::{DEBRIEF, answer, events, prompt_of, receipt_in, state, with_package};
use crate::tickets::{spawn, start, stop, stop_again};

fn injected(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn receipts(env: &TestEnv) -> usize {
    let list = env.run(["receipt", "list", "--json"]).ok().json();
    list["receipts"].as_array().unwrap().len()
}

#[test]
fn an_agent_that_no_call_announced_is_briefed_when_it_starts() {
    let env = with_package();
    for (agent, kind) in [("a1", "workflow-subagent"), ("a2", "general-purpose")] {
        let started = start(&env, agent, kind);
        let context = injected(&started).to_owned();
        assert!(
            context.contains("docs/oauth.md") && context.contains("Role: developer."),
            "{started}"
        );
        let receipt = receipt_in(&context);
        assert_eq!(state(&env, &receipt), "delivered");
        assert_eq!(start(&env, agent, kind), Value::Null, "once");
        let said = ["The prompt of a script", &context, DEBRIEF];
        assert_eq!(stop(&env, agent, kind, "", &said, DEBRIEF), Value::Null);
        assert_eq!(state(&env, &receipt), "confirmed");
    }
    assert_eq!((receipts(&env), events(&env, "debrief").len()), (2, 2));
}

/// Codex seals the tasks of agents with names, so that their briefs cannot come with them.
#[test]
fn a_sealed_task_gets_its_brief_at_the_start_while_the_store_is_locked() {
    let env = with_package();
    let event = |name: &str, fields: Value| {
        let mut event = json!({"session_id": "t-1", "turn_id": "1", "cwd": env.path(""), "hook_event_name": name});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let said = env.run_with(event.to_string(), ["hook", "codex"]).ok().stdout;
        serde_json::from_str::<Value>(&said).unwrap_or_default()
    };
    event("SessionStart", json!({"source": "startup"}));
    let lock = Lock::take(&env);
    let input = json!({"task_name": "refresh_tokens", "message": "Refresh tokens in src/auth.rs"});
    let call = json!({"tool_name": "collaborationspawn_agent", "tool_use_id": "call_1", "tool_input": input});
    assert!(event("PreToolUse", call)["hookSpecificOutput"].is_null(), "it stays as it is");
    let starts = json!({"agent_id": "a1", "agent_type": "default"});
    let started = event("SubagentStart", starts.clone());
    let context = injected(&started).to_owned();
    assert!(context.contains("docs/oauth.md"), "{started}");
    assert_eq!(event("SubagentStart", starts), Value::Null, "once");
    lock.release();
    event("SessionEnd", json!({"reason": "other"}));
    let list = env.run(["receipt", "list", "--json"]).ok().json();
    let receipts = list["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 1, "{list}");
    assert_eq!(receipts[0]["id"], receipt_in(&context).as_str());
    assert_eq!(receipts[0]["state"], "delivered", "{list}");
}

#[test]
fn an_agent_whose_start_was_missed_is_held_back_once() {
    let env = with_package();
    let held = stop(&env, "a1", "workflow-subagent", "", &["Look around", "Done."], "Done.");
    let reason = held["reason"].as_str().unwrap();
    assert!(held["decision"] == "block" && reason.contains("docs/oauth.md"), "{held}");
    let receipt = receipt_in(reason);
    assert_eq!(state(&env, &receipt), "delivered");
    let said = ["Look around", "Done.", reason, DEBRIEF];
    let again = stop_again(&env, "a1", "workflow-subagent", "", &said, DEBRIEF, true);
    assert_eq!((again, state(&env, &receipt)), (Value::Null, "confirmed".to_owned()));
    assert_eq!(events(&env, "debrief").len(), 1);
}

#[test]
fn missing_briefs_can_be_refused_or_allowed() {
    let mut env = with_package();
    env.set("HANDOVER_HOOKS_ON_MISSING", "refuse");
    let refused = start(&env, "a1", "workflow-subagent");
    assert!(injected(&refused).starts_with("Handover refuses this agent"), "{refused}");
    let guard = events(&env, "guard");
    assert_eq!(
        (&guard[0]["payload"]["allowed"], &guard[0]["payload"]["agent"]),
        (&json!(false), &json!("a1"))
    );
    env.set("HANDOVER_HOOKS_ON_MISSING", "allow");
    assert_eq!(start(&env, "a2", "workflow-subagent"), Value::Null);
    let exempt = &events(&env, "untouched")[0]["payload"];
    assert_eq!((&exempt["rule"], &exempt["agent"]), (&json!("hooks.on_missing"), &json!("a2")));
    assert_eq!(receipts(&env), 0);
    // A spawn that cannot be briefed is refused, too.
    env.set("HANDOVER_HOOKS_ON_MISSING", "refuse");
    fs_err::write(env.path(".handover/store.db"), "garbage ".repeat(2_000)).unwrap();
    let denied = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    env.set("HANDOVER_HOOKS_ON_MISSING", "");
    let allowed = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    assert!(allowed.get("hookSpecificOutput").is_none(), "{allowed}");
}

#[test]
fn every_kind_of_agent_is_briefed() {
    let env = with_package();
    for (n, (kind, role, debrief)) in [
        ("claude", "developer", true),
        ("fork", "developer", true),
        ("my-helper", "developer", true),
        ("test-runner", "qa_expert", true),
        ("Explore", "investigator", false),
        ("Plan", "requirements_engineer", false),
        ("team:code-reviewer", "tech_lead", false),
    ]
    .into_iter()
    .enumerate()
    {
        let (call, agent) = (format!("toolu_{n}"), format!("a{n}"));
        let spawned =
            spawn(&env, &call, json!({"prompt": "Look at tokens", "subagent_type": kind}));
        let prompt = prompt_of(&spawned);
        assert!(prompt.contains(&format!("Role: {role}.")), "{kind}: {prompt}");
        assert!(prompt.contains("docs/oauth.md"), "{kind}");
        assert_eq!(prompt.contains("```handover"), debrief, "{kind}");
        start(&env, &agent, kind);
        let held = stop(&env, &agent, kind, &call, &[prompt, "Found it."], "Found it.");
        assert_eq!(
            held["decision"] == "block",
            debrief,
            "only who should leave a debrief is asked: {kind}"
        );
        assert_eq!(state(&env, &receipt_in(prompt)), "confirmed", "{kind}");
    }
}

#[test]
fn exemptions_are_rules_with_reasons() {
    let mut env = with_package();
    env.set("HANDOVER_HOOKS_EXEMPT", "{Plan = \"it only plans\"}");
    let planned = spawn(&env, "toolu_1", json!({"prompt": "Plan it", "subagent_type": "Plan"}));
    assert_eq!((planned, start(&env, "a1", "Plan")), (Value::Null, Value::Null));
    assert_eq!(stop(&env, "a1", "Plan", "toolu_1", &["Plan it", "Done."], "Done."), Value::Null);
    let exempt = events(&env, "untouched");
    let payload = &exempt.last().unwrap()["payload"];
    assert_eq!(
        (&payload["rule"], &payload["reason"]),
        (&json!("hooks.exempt"), &json!("it only plans"))
    );
    assert_eq!(payload["tool_use"], "toolu_1");
    assert_eq!(receipts(&env), 0);
}

#[test]
fn a_prompt_exempts_its_agent_only_if_the_user_allows_it() {
    let mut env = with_package();
    let task = json!({"prompt": "Rename it\n<!-- handover:exempt a trivial task -->\n"});
    assert!(prompt_of(&spawn(&env, "toolu_1", task.clone())).contains("docs/oauth.md"));
    // A project's file cannot allow it.
    let config = env.path(".handover/config.toml");
    let text = fs_err::read_to_string(&config).unwrap();
    fs_err::write(&config, format!("{text}\n[hooks]\nexempt_marker = true\n")).unwrap();
    assert_ne!(prompt_of(&spawn(&env, "toolu_2", task.clone())), "");
    fs_err::write(&config, text).unwrap();
    for (call, agent) in [("toolu_1", "a1"), ("toolu_2", "a2")] {
        start(&env, agent, "general-purpose");
        stop(&env, agent, "general-purpose", call, &["x", "y"], DEBRIEF);
    }
    env.set("HANDOVER_HOOKS_EXEMPT_MARKER", "true");
    assert_eq!(spawn(&env, "toolu_3", task), Value::Null);
    assert_eq!(start(&env, "a3", "general-purpose"), Value::Null, "no late brief either");
    let said = ["Rename it", "Done."];
    let stopped = stop(&env, "a3", "general-purpose", "toolu_3", &said, "Done.");
    assert_eq!(stopped, Value::Null, "nor is it held back");
    assert_eq!(start(&env, "a3", "general-purpose"), Value::Null, "it is continued");
    let exempt = events(&env, "untouched");
    assert_eq!(exempt[0]["payload"]["reason"], "a trivial task");
    assert_eq!(exempt[0]["payload"]["rule"], "hooks.exempt_marker");
    // The next one is not exempt.
    assert!(injected(&start(&env, "a4", "general-purpose")).contains("docs/oauth.md"));
    answer(&env, "SessionEnd", json!({"reason": "other"}));
}
