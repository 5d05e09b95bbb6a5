//! The end of an epic, and what git keeps of a run: scenarios, documents, messages of commits, parked work.

use serde_json::{Value, json};

use super::Planted;
use crate::runs::Epic;

/// Everything that git keeps: every message, and every file but the user's own.
fn kept_by_git(p: &mut Planted, epic: &Epic) {
    p.printed("messages of commits", epic.git(&["log", "--all", "--format=%an %ae %B"]));
    p.printed("names of branches", epic.git(&["for-each-ref"]));
    let own = ["docs/stories", "data.txt"].map(|path| format!(":(exclude){path}"));
    let args = ["log", "--all", "--patch", "--format=", "--", ".", &own[0], &own[1]];
    p.printed("committed files", epic.git(&args));
    // Of the user's stories, only what was added to them.
    let stories = epic.git(&["log", "--all", "--patch", "--format=", "--", "docs/stories"]);
    let users: Vec<String> = p
        .secrets
        .iter()
        .filter(|(channel, _)| channel == "title")
        .map(|(_, s)| s.clone())
        .collect();
    p.printed("records", users.iter().fold(stories, |text, own| text.replace(own, "")));
}

fn listed(p: &mut Planted, epic: &Epic) {
    for command in ["status", "journal", "report --html -", "stats", "strategy list", "export"] {
        p.run(&epic.env, "", command.split(' '));
    }
    p.run(&epic.env, "", ["package", "list", "--session", "epic-1"]);
}

fn result(phase: &str, more: &Value) -> String {
    let mut result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "epic-1", "phase": phase, "verdict": "complete", "summary": "s",
    });
    result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("* {phase} * | result '{result}'\n")
}

#[test]
fn scenarios_and_documents() {
    let epic = Epic::new(&["1-1-a"]);
    let mut planted = Planted::default();
    let p = &mut planted;
    epic.env.write(
        "data.txt",
        format!("{}\n{}\n", p.token("printed by a scenario"), p.private_key("scenario")),
    );
    epic.commit_all("data");
    let mut field = |name: &str| p.token(&format!("scenario, {name}"));
    let scenarios = json!({"scenarios": [
        {"id": "S1", "criterion": field("criterion"), "kind": "auto", "argv": ["cat", "data.txt"],
         "expect": {"text": field("expected text")}},
        {"id": "S2", "criterion": "AC2", "kind": "auto", "argv": ["cat", field("argument")], "expect": {"exit": 0}},
        {"id": "S3", "criterion": "AC3", "kind": "manual", "steps": [field("step")], "expected": field("expected")},
    ]});
    let mut field = |name: &str| p.token(&format!("retrospective, {name}"));
    let retro = json!({"retro": {
        "summary": field("summary"), "went_well": [field("went well")], "gotchas": [field("gotcha")],
        "patterns": [{"text": field("pattern"), "why": field("why"), "file": field("file")}],
        "test_conventions": [field("convention")],
    }});
    epic.script(&(result("uat", &scenarios) + &result("retro", &retro)));
    let output = epic.run(&["--config", "uat.allow=[\"cat\"]", "--uat", "full", "--retro"]);
    p.output("run", &output);
    assert!(
        epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"])
            .contains("docs/uat/epic-1-uat.md"),
        "{output}"
    );
    let agent = epic.agent();
    for gate in ["quick", "full"] {
        let args = [
            "uat",
            "1",
            "--agent-command",
            &agent,
            "--config",
            "uat.allow=[\"cat\"]",
            "--gate",
            gate,
        ];
        p.run(&epic.env, "", args);
    }
    listed(p, &epic);
    kept_by_git(p, &epic);
    planted.nowhere(&epic.env);
}

#[test]
fn titles_and_reasons() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let mut planted = Planted::default();
    let p = &mut planted;
    for id in ["1-1-a", "1-2-b"] {
        let title = p.token("title");
        epic.env.write(
            &format!("docs/stories/{id}.md"),
            format!("# Story {id}: Use {title}\n\nStatus: ready-for-dev\n\n## Story\nUse it.\n"),
        );
    }
    epic.commit_all("stories");
    let (why, review) = (p.token("reason of a blocked story"), p.token("summary of a review"));
    let (file, text) = (p.token("name of a file"), p.private_key("work"));
    epic.env.write("../key.sh", format!("printf '%s' '{text}' > work.txt\n"));
    epic.script(&format!(
        "1-1-a dev * | write {file}.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-1-a review * | print \"REVIEW PASSED: 1-1-a - {review}\"\n\
         1-2-b dev * | run \"sh {}\" write b.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - {why}\"\n",
        epic.env.folder().join("key.sh").display()
    ));
    let output = epic.run(&[]);
    p.output("run", &output);
    listed(p, &epic);
    // The name of a file is the agent's work, and part of the commit that it asked for.
    p.secrets.retain(|(channel, _)| channel != "name of a file");
    kept_by_git(p, &epic);
    planted.nowhere(&epic.env);
}
