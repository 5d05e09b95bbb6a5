//! Copilot CLI.

use handover_testkit::{Answer, RealHost, Script};
use serde_json::{Value, json};

use super::{BARE, DEBRIEF, Real, both, is_lead, lead, markers, of};

fn spawns(kind: &str, prompt: &str) -> Answer {
    let input =
        json!({"description": "work", "prompt": prompt, "agent_type": kind, "name": "worker"});
    Answer::tool("task", input)
}

#[test]
fn briefs_its_subagents_and_asks_for_their_debriefs() {
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && r.turns() == 0, Answer::text(BARE))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(of("CHILD-TWO"), Answer::text(DEBRIEF));
    let turns = vec![
        spawns("general-purpose", "CHILD-ONE: refresh tokens in parallel"),
        spawns("qa-expert", "CHILD-TWO: test the refresh"),
        spawns("explore", "CHILD-THREE: look around"),
    ];
    let real = Real::new(&["copilot"], RealHost::copilot, lead(script, turns));
    real.env.write(
        ".github/agents/qa-expert.agent.md",
        "---\nname: qa-expert\ndescription: Tests what was built.\n---\nYou test.\n",
    );
    let group = ["group", "set", "login", "--title", "Login rework", "--status", "in_progress"];
    real.env.run(group).ok();
    real.start();
    let opening = real.server.requests().into_iter().find(is_lead).unwrap();
    assert!(opening.contains("Open group login (in_progress): Login rework"), "SessionStart");
    let first = real.requests_of("CHILD-ONE");
    assert!(first[0].conversation_contains("docs/oauth.md"), "the package");
    assert!(first[0].conversation_contains("Role: developer."));
    assert_eq!(first.len(), 2, "it is asked for its debrief once");
    let second = &real.requests_of("CHILD-TWO")[0];
    assert!(second.conversation_contains("one lock per family"), "the reasoning of the first");
    assert!(second.conversation_contains("Role: qa_expert."));
    let third = real.requests_of("CHILD-THREE");
    assert!(third[0].conversation_contains("Role: investigator.") && third.len() == 1);
    assert!(!third[0].conversation_contains("```handover"), "who only reads is asked for nothing");
    let roles = ["developer", "qa_expert", "investigator"];
    assert_eq!(real.states(), both(&roles.map(|role| (role, "confirmed"))));
    real.is_covered_and_used("copilot");
    let receipts = real.receipts();
    assert_eq!(markers(&first[0]), [receipts[0][2].clone()]);
    assert_eq!(markers(second), [receipts[1][2].clone()]);
    assert_eq!(real.events("debrief")[1]["verdict"], "complete");
    let doctor = real.env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("copilot 1.0.102 accepts rewritten prompts"), "{doctor}");
    // After uninstalling, the next conversation has no trace of us.
    real.env.run(["host", "uninstall", "copilot"]).ok();
    assert!(!real.env.path(".github/hooks").exists());
    real.start();
    assert_eq!(real.receipts().len(), 3);
}

/// Copilot also runs the hooks of Claude Code's settings.
#[test]
fn is_answered_in_its_own_words_and_once() {
    for hosts in [&["claude"][..], &["claude", "copilot"]] {
        let script = Script::new()
            .when(|r| of("CHILD-ONE")(r) && r.turns() == 0, Answer::text(BARE))
            .when(of("CHILD-ONE"), Answer::text(DEBRIEF));
        let turns = vec![spawns("general-purpose", "CHILD-ONE: refresh tokens")];
        let real = Real::new(hosts, RealHost::copilot, lead(script, turns));
        real.start();
        let child = real.requests_of("CHILD-ONE");
        assert_eq!(child.len(), 2, "{hosts:?}: it is asked for its debrief once");
        assert_eq!(markers(&child[0]).len(), 1, "{hosts:?}");
        assert!(child[1].conversation_contains("Your last message has no debrief."), "{hosts:?}");
        assert_eq!(real.states(), both(&[("developer", "confirmed")]), "{hosts:?}");
        let id = &real.receipts()[0][2];
        let shown = real.env.run(["receipt", "show", id, "--json"]).ok().json();
        assert_eq!(shown["receipt"]["host"], "copilot", "{hosts:?}");
        real.env.run(["doctor"]).ok();
    }
}

