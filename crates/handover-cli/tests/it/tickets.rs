//! Which subagent has which brief: by the call that spawned it and the id that the host gives it, never by
//! the text of its prompt.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::hooks::{DEBRIEF, answer, events, prompt_of, receipt_in, state, with_package};

/// A spawn by a call with an id.
pub(crate) fn spawn(env: &TestEnv, call: &str, input: Value) -> Value {
    let mut whole = json!({"description": "d", "subagent_type": "general-purpose"});
    whole.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
    let fields = json!({"tool_name": "Agent", "tool_input": whole, "tool_use_id": call});
    answer(env, "PreToolUse", fields)
}

pub(crate) fn start(env: &TestEnv, agent: &str, kind: &str) -> Value {
    answer(env, "SubagentStart", json!({"agent_id": agent, "agent_type": kind}))
}

/// Ends a subagent with this conversation, as Claude Code keeps it. `call` is empty for one that no call spawned.
pub(crate) fn stop(
    env: &TestEnv,
    agent: &str,
    kind: &str,
    call: &str,
    said: &[&str],
    last: &str,
) -> Value {
    stop_again(env, agent, kind, call, said, last, false)
}

/// The same for one that a hook may have held back.
pub(crate) fn stop_again(
    env: &TestEnv,
    agent: &str,
    kind: &str,
    call: &str,
    said: &[&str],
    last: &str,
    held: bool,
) -> Value {
    let path = children(env, agent, kind, call, said);
    let fields = json!({
        "agent_id": agent, "agent_type": kind, "stop_hook_active": held,
        "agent_transcript_path": path, "last_assistant_message": last,
    });
    answer(env, "SubagentStop", fields)
}

/// The files that Claude Code keeps of a subagent.
pub(crate) fn children(
    env: &TestEnv,
    agent: &str,
    kind: &str,
    call: &str,
    said: &[&str],
) -> std::path::PathBuf {
    let path = format!("lead/subagents/agent-{agent}.jsonl");
    let line = |(n, text): (usize, &&str)| {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        format!("{}\n", json!({"type": role, "message": {"role": role, "content": text}}))
    };
    env.write(&path, said.iter().enumerate().map(line).collect::<String>());
    let mut meta = json!({"agentType": kind, "spawnDepth": 1});
    if !call.is_empty() {
        meta["toolUseId"] = call.into();
    }
    env.write(&format!("lead/subagents/agent-{agent}.meta.json"), meta.to_string());
    env.path(&path)
}

fn iteration(env: &TestEnv, receipt: &str) -> Value {
    let shown = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    shown["receipt"]["iteration"].clone()
}

fn opening(env: &TestEnv) -> String {
    answer(env, "SessionStart", json!({"source": "compact"})).to_string()
}

#[test]
fn a_spawn_that_fails_delivers_nothing() {
    let env = with_package();
    let denied = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let receipt = receipt_in(prompt_of(&denied));
    assert_eq!(state(&env, &receipt), "assembled", "no subagent has started");
    assert!(opening(&env).contains("Critical, not yet delivered: docs/oauth.md"));
    let failure = json!({
        "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"prompt": "Refresh tokens"},
        "error": "Agent type 'general-purpose' has been denied by permission rule",
    });
    assert_eq!(answer(&env, "PostToolUseFailure", failure), Value::Null);
    assert_eq!(state(&env, &receipt), "failed");
    let shown = env.run(["receipt", "show", &receipt]).ok().stdout;
    assert!(shown.contains("denied by permission rule"), "{shown}");
    // The next agent is the first one.
    let next = spawn(&env, "toolu_2", json!({"prompt": "Refresh tokens"}));
    let receipt = receipt_in(prompt_of(&next));
    assert_eq!(iteration(&env, &receipt), 0);
    assert!(prompt_of(&next).contains("docs/oauth.md"));
    assert!(opening(&env).contains("docs/oauth.md"), "still not delivered");
    start(&env, "a1", "general-purpose");
    assert_eq!(state(&env, &receipt), "delivered");
    assert!(!opening(&env).contains("docs/oauth.md"));
}

