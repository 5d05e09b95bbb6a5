//! `handover run` with several epics: epics in order, each with the handoffs of its dependencies.

use serde_json::{Value, json};

use super::killed::{Scene, around, lines};
use super::{Epic, story};

/// Epics 1, 2 and 3: the second builds on the first, the third on nothing.
fn chain() -> Epic {
    let epic = Epic::new(&["1-1-greet"]);
    epic.env.write("docs/epics/epic-2-more.md", "# Epic 2: More\n\n## Dependencies\n\n- Epic 1\n");
    epic.env.write("docs/epics/epic-3-alone.md", "# Epic 3: Alone\n");
    for id in ["2-1-greet-louder", "3-1-alone"] {
        epic.env.write(&format!("docs/stories/{id}.md"), story(id));
    }
    epic.commit_all("epics");
    epic
}

fn retro(epic: &str, gotcha: &str) -> String {
    let result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": format!("epic-{epic}"), "phase": "retro", "verdict": "complete",
        "summary": "so", "retro": {"summary": format!("Epic {epic} taught."), "gotchas": [gotcha],
            "patterns": [{"text": "Every greeting ends with a mark", "file": "1-1-greet.txt"}]},
    });
    format!("epic-{epic} retro * | result '{result}'\n")
}

fn run(epic: &Epic, epics: &[&str], more: &[&str]) -> handover_testkit::Output {
    let agent = epic.agent();
    epic.env.run([&["chain"], epics, &["--agent-command", &agent], more].concat())
}

