//! Closing an epic: scenarios, retrospective, handoff. Whatever its
//! agents do, the stories stay done.

use handover_testkit::processes_with;
use serde_json::{Value, json};

use super::Epic;
use super::killed::{Scene, around, call, lines};

/// Only `cat` may be started.
const CAT: [&str; 2] = ["--config", "uat.allow=[\"cat\"]"];

/// The result of an agent that closes epic 1.
fn result(phase: &str, more: &Value) -> String {
    let mut result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "epic-1", "phase": phase, "verdict": "complete",
        "summary": "so it is",
    });
    for (key, value) in more.as_object().unwrap() {
        result[key] = value.clone();
    }
    let quoted = result.to_string().replace('\'', "'\\''");
    format!("* {phase} * | result '{quoted}'\n")
}

fn scenarios(list: &Value) -> String {
    result("uat", &json!({"scenarios": list}))
}

fn retro() -> String {
    result(
        "retro",
        &json!({"retro": {
            "summary": "The shop greets.", "went_well": ["It was quick"],
            "patterns": [{"text": "Greetings are files", "why": "one per story", "file": "1-1-a.txt"}],
            "gotchas": ["# Not a heading"], "test_conventions": ["cat is enough"],
        }}),
    )
}

fn auto(id: &str, file: &str, text: &str) -> Value {
    json!({"id": id, "criterion": "1-1-a AC1", "kind": "auto", "argv": ["cat", file], "expect": {"text": text}})
}

fn manual() -> Value {
    json!({"id": "M1", "criterion": "1-1-a AC2", "kind": "manual", "steps": ["Look at it"], "expected": "It is nice"})
}

fn show(epic: &Epic, path: &str) -> String {
    epic.git(&["show", &format!("handover/epic-1:{path}")])
}

fn run(epic: &Epic, more: &[&str]) -> handover_testkit::Output {
    epic.run(&[&CAT[..], more].concat())
}

#[test]
fn closes_an_epic_with_acceptance_and_retrospective() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&(scenarios(&json!([auto("S1", "1-1-a.txt", "work"), manual()])) + &retro()));
    run(&epic, &["--uat", "quick", "--retro"]).ok();
    assert_eq!(
        epic.subjects("handover/epic-1"),
        ["docs(epic-1): close epic 1", "feat(epic-1): complete 1-1-a"]
    );
    let document = show(&epic, "docs/uat/epic-1-uat.md");
    for part in ["Acceptance of epic 1: Shop", "| S1 | auto | passed |", "- [ ] Look at it"] {
        assert!(document.contains(part), "{part} is missing in {document}");
    }
    assert!(show(&epic, "docs/uat/epic-1-uat.json").contains("\"1-1-a.txt\""));
    let retro = show(&epic, "docs/sprints/epic-1-retro.md");
    assert!(retro.contains("It was quick") && retro.contains("| 1-1-a | done |"), "{retro}");
    assert!(!retro.contains("\n# Not a heading"), "{retro}");
    let handoff = show(&epic, "docs/handoffs/epic-1-handoff.md");
    for part in ["type: handoff", "epic: '1'", "## Patterns", "Greetings are files: one per story"]
    {
        assert!(handoff.contains(part), "{part} is missing in {handoff}");
    }
    let status = epic.status();
    assert_eq!(status["uat"]["state"], "passed");
    assert_eq!(status["closing"]["state"], "done");
    let strategies = epic.env.run(["strategy", "list", "--json"]).ok().json();
    assert_eq!(strategies["strategies"].as_array().unwrap().len(), 2, "{strategies}");
    assert_eq!(epic.git(&["status", "--porcelain"]), "");
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn failed_scenarios_change_the_exit_code_only_if_blocking() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&scenarios(&json!([auto("S1", "1-1-a.txt", "something else")])));
    let output = run(&epic, &["--uat", "quick"]).ok();
    assert!(
        output.stderr.contains("Next: acceptance has failed, see docs/uat/epic-1-uat.md"),
        "{output}"
    );
    assert_eq!(epic.status()["uat"]["failed"], 1);
    assert!(show(&epic, "docs/uat/epic-1-uat.md").contains("failed: it did not print"));
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&scenarios(&json!([auto("S1", "1-1-a.txt", "something else")])));
    run(&epic, &["--uat", "quick", "--uat-blocking"]).fails(1);
    assert_eq!(
        (&epic.states()[..], &epic.status()["state"]),
        (&["done".to_owned()][..], &json!("failed"))
    );
    // Nothing runs, so nothing fails.
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&scenarios(&json!([auto("S1", "1-1-a.txt", "something else")])));
    run(&epic, &["--uat", "skip", "--uat-blocking"]).ok();
    assert_eq!(epic.status()["uat"]["state"], "skipped");
    // There are no scenarios.
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* uat * | print \"UAT GENERATED: docs/uat/epic-1-uat.md\"");
    run(&epic, &["--uat", "quick", "--uat-blocking"]).fails(1);
    assert_eq!(epic.states(), ["done"]);
}