#[test]
fn a_brief_that_another_hook_removed_is_delivered_late() {
    let env = with_package();
    let briefed = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let receipt = receipt_in(prompt_of(&briefed));
    assert_eq!(start(&env, "a1", "general-purpose"), Value::Null);
    // The prompt of the other hook holds neither the brief nor the task as it was written.
    let said = ["SECOND HOOK: refresh the tokens, please", "Done."];
    let held = stop(&env, "a1", "general-purpose", "toolu_1", &said, DEBRIEF);
    assert_eq!(held["decision"], "block", "{held}");
    let reason = held["reason"].as_str().unwrap();
    assert_eq!(receipt_in(reason), receipt);
    assert!(reason.contains("docs/oauth.md"), "{reason}");
    let causes = events(&env, "degraded");
    assert_eq!(causes[0]["payload"]["error"], "another hook replaced the rewritten prompt");
    let said = [said[0], said[1], reason, "Done."];
    let again = stop_again(&env, "a1", "general-purpose", "toolu_1", &said, DEBRIEF, true);
    assert_eq!(again, Value::Null);
    assert_eq!(state(&env, &receipt), "confirmed");
    assert_eq!(events(&env, "debrief").len(), 1);
}

#[test]
fn a_continued_subagent_keeps_its_ticket() {
    let env = with_package();
    let briefed = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let prompt = prompt_of(&briefed);
    start(&env, "a1", "general-purpose");
    stop(&env, "a1", "general-purpose", "toolu_1", &[prompt, DEBRIEF], DEBRIEF);
    // Continued: it starts again, without a second brief, and ends again.
    assert_eq!(start(&env, "a1", "general-purpose"), Value::Null);
    let more = DEBRIEF.replace("one lock", "two locks after all");
    let said = [prompt, DEBRIEF, "And the other one?", &more];
    assert_eq!(stop(&env, "a1", "general-purpose", "toolu_1", &said, &more), Value::Null);
    let kept = env.run(["reasoning", "list", "--json"]).ok().stdout;
    assert!(kept.contains("one lock") && kept.contains("two locks after all"), "{kept}");
    assert_eq!(events(&env, "debrief").len(), 2);
    // A turn without a debrief is nothing to complain about: it left one.
    let said = [said[0], said[1], said[2], said[3], "Thanks.", "Bye."];
    assert_eq!(stop(&env, "a1", "general-purpose", "toolu_1", &said, "Bye."), Value::Null);
    assert_eq!(events(&env, "debrief").len(), 2);
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 1);
}

/// Claude Code keeps the kind of a teammate, but no call; its task is in a message.
#[test]
fn a_teammate_is_known_by_its_name() {
    let env = with_package();
    let input = json!({"prompt": "Refresh tokens", "name": "alice"});
    let briefed = spawn(&env, "toolu_1", input.clone());
    let receipt = receipt_in(prompt_of(&briefed));
    let launched = json!({
        "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": input,
        "tool_response": {"status": "teammate_spawned", "agentId": "aalice-1", "teammate_id": "alice@team",
            "agent_id": "aalice-1", "agent_type": "general-purpose", "name": "alice"},
    });
    assert_eq!(answer(&env, "PostToolUse", launched), Value::Null);
    assert_eq!(start(&env, "aalice-1", "alice"), Value::Null);
    assert_eq!(state(&env, &receipt), "delivered");
    let prompt = in_message(prompt_of(&briefed));
    let stopped = stop_teammate(&env, "aalice-1", "alice", &[&prompt, DEBRIEF]);
    assert_eq!(stopped, Value::Null);
    assert_eq!(state(&env, &receipt), "confirmed");
    assert_eq!(events(&env, "debrief").len(), 1);
}

