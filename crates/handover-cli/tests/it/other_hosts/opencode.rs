//! opencode.

use handover_testkit::{Answer, ModelRequest, ModelServer, RealHost, Script, TestEnv};
use serde_json::{Value, json};

use super::{BARE, DEBRIEF, LEAD, Real, both, is_lead, lead, markers, of};

fn call(kind: &str, prompt: &str) -> (String, Value) {
    let input = json!({"description": "work", "prompt": prompt, "subagent_type": kind});
    ("task".to_owned(), input)
}

fn spawns(calls: Vec<(String, Value)>) -> Answer {
    Answer::Tools(String::new(), calls)
}

/// Its output counts the lead alone; what its subagents used is in its database.
#[test]
fn counts_what_its_subagents_use() {
    let other = |env: &_, server: &_| RealHost::opencode(env, server).other();
    let versions: [fn(&TestEnv, &ModelServer) -> RealHost; 2] = [RealHost::opencode, other];
    for (nth, program) in versions.into_iter().enumerate() {
        let read = |r: &ModelRequest| of("CHILD-ONE")(r) && r.turns() == 0;
        let script = Script::new()
            .when(read, Answer::tool("read", json!({"filePath": "docs/oauth.md"})))
            .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
            .when(of("CHILD-TWO"), Answer::text(DEBRIEF));
        let turns = vec![spawns(vec![call("general", "CHILD-ONE"), call("general", "CHILD-TWO")])];
        let script = lead(script, turns);
        let mut real = Real::new(&[], program, script);
        for (name, value) in &real.host.vars {
            if name != "HOME" && name != "PATH" {
                real.env.set(name, value);
            }
        }
        let program = format!("agents.programs={{opencode=\"{}\"}}", real.host.program.display());
        let args = ["spawn", "--json", "--config", &program, "--host", "opencode", "--role"];
        let task = format!("Do the {LEAD}.");
        let more = ["developer", "--profile", "full", "--task", &task];
        let said = real.env.run(args.iter().chain(&more)).ok().json();
        let started = |task: &'static str| real.requests_of(task).len();
        assert_eq!((started("CHILD-ONE"), started("CHILD-TWO")), (2, 1), "{nth}: {said}");
        let charged = real.server.charged();
        assert_eq!(said["tokens"], charged.input + charged.output, "{nth}: {said}");
    }
}

/// One run for everything: it starts slowly.
#[test]
fn briefs_its_subagents_and_asks_for_their_debriefs() {
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && r.turns() == 0, Answer::text(BARE))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(of("TWIN"), Answer::text(DEBRIEF));
    let turns = vec![
        spawns(vec![call("general", "CHILD-ONE: refresh tokens in parallel")]),
        spawns(vec![call("general", "TWIN: test"), call("general", "TWIN: test")]),
        spawns(vec![call("explore", "CHILD-THREE: look around")]),
    ];
    let real = Real::new(&["opencode"], RealHost::opencode, lead(script, turns));
    let group = ["group", "set", "login", "--title", "Login rework", "--status", "in_progress"];
    real.env.run(group).ok();
    real.start();
    let opening = real.server.requests().into_iter().find(is_lead).unwrap();
    assert!(opening.contains("Open group login (in_progress): Login rework"), "the opening");
    let first = real.requests_of("CHILD-ONE");
    assert!(first[0].conversation_contains("docs/oauth.md"), "the package");
    assert!(first[0].conversation_contains("Role: developer."));
    assert_eq!(first.len(), 2, "it is asked for its debrief once");
    assert!(first[1].conversation_contains("Your last message has no debrief."));
    let twins = real.requests_of("TWIN");
    assert!(twins[0].conversation_contains("one lock per family"), "the reasoning of the first");
    let third = real.requests_of("CHILD-THREE");
    assert!(third[0].conversation_contains("Role: investigator.") && third.len() == 1);
    let roles = ["developer", "developer", "developer", "investigator"];
    assert_eq!(real.states(), both(&roles.map(|role| (role, "confirmed"))));
    real.is_covered_and_used("opencode");
    let mut got = markers(&first[0]);
    got.extend(twins.iter().flat_map(markers));
    got.extend(markers(&third[0]));
    got.sort();
    let mut known: Vec<String> = real.receipts().into_iter().map(|[_, _, id]| id).collect();
    known.sort();
    assert_eq!(got, known);
    let debriefs = real.events("debrief");
    let complete = debriefs.iter().filter(|debrief| debrief["verdict"] == "complete");
    assert_eq!(complete.count(), 3, "{debriefs:?}");
    let doctor = real.env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("opencode 1.18.33 accepts rewritten prompts"), "{doctor}");
    // What its own installation adds stays.
    real.env.run(["host", "uninstall", "opencode"]).ok();
    assert!(!real.env.path(".opencode/plugin").exists());
}