/// Everything that could turn a list of words into shell code.
#[test]
fn scenarios_never_reach_a_shell() {
    let epic = Epic::new(&["1-1-a"]);
    let pwned = epic.env.folder().join("pwned");
    let touch = format!("touch {}", pwned.display());
    epic.env.write("tool", format!("#!/bin/sh\n{touch}\n"));
    epic.env
        .write("docs/stories/1-1-a.md", format!("# Story 1.1: $({touch})\n\n`{touch}`; {touch}\n"));
    std::os::unix::fs::symlink("/bin/sh", epic.env.path("linked")).unwrap();
    epic.env.git("", &["update-index", "--add", "--chmod=+x", "tool"]);
    epic.commit_all("tools");
    let commands = [
        json!(["sh", "-c", touch]),
        json!(["/bin/sh", "-c", touch]),
        json!(["bash", "-c", touch]),
        json!(["env", "sh", "-c", touch]),
        json!(["xargs", "-I{}", "sh", "-c", touch]),
        json!(["./linked", "-c", touch]),
        json!(["./tool"]),
        json!(["cat; sh", "-c", touch]),
        json!(["python3", "-c", format!("import os; os.system('{touch}')")]),
        json!(["touch", pwned]),
        json!(["cat", "1-1-a.txt", ";", "touch", pwned]),
        json!(["cat", format!("$({touch})")]),
        json!(["cat", format!("`{touch}`")]),
        json!(["cat", "1-1-a.txt", "|", "sh"]),
    ];
    let mut list: Vec<Value> = commands
        .iter()
        .enumerate()
        .map(|(n, argv)| json!({"id": format!("S{n}"), "criterion": touch, "kind": "auto", "argv": argv}))
        .collect();
    list.push(json!({"id": "SET", "criterion": "x", "kind": "auto", "argv": ["cat", "1-1-a.txt"], "setup": [["sh", "-c", touch]]}));
    list.push(json!({"id": "CLEAN", "criterion": "x", "kind": "auto", "argv": ["cat", "1-1-a.txt"], "cleanup": [["sh", "-c", touch]]}));
    list.push(json!({"id": "SEMI", "criterion": "x", "kind": "semi", "argv": ["sh", "-c", touch], "steps": [format!("$({touch})")]}));
    epic.script(&scenarios(&json!(list)));
    let allow = "uat.allow=[\"cat\", \"sh\", \"bash\", \"env\", \"xargs\", \"python3\", \"./linked\", \"./tool\"]";
    epic.run(&["--uat", "full", "--config", allow]).ok();
    assert!(!pwned.exists());
    let status = epic.status();
    assert_eq!(status["uat"]["passed"], 0, "{status:#}");
    let refused = status["uat"]["scenarios"].as_array().unwrap();
    assert_eq!(refused.iter().filter(|one| one["outcome"] == "refused").count(), 13, "{status:#}");
    assert!(refused[0]["reason"].as_str().unwrap().contains("runs arbitrary code"));
}