/// Its start is reported with its name, not with the kind that the rule is about.
#[test]
fn a_teammate_of_an_exempt_kind_is_left_alone() {
    let mut env = with_package();
    env.set("HANDOVER_HOOKS_EXEMPT", "{general-purpose = \"it is small\"}");
    let input = json!({"prompt": "Refresh tokens", "name": "alice"});
    assert_eq!(spawn(&env, "toolu_1", input), Value::Null);
    assert_eq!(start(&env, "aalice-1", "alice"), Value::Null);
    let said = [&*in_message("Refresh tokens"), "Done."];
    assert_eq!(stop_teammate(&env, "aalice-1", "alice", &said), Value::Null);
    let exempt = events(&env, "untouched");
    let of_agent = exempt.iter().find(|event| event["payload"]["agent"] == "aalice-1").unwrap();
    assert_eq!(of_agent["payload"]["rule"], "hooks.exempt");
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"], json!([]));
}

fn in_message(text: &str) -> String {
    format!(
        "<teammate-message teammate_id=\"team-lead\" summary=\"work\">\n{text}\n</teammate-message>"
    )
}

fn stop_teammate(env: &TestEnv, agent: &str, name: &str, said: &[&str]) -> Value {
    let path = children(env, agent, name, "", said);
    let meta = json!({
        "agentType": name, "isBuiltIn": false, "description": "work", "name": name, "spawnDepth": 0,
        "taskKind": "in_process_teammate", "teamName": "session-c-1", "spawnedAgentType": "general-purpose",
    });
    env.write(&format!("lead/subagents/agent-{agent}.meta.json"), meta.to_string());
    let fields = json!({
        "agent_id": agent, "agent_type": name, "stop_hook_active": false,
        "agent_transcript_path": path, "last_assistant_message": said.last().unwrap(),
        "background_tasks": [{"id": "t1", "type": "teammate", "status": "running"}],
    });
    answer(env, "SubagentStop", fields)
}

#[test]
fn twins_that_start_in_another_order_keep_their_own_receipts() {
    let env = with_package();
    let twins = ["toolu_1", "toolu_2"].map(|call| spawn(&env, call, json!({"prompt": "Refresh"})));
    let receipts = twins.each_ref().map(|twin| receipt_in(prompt_of(twin)));
    start(&env, "second", "general-purpose");
    start(&env, "first", "general-purpose");
    // A twin whose host says nothing but the call, and whose brief another hook removed.
    let held = stop(&env, "second", "general-purpose", "toolu_2", &["Other words"], "Done.");
    assert_eq!(receipt_in(held["reason"].as_str().unwrap()), receipts[1]);
    let said = [prompt_of(&twins[0]), DEBRIEF];
    assert_eq!(stop(&env, "first", "general-purpose", "toolu_1", &said, DEBRIEF), Value::Null);
    assert_eq!(state(&env, &receipts[0]), "confirmed");
    assert_eq!(state(&env, &receipts[1]), "delivered");
}

#[test]
fn the_result_of_a_call_says_which_subagent_it_started() {
    let env = with_package();
    let briefed = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    let receipt = receipt_in(prompt_of(&briefed));
    // Only the end of the call was reported.
    let launched = json!({
        "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"prompt": "Refresh tokens"},
        "tool_response": {"isAsync": true, "status": "async_launched", "agentId": "a1"},
    });
    assert_eq!(answer(&env, "PostToolUse", launched), Value::Null);
    assert_eq!(state(&env, &receipt), "delivered");
    let read = json!({
        "agent_id": "a1", "agent_type": "general-purpose", "tool_name": "Read",
        "tool_input": {"file_path": env.path("docs/oauth.md")},
    });
    answer(&env, "PostToolUse", read);
    let shown = env.run(["receipt", "show", &receipt, "--json"]).ok().json();
    assert!(shown["receipt"]["items"][0]["read_at"].is_string(), "{shown}");
}

