//! Gemini CLI.

use handover_testkit::{Answer, RealHost, Script};
use serde_json::{Value, json};

use super::{BARE, DEBRIEF, Real, both, is_lead, lead, markers, of};

fn spawns(kind: &str, prompt: &str) -> Answer {
    Answer::tool("invoke_agent", json!({"agent_name": kind, "prompt": prompt}))
}

/// Its subagents end by calling a tool.
fn ends(text: &str) -> Answer {
    Answer::tool("complete_task", json!({"result": {"response": text}}))
}

#[test]
fn briefs_its_subagents_and_stores_their_debriefs() {
    let findings =
        json!({"SummaryOfFindings": "x", "ExplorationTrace": [], "RelevantLocations": []});
    let script = Script::new()
        .when(of("CHILD-ONE"), ends(DEBRIEF))
        .when(|r| of("CHILD-TWO")(r) && r.turns() == 0, ends(BARE))
        .when(of("CHILD-TWO"), ends(DEBRIEF))
        .when(of("CHILD-THREE"), Answer::tool("complete_task", json!({"report": findings})));
    let turns = vec![
        spawns("generalist", "CHILD-ONE: refresh tokens in parallel"),
        spawns("generalist", "CHILD-TWO: test the refresh"),
        spawns("codebase_investigator", "CHILD-THREE: look around"),
    ];
    let real = Real::new(&["gemini"], RealHost::gemini, lead(script, turns));
    let group = ["group", "set", "login", "--title", "Login rework", "--status", "in_progress"];
    real.env.run(group).ok();
    real.start();
    let opening = real.server.requests().into_iter().find(is_lead).unwrap();
    assert!(opening.contains("Open group login (in_progress): Login rework"), "SessionStart");
    let first = &real.requests_of("CHILD-ONE")[0];
    assert!(first.conversation_contains("docs/oauth.md"), "the package");
    assert!(first.conversation_contains("Role: developer."));
    let second = &real.requests_of("CHILD-TWO")[0];
    assert!(second.conversation_contains("one lock per family"), "the reasoning of the first");
    let third = real.requests_of("CHILD-THREE");
    assert!(third[0].conversation_contains("Role: investigator.") && third.len() == 1);
    let roles = ["developer", "developer", "investigator"];
    assert_eq!(real.states(), both(&roles.map(|role| (role, "confirmed"))));
    real.is_covered_and_used("gemini");
    let receipts = real.receipts();
    assert_eq!(markers(first), [receipts[0][2].clone()]);
    assert_eq!(markers(second), [receipts[1][2].clone()]);
    let asked = real.requests_of("CHILD-TWO");
    assert_eq!(asked.len(), 2, "it is asked for its debrief once");
    assert!(asked[1].conversation_contains("Your last message has no debrief."));
    let debriefs = real.events("debrief");
    let complete = debriefs.iter().filter(|debrief| debrief["verdict"] == "complete");
    assert_eq!(complete.count(), 2, "{debriefs:?}");
    let doctor = real.env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("hooks of gemini (project): 5 events"), "{doctor}");
    // After uninstalling, the next conversation has no trace of us.
    real.env.run(["host", "uninstall", "gemini"]).ok();
    assert!(!real.env.path(".gemini").exists());
    real.start();
    assert_eq!(real.receipts().len(), 3);
}

#[test]
fn briefs_two_subagents_with_the_same_task_at_once() {
    let script = Script::new().when(of("TWIN:"), ends(BARE));
    let call = || {
        let input = json!({"agent_name": "generalist", "prompt": "TWIN: refresh"});
        ("invoke_agent".to_owned(), input)
    };
    let turns = vec![Answer::Tools(String::new(), vec![call(), call()])];
    let real = Real::new(&["gemini"], RealHost::gemini, lead(script, turns));
    real.start();
    // Which of them to ask is unknown, so what is missing stays missing.
    let missing = |debrief: &Value| debrief["missing"] == json!(["block"]);
    assert_eq!(real.events("debrief").iter().filter(|debrief| missing(debrief)).count(), 2);
    let mut got: Vec<String> = real.requests_of("TWIN:").iter().flat_map(markers).collect();
    got.sort();
    let mut known: Vec<String> = real.receipts().into_iter().map(|[_, _, id]| id).collect();
    known.sort();
    assert_eq!(got, known);
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 2]));
}
