//! Subagents of one lead know of each other: what a brief says about those that work at the same time.

use handover_testkit::{Answer, FakeAgent, Script, TestEnv};
use serde_json::json;

use crate::hooks::{DEBRIEF, answer, prompt_of, receipt_in, with_package};
use crate::project;
use crate::real_hosts::{Real, agent, lead, of, spawns};
use crate::tickets::{spawn, start, stop};

const HEADING: &str = "### Working beside you";

/// The section of a prompt; empty if there is none.
fn beside(prompt: &str) -> String {
    let Some((_, rest)) = prompt.split_once(HEADING) else { return String::new() };
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// Spawns a subagent; what its brief says of others, and its prompt.
fn spawned(env: &TestEnv, call: &str, task: &str) -> (String, String) {
    let spawned = spawn(env, call, json!({"prompt": task}));
    (beside(prompt_of(&spawned)), prompt_of(&spawned).to_owned())
}

#[test]
fn the_second_of_two_sees_what_the_first_does_and_what_it_left() {
    let env = with_package();
    let task = "Rotate the refresh tokens\n\nin src/auth.rs with key ghp_aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xYz";
    let (nothing, first) = spawned(&env, "toolu_1", task);
    assert_eq!(nothing, "", "it is the only one");
    let (starting, _) = spawned(&env, "toolu_2", "Look around");
    let line = "- developer, about to start: Rotate the refresh tokens (files: src/auth.rs)\n";
    assert!(starting.starts_with(" (1)\n") && starting.contains(line), "{starting}");
    start(&env, "a1", "general-purpose");
    let (working, prompt) = spawned(&env, "toolu_3", "Look again");
    assert!(working.starts_with(" (2)\n"), "{working}");
    assert!(working.contains("- developer, at work: Rotate the refresh tokens"), "{working}");
    assert!(!working.contains("ghp_"), "{working}");
    // It is in the receipt, as the other parts are.
    let shown = env.run(["receipt", "show", &receipt_in(&prompt), "--json"]).ok().json();
    let sections = shown["receipt"]["sections"].as_array().unwrap().clone();
    let section = sections.iter().find(|section| section["name"] == "beside").unwrap();
    let (used, budget) = (section["used"].as_u64().unwrap(), section["budget"].as_u64().unwrap());
    assert!(used > 0 && used <= budget && budget <= 240, "{section}");
    assert!(shown["receipt"]["text"].as_str().unwrap().contains(HEADING), "{shown}");
    // What it left is said once it has ended.
    stop(&env, "a1", "general-purpose", "toolu_1", &[&first, DEBRIEF], DEBRIEF);
    let (ended, _) = spawned(&env, "toolu_4", "Go on");
    assert!(ended.contains("- developer, ended (complete): Tokens rotate.\n"), "{ended}");
    assert!(!ended.contains("Rotate the refresh tokens"), "{ended}");
}

#[test]
fn those_that_never_started_or_spawned_it_are_not_named() {
    let env = with_package();
    spawned(&env, "toolu_1", "Denied work");
    let failed = json!({"tool_name": "Agent", "tool_use_id": "toolu_1", "error": "denied"});
    answer(&env, "PostToolUseFailure", failed);
    let (nothing, _) = spawned(&env, "toolu_2", "The outer work");
    assert_eq!(nothing, "");
    start(&env, "a2", "general-purpose");
    // The subagent spawns one itself.
    let input = json!({"description": "d", "subagent_type": "general-purpose", "prompt": "Nested"});
    let nested = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "toolu_3",
        "agent_id": "a2", "agent_type": "general-purpose"});
    let nested = answer(&env, "PreToolUse", nested);
    assert_eq!(beside(prompt_of(&nested)), "", "its parent is not beside it");
    // Another conversation is another lead.
    let input = json!({"description": "d", "subagent_type": "general-purpose", "prompt": "Other"});
    let other = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "toolu_4",
        "session_id": "another"});
    assert_eq!(beside(prompt_of(&answer(&env, "PreToolUse", other))), "");
}

#[test]
fn four_are_named_at_most_and_none_if_it_is_switched_off() {
    let mut env = with_package();
    for n in 0..6 {
        spawned(&env, &format!("toolu_{n}"), &format!("Task number {n}"));
    }
    let (many, _) = spawned(&env, "toolu_a", "One more");
    assert!(many.starts_with(" (4)\n") && many.contains("Task number 5"), "{many}");
    assert_eq!(many.matches("\n- ").count(), 4, "{many}");
    env.set("HANDOVER_BRIEF_BESIDE", "false");
    assert_eq!(spawned(&env, "toolu_b", "One more").0, "");
}

#[test]
fn a_spawned_agent_sees_who_of_its_session_is_at_work() {
    let env = project();
    let at_work = ["brief", "--role", "qa_expert", "--task", "Test the refresh", "--deliver"];
    env.run(at_work).ok();
    let command = format!("{} echo-prompt prompt.txt", FakeAgent::program().display());
    let spawn = || {
        let args = ["spawn", "--role", "developer", "--host", "command", "--agent-command"];
        let _ = env.run(args.into_iter().chain([command.as_str(), "--task", "Do it", "--json"]));
        beside(&fs_err::read_to_string(env.path("prompt.txt")).unwrap())
    };
    let first = spawn();
    assert!(first.contains("- qa_expert, at work\n"), "{first}");
    let second = spawn();
    assert_eq!(second, first, "the first developer has ended, without a word");
}

/// Newer versions run subagents in the background by default.
#[test]
fn claude_tells_the_second_of_two_in_the_background() {
    use crate::real_hosts::DEBRIEF;
    for other in [false, true] {
        let slow = Answer::text(DEBRIEF).after(std::time::Duration::from_secs(4));
        // The second names the first in its brief.
        let first = |r: &handover_testkit::ModelRequest| of("CHILD-ONE")(r) && !of("CHILD-TWO")(r);
        let script = Script::new().when(first, slow).when(of("CHILD-TWO"), Answer::text(DEBRIEF));
        let mut background = agent("general-purpose", "CHILD-ONE: rotate the refresh tokens");
        background.1["run_in_background"] = true.into();
        let turns = vec![
            Answer::Tools(String::new(), vec![background]),
            spawns("general-purpose", "CHILD-TWO: test the refresh"),
        ];
        let mut real = Real::claude(lead(script, turns));
        if other {
            real.host = real.host.other();
        }
        real.run();
        let second = &real.requests_of("CHILD-TWO")[0];
        let section = second.between(HEADING, "## Your Role").unwrap_or_default();
        assert!(section.contains("CHILD-ONE: rotate the refresh tokens"), "{section}");
        let first = real.server.requests().into_iter().find(first).unwrap();
        assert!(!first.conversation_contains(HEADING));
    }
}
