//! The way back: what a parent reads of a long report.

use handover_testkit::{Answer, ModelServer, RealHost, Script, TestEnv};
use serde_json::{Value, json};

use super::{Real, both, is_lead, lead, of};
use crate::returns::{is_shortened, limit_returns, report};

const TASK: &str = "CHILD-ONE: do the refresh tokens rotate?";

/// A program whose subagent reports at length, after its parent has read that.
fn reported(
    host: &str,
    program: fn(&TestEnv, &ModelServer) -> RealHost,
    spawn: Answer,
    end: Answer,
) -> Real {
    let script = Script::new().when(of("CHILD-ONE"), end);
    let real = Real::new(&[host], program, lead(script, vec![spawn]));
    limit_returns(&real.env);
    real.start();
    assert_eq!(real.states(), both(&[("developer", "confirmed")]), "{host}");
    real
}

fn is_left_alone(real: &Real, host: &str) {
    let last = real.server.requests().into_iter().rfind(is_lead).unwrap();
    assert!(last.body.to_string().contains("Filler 149:"), "{host}: {}", last.body);
    assert_eq!(real.events("shortened"), [] as [Value; 0], "{host}");
}

#[test]
fn copilot_lets_the_parent_read_less() {
    let input = json!({"description": "work", "prompt": TASK, "agent_type": "general-purpose",
        "name": "worker", "mode": "sync"});
    let spawn = Answer::tool("task", input);
    let real = reported("copilot", RealHost::copilot, spawn, Answer::text(&report()));
    let parent = real.server.requests().into_iter().rfind(is_lead).unwrap();
    is_shortened(&real.env, &parent);
}

#[test]
fn opencode_lets_the_parent_read_less() {
    let input = json!({"description": "work", "prompt": TASK, "subagent_type": "general"});
    let spawn = Answer::tool("task", input);
    let real = reported("opencode", RealHost::opencode, spawn, Answer::text(&report()));
    let parent = real.server.requests().into_iter().rfind(is_lead).unwrap();
    assert!(parent.body.to_string().contains("<task_result>"), "{}", parent.body);
    is_shortened(&real.env, &parent);
}

/// A hook could only turn the result into an error.
#[test]
fn gemini_lets_the_parent_read_everything() {
    let spawn = Answer::tool("invoke_agent", json!({"agent_name": "generalist", "prompt": TASK}));
    let end = Answer::tool("complete_task", json!({"result": {"response": report()}}));
    is_left_alone(&reported("gemini", RealHost::gemini, spawn, end), "gemini");
}

/// No hook can change a result.
#[test]
fn qwen_lets_the_parent_read_everything() {
    let input = json!({"description": "work", "prompt": TASK, "run_in_background": false,
        "subagent_type": "general-purpose"});
    let spawn = Answer::tool("agent", input);
    let real = reported("qwen", RealHost::qwen, spawn, Answer::text(&report()));
    is_left_alone(&real, "qwen");
}