fn last(output: &handover_testkit::Output) -> Value {
    serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn each_epic_starts_where_its_dependencies_ended_with_their_handoffs() {
    let epic = chain();
    let prompts = epic.env.folder().join("prompt");
    let script = retro("1", "Greetings must be louder than 3 decibels")
        + &retro("2", "none")
        + &format!(
            "2-1-greet-louder dev * | echo-prompt {} write 2.txt x print \"IMPLEMENTATION COMPLETE: 2-1-greet-louder\"\n\
             3-1-alone dev * | echo-prompt {}.3 write 3.txt x print \"IMPLEMENTATION COMPLETE: 3-1-alone\"\n",
            prompts.display(),
            prompts.display()
        );
    epic.script(&script);
    let output = run(&epic, &["2", "3", "1"], &["--json"]).ok();
    let end = last(&output);
    assert_eq!(end["type"], "chain_ended");
    let order: Vec<&str> = end["chain"]["epics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epic| epic["epic"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["3", "1", "2"]);
    assert_eq!(end["chain"]["state"], "done");
    // Epic 2 builds on the end of epic 1, epic 3 on nothing.
    let ahead =
        |one: &str, other: &str| epic.git(&["rev-list", "--count", &format!("{one}..{other}")]);
    assert_eq!(ahead("handover/epic-2", "handover/epic-1"), "0");
    assert_eq!(ahead("handover/epic-1", "handover/epic-2"), "2");
    assert_eq!(ahead("main", "handover/epic-3"), "2");
    // The handoff is in the prompts that need it, and nowhere else.
    let text = fs_err::read_to_string(&prompts).unwrap();
    for part in ["Epic 1 taught", "Greetings must be louder than 3 decibels"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let alone = fs_err::read_to_string(epic.env.folder().join("prompt.3")).unwrap();
    assert!(!alone.contains("Epic 1 taught") && !alone.contains("decibels"), "{alone}");
    let packages = epic.env.run(["package", "list", "--session", "epic-2", "--json"]).ok().json();
    let kinds = packages["packages"].as_array().unwrap();
    assert!(
        kinds.len() >= 3 && kinds.iter().all(|package| package["kind"] == "handoff"),
        "{packages}"
    );
    // A plain run of a dependent epic gets the handoff as well.
    assert_eq!(epic.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_failed_epic_stops_only_its_dependents() {
    let epic = chain();
    epic.script("1-1-greet dev * | write a b print nothing");
    let output = run(&epic, &["1", "2", "3"], &["--json"]).fails(1);
    let end = last(&output);
    let states: Vec<(&str, &str)> = end["chain"]["epics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epic| (epic["epic"].as_str().unwrap(), epic["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("1", "failed"), ("2", "blocked"), ("3", "done")]);
    assert_eq!(end["chain"]["epics"][0]["failures"][0]["story"], "1-1-greet");
    assert_eq!(end["chain"]["epics"][1]["reason"], "waits for epic `1`");
    let text = run(&epic, &["1", "2", "3"], &[]).fails(1);
    assert!(text.stdout.contains("1-1-greet failed"), "{text}");
}

#[test]
fn rejects_cycles_and_duplicates() {
    let epic = chain();
    let refused = |epics: &[&str], code: &str, part: &str| {
        let error = run(&epic, epics, &["--json"]).fails(2).error();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    };
    refused(&["1", "epic-1"], "invalid_input", "twice");
    refused(&["1", "9"], "not_found", "9");
    epic.env.write("docs/epics/epic-1-shop.md", "---\ndepends_on: [2]\n---\n# Epic 1: Shop\n");
    refused(&["1", "2"], "dependencies", "1 → 2 → 1");
    epic.env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
    let before = epic.git(&["for-each-ref"]);
    let plan = run(&epic, &["2", "1"], &["--dry-run", "--json"]).ok().json();
    assert_eq!(plan["chain"]["epics"][0]["epic"], "1");
    assert_eq!(plan["chain"]["epics"][1]["builds_on"], json!(["1"]));
    assert_eq!(epic.git(&["for-each-ref"]), before);
    assert!(!epic.env.path(".handover/runs").exists());
}

#[test]
fn merges_several_dependencies() {
    let epic = chain();
    epic.env.write("docs/epics/epic-4-all.md", "# Epic 4: All\n\nDepends on: Epic 2, Epic 3\n");
    epic.env.write("docs/stories/4-1-all.md", story("4-1-all"));
    run(&epic, &["4", "3", "2", "1"], &[]).ok();
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-4"]);
    for file in ["1-1-greet.txt", "2-1-greet-louder.txt", "3-1-alone.txt", "4-1-all.txt"] {
        assert!(files.contains(file), "{file} is missing in {files}");
    }
    // A failed merge fails the epic and nothing else.
    let epic = chain();
    epic.env.write("docs/epics/epic-4-all.md", "# Epic 4: All\n\nDepends on: Epic 1, Epic 3\n");
    epic.env.write("docs/stories/4-1-all.md", story("4-1-all"));
    epic.script(
        "1-1-greet dev * | write same.txt one print \"IMPLEMENTATION COMPLETE: 1-1-greet\"\n\
         3-1-alone dev * | write same.txt two print \"IMPLEMENTATION COMPLETE: 3-1-alone\"",
    );
    let output = run(&epic, &["1", "3", "4", "2"], &["--json"]).fails(1);
    let end = last(&output);
    let four = &end["chain"]["epics"][2];
    assert_eq!((&four["epic"], &four["state"]), (&json!("4"), &json!("failed")));
    assert!(four["reason"].as_str().unwrap().contains("same lines"), "{four}");
    assert_eq!(end["chain"]["epics"][3]["state"], "done");
}

#[test]
fn max_cost_limits_the_whole_chain() {
    let epic = chain();
    let paid = |phase: &str, verdict: &str| {
        format!(
            "* {phase} * | write {{HANDOVER_STORY}}.txt work result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\"verdict\":\"{verdict}\",\"usage\":{{\"cost_usd\":0.4}}}}'\n"
        )
    };
    epic.script(
        &(paid("dev", "complete") + &paid("review", "passed") + &paid("retro", "complete")),
    );
    let output = run(&epic, &["1", "2"], &["--max-cost", "1.6", "--json"]).fails(4);
    let end = last(&output);
    assert_eq!(
        (&end["chain"]["state"], &end["chain"]["cost_usd"]),
        (&json!("budget"), &json!(1.6))
    );
    let output = run(&epic, &["1", "2"], &["--max-cost", "5", "--json", "--resume"]).ok();
    let cost = last(&output)["chain"]["cost_usd"].as_f64().unwrap();
    assert!((cost - 2.4).abs() < 1e-9, "{cost}");
}

/// The results of a chain, without ids and times.
fn end_state(epic: &Epic) -> Vec<String> {
    let mut state = around(epic);
    for number in ["1", "2"] {
        let branch = format!("handover/epic-{number}");
        state.extend(epic.subjects(&branch));
        state.extend(lines(epic, &branch));
    }
    let sessions = epic.env.run(["session", "list", "--json"]).ok().json();
    for session in sessions["sessions"].as_array().unwrap() {
        state.push(format!("{} {}", session["id"], session["status"]));
    }
    state.sort();
    state
}

fn taught() -> Epic {
    let epic = chain();
    epic.script(&(retro("1", "a") + &retro("2", "b")));
    epic
}

/// Journals of both epics have the same length, and either engine dies in the first that reaches it.
pub(super) const SCENE: Scene = Scene {
    command: |epic, more| {
        let agent = epic.agent();
        let args = [&["chain", "1", "2", "--agent-command", &agent], more].concat();
        args.into_iter().map(str::to_owned).collect()
    },
    ..Scene::new(taught, end_state)
};

mod dying {
    crate::runs::killed::killed!(super::super::SCENE, 4: first 1, second 2, third 3, fourth 4);
}

/// Killed in the second epic: the first is not done again.
#[test]
fn a_finished_epic_is_not_repeated() {
    let epic = chain();
    let calls = epic.env.folder().join("calls");
    let ready = epic.env.folder().join("ready");
    epic.script(&format!(
        "2-1-greet-louder dev 1 | write {} x hang\n\
         * dev * | append {} '{{HANDOVER_STORY}};' write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        ready.display(),
        calls.display()
    ));
    let agent = epic.agent();
    let mut engine = epic.env.start(["chain", "1", "2", "3", "--agent-command", &agent]);
    while !ready.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    engine.kill().unwrap();
    engine.wait().unwrap();
    let refused = run(&epic, &["1", "2", "3"], &["--json"]).fails(2);
    assert_eq!(refused.error()["code"], "unfinished_run");
    epic.script(&format!(
        "* dev * | append {} '{{HANDOVER_STORY}};' write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        calls.display()
    ));
    run(&epic, &["1", "2", "3"], &["--resume"]).ok();
    let text = fs_err::read_to_string(calls).unwrap();
    assert_eq!(text, "1-1-greet;2-1-greet-louder;3-1-alone;");
    // A finished chain starts over.
    let again = run(&epic, &["1", "2", "3"], &["--skip-done", "--json"]).ok();
    assert_eq!(last(&again)["chain"]["cost_usd"], 0.0);
}

/// R2: a chain that has ended can be resumed; what is done stays done, and answers count.
#[test]
fn resuming_a_chain_that_has_ended_continues_with_the_answers() {
    let epic = chain();
    let calls = epic.env.folder().join("calls");
    let work = format!(
        "append {} '{{HANDOVER_STORY}};' write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        calls.display()
    );
    epic.script(&format!(
        "1-1-greet dev 1 | write half.txt x result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"1-1-greet\",\"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"How loud?\"}}'\n\
         * dev * | {work}"
    ));
    let end = last(&run(&epic, &["1", "2", "3"], &["--json"]).fails(3));
    let states = |end: &Value| -> Vec<String> {
        let epics = end["chain"]["epics"].as_array().unwrap();
        epics.iter().map(|epic| epic["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(states(&end), ["blocked", "blocked", "done"]);
    // Nothing was answered: nothing changes, and nobody works again.
    let end = last(&run(&epic, &["1", "2", "3"], &["--resume", "--json"]).fails(3));
    assert_eq!(states(&end), ["blocked", "blocked", "done"]);
    epic.env.run(["answer", "1-1-greet", "Very loud."]).ok();
    let end = last(&run(&epic, &["1", "2", "3"], &["--resume", "--json"]).ok());
    assert_eq!(states(&end), ["done", "done", "done"]);
    let worked = fs_err::read_to_string(&calls).unwrap();
    assert_eq!(worked, "3-1-alone;1-1-greet;2-1-greet-louder;");
    assert_eq!(epic.git(&["show", "handover/epic-1:half.txt"]), "x");
    let end = last(&run(&epic, &["1", "2", "3"], &["--resume", "--json"]).ok());
    assert_eq!(states(&end), ["done", "done", "done"]);
    assert_eq!(fs_err::read_to_string(&calls).unwrap(), worked);
}

/// R22: an epic that builds on one that never ran is not run without a word.
#[test]
fn a_dependency_that_never_ran_is_named() {
    let epic = chain();
    let output = run(&epic, &["2", "3"], &[]).ok();
    assert!(output.stderr.contains("epic 2 builds on epic 1, which has never run"), "{output}");
}

#[test]
fn run_with_several_epics_is_a_chain() {
    let epic = chain();
    let words = ["run", "2", "1", "--agent-command", &epic.agent(), "--json"];
    let end = last(&epic.env.run(words).ok());
    assert_eq!(end["type"], "chain_ended");
    assert_eq!(end["chain"]["epics"][0]["epic"], "1", "{end}");
    let output = epic.env.run(["run", "abandon", "1", "2"]).fails(2);
    assert!(output.stderr.contains("one epic too many: `2`"), "{output}");
}