#[test]
fn gets_a_brief_that_another_hook_removed() {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(DEBRIEF));
    let turns = vec![spawns("general-purpose", "CHILD-ONE: refresh tokens")];
    let real = Real::new(&["copilot"], RealHost::copilot, lead(script, turns));
    // It answers later, and so has the last word.
    let bare = json!({"modifiedArgs": {"description": "work", "prompt": "CHILD-ONE: refresh tokens",
        "agent_type": "general-purpose", "name": "worker"}});
    real.env.write("other.sh", format!("cat > /dev/null\nsleep 1\ncat << 'END'\n{bare}\nEND\n"));
    let command = format!("sh {}", real.env.path("other.sh").display());
    let hook = json!({"type": "command", "matcher": "Agent", "command": command, "timeoutSec": 9});
    let hooks = json!({"version": 1, "hooks": {"PreToolUse": [hook]}});
    real.env.write(".github/hooks/other.json", hooks.to_string());
    real.start();
    let child = &real.requests_of("CHILD-ONE")[0];
    assert!(child.conversation_contains("docs/oauth.md"));
    assert_eq!(markers(child), [real.receipts()[0][2].clone()]);
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
}

/// An agent of Copilot has a conversation of its own.
#[test]
fn briefs_parallel_background_and_nested_subagents_of_one_session() {
    let nested = spawns("general-purpose", "NESTED: refresh");
    let script = Script::new()
        .when(of("NESTED:"), Answer::text(DEBRIEF))
        .when(|r| of("OUTER:")(r) && r.turns() == 0, nested)
        .when(of("OUTER:"), Answer::text(DEBRIEF))
        .when(of("TWIN-A:"), Answer::text(DEBRIEF))
        .when(of("TWIN-B:"), Answer::text(DEBRIEF))
        .when(of("BACKGROUND:"), Answer::text(DEBRIEF));
    let call = |prompt: &str, mode: &str| {
        let input = json!({"description": "work", "prompt": prompt, "name": "worker", "mode": mode,
            "agent_type": "general-purpose"});
        ("task".to_owned(), input)
    };
    let twins = vec![call("TWIN-A: refresh", "sync"), call("TWIN-B: refresh", "sync")];
    // The background comes last: when it is done, Copilot adds turns to the conversation.
    let turns = vec![
        Answer::Tools(String::new(), twins),
        spawns("general-purpose", "OUTER: refresh"),
        Answer::Tools(String::new(), vec![call("BACKGROUND: refresh", "background")]),
    ];
    let real = Real::new(&["copilot"], RealHost::copilot, lead(script, turns));
    // Their tasks distinguish them, so none may read of another's.
    real.env.run(["config", "set", "brief.beside", "false"]).ok();
    // With a second session, which one is meant is known only from the conversation.
    real.env.run(["session", "new", "s2"]).ok();
    real.start();
    let mut got = Vec::new();
    for task in ["BACKGROUND:", "TWIN-A:", "TWIN-B:", "OUTER:", "NESTED:"] {
        let markers = markers(&real.requests_of(task)[0]);
        assert_eq!(markers.len(), 1, "{task}");
        got.extend(markers);
    }
    let show = |id: &String| real.env.run(["receipt", "show", id, "--json"]).ok().json();
    let shown: Vec<Value> = got.iter().map(|id| show(id)["receipt"].clone()).collect();
    let session = shown[0]["session"].as_str().unwrap();
    for receipt in &shown {
        assert_eq!(
            (&receipt["state"], &receipt["session"]),
            (&json!("confirmed"), &json!(session))
        );
    }
    let list = real.env.run(["receipt", "list", "--session", session, "--json"]).ok().json();
    assert_eq!(list["receipts"].as_array().unwrap().len(), got.len());
}

#[test]
fn a_command_that_fails_and_then_passes_is_learned_from() {
    let run =
        |command: &str| Answer::tool("bash", json!({"command": command, "description": "build"}));
    let turns = vec![
        run("test -f built || { echo 'Error: Cannot find module @app/db' >&2; exit 1; }"),
        run("touch built"),
        run("test -f built || { echo 'Error: Cannot find module @app/db' >&2; exit 1; }"),
    ];
    let real = Real::new(&["copilot"], RealHost::copilot, lead(Script::new(), turns));
    real.start();
    let errors = real.env.run(["error", "list", "--json"]).ok().stdout;
    assert!(errors.contains("Cannot find module") && errors.contains("touch built"), "{errors}");
}

/// The event of the end does not name the transcript.
#[test]
fn a_conversation_is_learned_from_when_it_ends() {
    let real = Real::new(&["copilot"], RealHost::copilot, lead(Script::new(), Vec::new()));
    let said =
        "LEAD-TASK: we decided to keep audit logs for ninety days, because the law asks for it.";
    let output = real.host.command().arg(said).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let notes = real.env.run(["note", "list", "--kind", "conversation", "--json"]).ok().json();
    let text = notes["notes"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("ninety days"), "{notes}");
}