#[test]
fn a_brief_that_waits_for_the_start_is_not_delivered_by_the_call() {
    let mut env = with_package();
    env.set("AI_AGENT", "claude-code_1-2-3_x");
    let first = spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"}));
    start(&env, "a1", "general-purpose");
    stop(&env, "a1", "general-purpose", "toolu_1", &["Refresh tokens", "Done."], "Done.");
    assert_ne!(prompt_of(&first), "");
    // This version ignores rewritten prompts, so the brief waits; the call returns before the subagent starts.
    assert_eq!(spawn(&env, "toolu_2", json!({"prompt": "Once more"})), Value::Null);
    let launched = json!({
        "tool_name": "Agent", "tool_use_id": "toolu_2", "tool_input": {"prompt": "Once more"},
        "tool_response": {"status": "async_launched", "agentId": "a2"},
    });
    assert_eq!(answer(&env, "PostToolUse", launched), Value::Null);
    let started = start(&env, "a2", "general-purpose");
    let context = started["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("docs/oauth.md"), "{context}");
    assert_eq!(state(&env, &receipt_in(context)), "delivered");
}

#[test]
fn hooks_that_are_registered_twice_answer_once() {
    let env = with_package();
    let both = |run: &(dyn Fn() -> Value + Sync)| -> [Value; 2] {
        std::thread::scope(|scope| {
            let twins = [scope.spawn(run), scope.spawn(run)];
            twins.map(|twin| twin.join().unwrap())
        })
    };
    let answers = both(&|| spawn(&env, "toolu_1", json!({"prompt": "Refresh tokens"})));
    let given: Vec<&Value> = answers.iter().filter(|answer| !answer.is_null()).collect();
    assert_eq!(given.len(), 1, "{answers:?}");
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 1);
    both(&|| start(&env, "a1", "general-purpose"));
    let prompt = prompt_of(given[0]);
    let stops = both(&|| stop(&env, "a1", "general-purpose", "toolu_1", &[prompt], "Done."));
    assert_eq!(stops.iter().filter(|answer| answer["decision"] == "block").count(), 1, "{stops:?}");
    assert_eq!(events(&env, "debrief").len(), 0, "it has not ended");
    let said = [prompt, "Done."];
    both(&|| stop_again(&env, "a1", "general-purpose", "toolu_1", &said, DEBRIEF, true));
    assert_eq!(events(&env, "debrief").len(), 1);
    assert_eq!(state(&env, &receipt_in(prompt)), "confirmed");
}

#[test]
fn a_checkpoint_names_its_conversation() {
    let env = with_package();
    let id = "b5ba4346-8bbe-41bc-909b-01e751c22440";
    let input = json!({"prompt": "a", "subagent_type": "worker"});
    let fields = json!({"tool_name": "Agent", "tool_input": input, "session_id": id});
    answer(&env, "PreToolUse", fields);
    answer(&env, "Stop", json!({"session_id": id}));
    assert_eq!(events(&env, "checkpoint")[0]["payload"]["conversation"], id);
}

#[test]
fn the_plugin_leaves_what_is_not_about_subagents_to_the_hooks() {
    let env = with_package();
    let call = |fields: Value, args: &[&str]| {
        let mut event = json!({"session_id": "c-1", "cwd": env.path("")});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let args = ["hook", "claude"].iter().chain(args).copied();
        env.run_with(event.to_string(), args).ok().stdout
    };
    let started = || json!({"hook_event_name": "SessionStart", "source": "startup"});
    assert!(call(started(), &["--plugin"]).contains("docs/oauth.md"), "the plugin alone");
    env.run(["host", "install", "claude"]).ok();
    assert_eq!(call(started(), &["--plugin"]), "");
    assert!(call(started(), &[]).contains("docs/oauth.md"));
    // Whether the other hooks run is not known, so no subagent is left to them.
    let spawned = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "toolu_1",
        "tool_input": {"prompt": "Refresh tokens"},
    });
    assert!(call(spawned.clone(), &["--plugin"]).contains("docs/oauth.md"));
    assert_eq!(call(spawned, &[]), "");
}