/// Faults of closing agents do not affect the stories.
#[test]
fn faulty_closing_agents_stop_nothing() {
    let signal = |phase: &str| match phase {
        "uat" => "UAT GENERATED: docs/uat/epic-1-uat.md",
        _ => "RETRO COMPLETE: Epic 1",
    };
    for (n, fault) in [
        "exit 1",
        "print \"{SAID}\" exit 3",
        "crash",
        "print \"{SAID}\" kill-self",
        "hang",
        "chatter",
        "flood 3000000",
        "invalid-utf8",
        "print nonsense",
        "err \"{SAID}\"",
        "result '{\"nonce\":\"old\",\"story\":\"epic-1\",\"phase\":\"{PHASE}\",\"verdict\":\"complete\"}'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"epic-2\",\"phase\":\"{PHASE}\",\"verdict\":\"complete\"}'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"epic-1\",\"phase\":\"{PHASE}\",\"verdict\":\"failed\"}'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":'",
        "write README.md changed write new.txt x write 1-1-a.txt changed",
        "spawn-quiet 'setsid append-forever late.txt' sleep 20",
        "print \"RETRO COMPLETE: Epic 2\" print \"{SAID}\" print \"RETRO COMPLETE: Epic 11\"",
    ]
    .iter()
    .enumerate()
    {
        let epic = Epic::new(&["1-1-a"]);
        let line = |phase: &str| {
            let fault = fault.replace("{SAID}", signal(phase)).replace("{PHASE}", phase);
            format!("* {phase} * | {fault}\n")
        };
        epic.script(&(line("uat") + &line("retro")));
        let limits: &[&str] = match *fault {
            "hang" => &["--idle-timeout", "1"],
            "chatter" => &["--phase-timeout", "1"],
            _ => &[],
        };
        let output = run(&epic, &[&["--uat", "quick", "--retro"][..], limits].concat());
        assert_eq!(output.code, Some(0), "{n} {fault}: {output}");
        let status = epic.status();
        assert_eq!((&status["state"], &status["stories"][0]["state"]), (&json!("done"), &json!("done")));
        assert_eq!((&status["uat"]["state"], &status["uat"]["passed"]), (&json!("failed"), &json!(0)), "{fault}");
        // The documents are still generated from the journal.
        let retro = show(&epic, "docs/sprints/epic-1-retro.md");
        assert!(retro.contains("1 of 1 story is done"), "{fault}: {retro}");
        assert!(show(&epic, "docs/handoffs/epic-1-handoff.md").contains("type: handoff"));
        let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
        assert!(!files.contains("new.txt") && !files.contains("late.txt"), "{fault}: {files}");
        assert_eq!(show(&epic, "1-1-a.txt"), "work", "{fault}");
        assert_eq!(show(&epic, "README.md"), "a shop", "{fault}");
        let id = status["id"].as_str().unwrap();
        assert_eq!(processes_with("HANDOVER_RUN", id), Vec::<u32>::new(), "{fault}");
    }
}

#[test]
fn names_unusable_scenarios() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&scenarios(
        &json!([{"id": "S1", "kind": "auto", "argv": "cat 1-1-a.txt", "shell": true}]),
    ));
    run(&epic, &["--uat", "quick"]).ok();
    let journal = epic.env.run(["journal", "--json"]).ok().stdout;
    for part in ["scenarios[0].argv", "scenarios[0].shell", "scenarios[0].criterion"] {
        assert!(journal.contains(part), "{part} is missing in {journal}");
    }
    assert!(!epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]).contains("docs/uat"));
    // The agent gets the errors and may retry.
    let epic = Epic::new(&["1-1-a"]);
    let prompt = epic.env.folder().join("prompt");
    let good = scenarios(&json!([auto("S1", "1-1-a.txt", "work")]))
        .replace("* uat * |", &format!("* uat 2 | echo-prompt {}", prompt.display()));
    epic.script(&(good + &scenarios(&json!([{"id": "S1", "shell": true}]))));
    run(&epic, &["--uat", "quick", "--uat-blocking"]).ok();
    assert_eq!(epic.status()["uat"]["passed"], 1);
    let text = fs_err::read_to_string(prompt).unwrap();
    assert!(text.contains("scenarios[0].shell"), "{text}");
}

