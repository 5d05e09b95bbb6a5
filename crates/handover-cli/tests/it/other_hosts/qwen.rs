//! Qwen Code.

use handover_testkit::{Answer, RealHost, Script};
use serde_json::json;

use super::{BARE, DEBRIEF, Real, both, is_lead, lead, markers, of};

/// It ignores rewritten prompts, so a brief follows when the subagent is about to stop.
#[test]
fn briefs_its_subagents_by_holding_them_back() {
    let spawns = |prompt: &str| {
        let input = json!({"description": "work", "prompt": prompt, "run_in_background": false,
            "subagent_type": "general-purpose"});
        Answer::tool("agent", input)
    };
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && r.turns() == 0, Answer::text(BARE))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(of("CHILD-TWO"), Answer::text(BARE));
    let turns = vec![spawns("CHILD-ONE: refresh tokens"), spawns("CHILD-TWO: test the refresh")];
    let real = Real::new(&["qwen"], RealHost::qwen, lead(script, turns));
    let group = ["group", "set", "login", "--title", "Login rework", "--status", "in_progress"];
    real.env.run(group).ok();
    real.start();
    let opening = real.server.requests().into_iter().find(is_lead).unwrap();
    assert!(opening.contains("Open group login (in_progress): Login rework"), "SessionStart");
    let receipts = real.receipts();
    for (task, receipt) in ["CHILD-ONE", "CHILD-TWO"].into_iter().zip(&receipts) {
        let requests = real.requests_of(task);
        assert_eq!(requests.len(), 2, "{task} is held back once");
        assert!(markers(&requests[0]).is_empty(), "{task}");
        assert!(markers(&requests[1]).contains(&receipt[2]), "{task}");
        assert!(requests[1].contains("docs/oauth.md"), "{task}");
    }
    let second = &real.requests_of("CHILD-TWO")[1];
    assert!(second.contains("one lock per family"), "the reasoning of the first");
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 2]));
    real.is_covered_and_used("qwen");
    let debriefs = real.events("debrief");
    assert_eq!(
        (&debriefs[1]["verdict"], &debriefs[0]["missing"]),
        (&json!("complete"), &json!(["block"]))
    );
    real.env.run(["doctor"]).ok();
}