/// Agents of other tools write the files themselves and signal it in a line.
#[test]
fn keeps_files_written_by_closing_agents() {
    let epic = Epic::new(&["1-1-a"]);
    let data = json!({"scenarios": [auto("S1", "1-1-a.txt", "work")]});
    let agent = epic.env.folder().join("agent.sh");
    let script = format!(
        "case $HANDOVER_PHASE in\n\
         dev) echo work > 1-1-a.txt; echo \"IMPLEMENTATION COMPLETE: $HANDOVER_STORY\";;\n\
         review) echo \"REVIEW PASSED: $HANDOVER_STORY\";;\n\
         uat) mkdir -p docs/uat; echo '{data}' > docs/uat/epic-1-uat.json; echo x > stray.txt\n\
           echo 'UAT GENERATED: docs/uat/epic-1-uat.md';;\n\
         retro) mkdir -p docs/sprints docs/handoffs; echo mine > docs/sprints/epic-1-retro.md\n\
           ln -s /etc/passwd docs/handoffs/epic-1-handoff.md; echo 'RETRO COMPLETE: Epic 1';;\n\
         esac\n"
    );
    fs_err::write(&agent, script).unwrap();
    let agent = format!("sh {}", agent.display());
    let args = ["run", "1", "--agent-command", &agent, "--uat", "quick", "--retro", CAT[0], CAT[1]];
    epic.env.run(args).ok();
    assert_eq!(epic.status()["uat"]["passed"], 1);
    assert_eq!(show(&epic, "docs/sprints/epic-1-retro.md"), "mine");
    assert!(show(&epic, "docs/handoffs/epic-1-handoff.md").contains("type: handoff"));
    assert!(!epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]).contains("stray"));
}

#[test]
fn failed_scenarios_are_fixed_through_the_gates() {
    let list = json!([auto("S1", "1-1-a.txt", "fixed")]);
    let gate = ["--config", "gates.commands=[{name = \"unit\", argv = [\"cat\", \"1-1-a.txt\"]}]"];
    let fix = "* fix * | append 1-1-a.txt ' fixed' write docs/uat/epic-1-uat.json '{}' print \"IMPLEMENTATION COMPLETE: epic-1\"\n";
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&(scenarios(&list) + fix));
    // The gate is about what the story builds, so it fails before.
    let flags = ["--skip-base-check", "--uat", "quick", "--heal", "2", "--uat-blocking"];
    run(&epic, &[&gate[..], &flags].concat()).ok();
    assert_eq!(show(&epic, "1-1-a.txt"), "work fixed");
    assert_eq!(epic.subjects("handover/epic-1")[0], "fix(epic-1): fix acceptance failures");
    let status = epic.status();
    let phases = status["closing"]["phases"].as_array().unwrap();
    let phases: Vec<String> = phases
        .iter()
        .map(|p| format!("{} {}", p["phase"].as_str().unwrap(), p["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        phases,
        [
            "uat complete",
            "gates passed",
            "scenarios failed",
            "fix complete",
            "gates passed",
            "scenarios passed"
        ]
    );
    // Fixes that fail, break a gate or are blocked are dropped; the rest is kept.
    for fix in [
        "* fix * | append 1-1-a.txt ' more' print \"IMPLEMENTATION COMPLETE: epic-1\"\n",
        "* fix * | spawn-quiet 'exit 0' write 1-1-a.txt fixed append gone x print \"IMPLEMENTATION BLOCKED: epic-1 - no\"\n",
        "* fix * | write 1-1-a.txt fixed exit 1\n",
    ] {
        let epic = Epic::new(&["1-1-a"]);
        epic.script(&(scenarios(&list) + fix + &retro()));
        run(
            &epic,
            &[&gate[..], &["--skip-base-check", "--uat", "quick", "--heal", "2", "--retro"]]
                .concat(),
        )
        .ok();
        assert_eq!(show(&epic, "1-1-a.txt"), "work", "{fix}");
        assert_eq!(epic.status()["uat"]["state"], "failed", "{fix}");
        assert!(
            show(&epic, "docs/uat/epic-1-uat.md").contains("failed: it did not print"),
            "{fix}"
        );
        assert!(show(&epic, "docs/sprints/epic-1-retro.md").contains("It was quick"), "{fix}");
        assert_eq!(epic.subjects("handover/epic-1")[0], "docs(epic-1): close epic 1", "{fix}");
    }
}

#[test]
fn starts_no_closing_agent_over_budget() {
    let epic = Epic::new(&["1-1-a"]);
    let paid = |phase: &str, verdict: &str| {
        format!(
            "* {phase} * | write {{HANDOVER_STORY}}.txt work result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\"verdict\":\"{verdict}\",\"usage\":{{\"cost_usd\":0.4}}}}'\n"
        )
    };
    let calls = epic.env.folder().join("calls");
    let script = paid("dev", "complete")
        + &paid("review", "passed")
        + &format!("* uat * | append {0} uat\n* retro * | append {0} retro\n", calls.display());
    epic.script(&script);
    run(&epic, &["--uat", "quick", "--retro", "--max-cost", "1.0"]).ok();
    assert!(!calls.exists());
    assert_eq!(epic.status()["cost_usd"], 0.8);
    assert!(show(&epic, "docs/sprints/epic-1-retro.md").contains("0.8000 USD"));
}

/// A party holds the retrospective; one voice fails, and the order of the others does not matter.
#[test]
fn a_party_holds_the_retrospective() {
    let voice = |who: &str, round: u32, gotchas: &Value| {
        let line = result("retro", &json!({"retro": {"gotchas": gotchas}}));
        line.replace("* retro * |", &format!("* retro * {who} {round} |"))
    };
    let epic = Epic::new(&["1-1-a"]);
    let script = voice("winston", 1, &json!(["Only in the first round"]))
        + &voice("winston", 2, &json!(["Times are UTC", "By winston"]))
        + &voice("mary", 1, &json!([]))
        + &voice("mary", 2, &json!(["By mary", "times are utc."]))
        + "* retro * bob * | exit 1\n";
    epic.script(&script);
    run(&epic, &["--party-retro", "--party-agents", "winston,mary,bob"]).ok();
    let handoff = show(&epic, "docs/handoffs/epic-1-handoff.md");
    let gotchas: Vec<&str> = handoff
        .split("## Gotchas")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert_eq!(gotchas.len(), 3, "{handoff}");
    assert!(gotchas[0].to_lowercase().contains("times are utc"), "{handoff}");
    assert!(!handoff.contains("Only in the first round"), "{handoff}");
    // No voice gives a usable answer.
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* retro * | exit 1");
    run(&epic, &["--party-retro", "--party-agents", "winston,mary"]).ok();
    assert!(show(&epic, "docs/sprints/epic-1-retro.md").contains("1 of 1 story is done"));
}

#[test]
fn dry_run_shows_the_closing_steps() {
    let epic = Epic::new(&["1-1-a"]);
    let output = run(&epic, &["--uat", "quick", "--retro", "--dry-run", "--show-prompts"]).ok();
    for part in
        ["Write acceptance scenarios for epic 1", "Look back on epic 1", "No shell reads it"]
    {
        assert!(output.stdout.contains(part), "{part} is missing in {output}");
    }
    assert!(!epic.env.path(".handover/runs").exists());
}

fn eventful() -> Epic {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let call = call(&epic);
    let list = json!([auto("S1", "1-1-a.txt", "fixed"), manual()]);
    let with_call = |line: &str| line.replacen("| ", &format!("| {call} "), 1);
    epic.script(
        &(with_call(&scenarios(&list))
            + &with_call(&retro())
            + &with_call("epic-1 fix * | append 1-1-a.txt fixed print \"IMPLEMENTATION COMPLETE: epic-1\"\n")
            + &with_call("1-2-b dev * | write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n")
            + &with_call("* dev * | write {HANDOVER_STORY}.txt work print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"\n")
            + &with_call("* review * | print \"REVIEW PASSED: {HANDOVER_STORY}\"\n")),
    );
    epic
}

fn end_state(epic: &Epic) -> Vec<String> {
    let mut state = epic.states();
    let status = epic.status();
    state.push(status["closing"]["state"].to_string());
    state.push(status["uat"]["state"].to_string());
    state.extend(epic.subjects("handover/epic-1"));
    state.extend(lines(epic, "handover/epic-1"));
    state.extend(around(epic));
    let strategies = epic.env.run(["strategy", "list", "--json"]).ok().json();
    for strategy in strategies["strategies"].as_array().unwrap() {
        state.push(format!("{} {}", strategy["insight"], strategy["helpfulness"]));
    }
    state.sort();
    state
}

/// Other scenes kill the phases before the closing.
pub(super) const SCENE: Scene = Scene {
    command: |epic, more| epic.args(&[&CAT[..], more].concat()),
    flags: &["--uat", "quick", "--heal", "1", "--retro"],
    code: 3,
    skip: |journal| {
        let opened = |entry: &Value| entry["effect"] == "open" && entry["story"] == "epic-1";
        journal.iter().position(|entry| opened(&entry["entry"])).unwrap()
    },
    ..Scene::new(eventful, end_state)
};

mod dying {
    crate::runs::killed::killed!(super::super::SCENE, 4: first 1, second 2, third 3, fourth 4);
}

/// R14: an epic that is finished can still be closed.
#[test]
fn a_finished_epic_can_be_closed_later() {
    let epic = Epic::new(&["1-1-a"]);
    let status = "development_status:\n  1-1-a: ready-for-dev\n  epic-1-retrospective: optional\n";
    epic.env.write("docs/sprint-status.yaml", status);
    epic.commit_all("status");
    epic.run(&[]).ok();
    epic.script(&format!("{}{}", scenarios(&json!([auto("UAT-1", "1-1-a.txt", "work")])), retro()));
    run(&epic, &["--skip-done", "--retro", "--uat", "quick"]).ok();
    assert!(!show(&epic, "docs/uat/epic-1-uat.md").is_empty());
    assert!(epic.subjects("handover/epic-1")[0].contains("close epic 1"));
    let status = show(&epic, "docs/sprint-status.yaml");
    assert!(status.contains("epic-1-retrospective: done"), "{status}");
    let story = show(&epic, "docs/stories/1-1-a.md");
    assert!(story.contains("### Files Created\n\n- 1-1-a.txt"), "{story}");
}

/// R21: scenarios are about criteria that exist, and what has none is listed.
#[test]
fn scenarios_are_compared_with_the_criteria() {
    let epic = Epic::new(&["1-1-a"]);
    let text = super::story("1-1-a")
        + "\n## Acceptance Criteria\n\n1. It is a file\n2. It is nice\n3. It is fast\n";
    epic.env.write("docs/stories/1-1-a.md", text);
    epic.commit_all("criteria");
    let prompt = epic.env.folder().join("prompt");
    let mut wrong = auto("S1", "1-1-a.txt", "work");
    wrong["criterion"] = json!("1-1-a AC9");
    let half = json!({
        "id": "S2", "criterion": "1-1-a AC2", "kind": "semi", "argv": ["cat", "1-1-a.txt"],
        "expect": {"text": "work"}, "steps": ["Look at it"],
    });
    let first = scenarios(&json!([wrong])).replace("* uat * |", "* uat 1 |");
    let second = scenarios(&json!([auto("S1", "1-1-a.txt", "work"), half]))
        .replace("* uat * |", &format!("* uat 2 | echo-prompt {}", prompt.display()));
    epic.script(&(first + &second));
    run(&epic, &["--uat", "full"]).ok();
    let prompt = fs_err::read_to_string(prompt).unwrap();
    for part in
        ["1-1-a AC1: It is a file", "1-1-a AC3: It is fast", "has no AC9; it has AC1, AC2, AC3"]
    {
        assert!(prompt.contains(part), "{part} is missing in {prompt}");
    }
    let document = show(&epic, "docs/uat/epic-1-uat.md");
    for part in [
        "Without a scenario:\n\n- [ ] 1-1-a AC3: It is fast",
        "| 1-1-a AC1: It is a file | S1 | auto | passed |",
        "| 1-1-a AC2: It is nice | S2 | semi | the program's part passed; a person's part is open |",
    ] {
        assert!(document.contains(part), "{part} is missing in {document}");
    }
}
