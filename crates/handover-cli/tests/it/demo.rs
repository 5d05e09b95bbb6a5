//! `handover demo`: what it shows must prove what it says.

use std::time::{Duration, Instant};

use handover_testkit::{Demo, TestEnv};

use crate::watch::on_terminal;

fn played(args: &[&str]) -> String {
    let env = TestEnv::empty(crate::handover());
    env.run([&["demo", "--fast"], args].concat()).ok().stdout
}

#[test]
fn what_the_second_agent_was_given_is_what_it_used() {
    let env = TestEnv::empty(crate::handover());
    let demo = env.run(["demo", "--fast"]).ok();
    let (said, shown) = (&demo.stderr, &demo.stdout);
    // The agent opens the file that its brief names, and the receipt says so.
    assert!(said.contains("reading docs/tax.md: Accounting rounds tax on each line"), "{demo}");
    let receipt = shown.split("$ handover receipt show").nth(1).unwrap();
    assert!(receipt.contains("“How accounting rounds tax”"), "{receipt}");
    assert!(receipt.contains("           named") && !receipt.contains("unused"), "{receipt}");
    // A first attempt at another task is a first attempt, under one name.
    assert!(receipt.contains("of group invoice, attempt 1"), "{receipt}");
    assert!(shown.contains("to developer (attempt 1)") && !shown.contains("iteration"), "{shown}");
    assert!(!shown.contains("score 0"), "{shown}");
    // Whatever agents found, decided and solved is found.
    let found = shown.split("$ handover search ").nth(1).unwrap();
    for kind in ["\npackage 1  docs/tax.md", "\nreasoning ", "\nerror "] {
        assert!(found.contains(kind), "{kind:?}: {found}");
    }
    // The debrief as the agent wrote it.
    assert!(said.contains("\n  decisions: \"tax is rounded"), "{demo}");
    assert!(shown.contains("10 + 10") && shown.contains("10 + 4"), "{shown}");
}

#[test]
fn the_epics_leave_strategies_that_are_lessons() {
    let shown = played(&["--epic"]);
    let strategies = shown.split("$ handover strategy list").nth(1).unwrap();
    assert!(strategies.contains("look for it in the greetings first"), "{strategies}");
    for deed in ["is seen off", "is greeted", "typo is fixed"] {
        assert!(!strategies.contains(deed), "{strategies}");
    }
    assert!(
        shown.contains("$ handover run 2 1 --uat quick") && shown.contains("$ handover run uat 1")
    );
    assert!(!shown.contains("handover chain") && !shown.contains("Chain:"), "{shown}");
    assert!(shown.contains("2 epics: done, "), "{shown}");
    // What takes less than a second takes some of it.
    let first = shown.lines().find(|line| line.starts_with("1     done")).unwrap();
    assert!(first.contains(" s  ") && !first.contains(" 0.0 s"), "{first}");
}

#[test]
fn agents_of_the_epics_use_what_they_are_given_and_all_of_them_cost() {
    let env = TestEnv::empty(crate::handover());
    let demo = env.run(["demo", "--fast", "--epic"]).ok();
    assert!(!demo.stderr.contains("warning:"), "{demo}");
    let found = demo.stdout.split("$ handover package show docs/greetings.md").nth(1).unwrap();
    let mut given = found.lines().filter(|line| line.contains(" to developer (attempt "));
    assert!(given.any(|line| line.ends_with(", named") || line.ends_with(", echoed")), "{found}");
    let shown = demo.stdout;
    let stats = shown.split("$ handover stats").nth(1).unwrap();
    let used = stats.lines().find(|line| line.starts_with("  kind     package ")).unwrap();
    assert!(used.contains("used ") && !used.contains("used 0 of"), "{stats}");
    assert!(!stats.contains("0 packages"), "{stats}");
    // Acceptance and retrospective too: as much as both epics together, and what the scenarios took later.
    let epics = shown.split("2 epics: done, ").nth(1).unwrap().split(',').next().unwrap();
    let cost = stats.lines().find(|line| line.starts_with("Cost ")).unwrap();
    assert!(cost.contains(epics), "{epics}: {stats}");
    for phase in ["uat", "retro"] {
        assert!(stats.contains(&format!("  phase  {phase} ")), "{phase}: {stats}");
    }
}

/// The first number after a title.
fn figure(page: &str, title: &str) -> f64 {
    let after = page.split(title).nth(1).unwrap_or_else(|| panic!("no {title}"));
    let mut texts = after.split(['<', '>']).map(|text| text.trim_start_matches('$'));
    let text = texts.find(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let text = text.unwrap_or_default();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().unwrap_or_else(|_| panic!("{title}: {text}"))
}

#[test]
fn the_figures_of_the_page_are_those_of_a_project_that_works() {
    let demo = Demo::start(crate::handover().as_ref());
    let page = demo.get("/");
    assert!(figure(&page, "Share of briefs used") >= 20.0, "{page}");
    // What agents cost fits the fraction of a second that they work.
    assert!(figure(&page, "Cost by day") <= 0.2, "{page}");
}

#[test]
fn q_ends_the_pauses_of_an_agent_too_and_is_not_echoed() {
    let env = TestEnv::empty(crate::handover());
    let begin = Instant::now();
    // The first two pauses, then a key while the agent works: it would take ten more seconds.
    let output = on_terminal(&env, "demo", &[(1_500, " "), (700, " "), (2_500, "q")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(begin.elapsed() < Duration::from_secs(12), "{output}");
    assert!(output.stdout.contains("10 + 4"), "{output}");
    let echoed = |line: &str| line.trim_start().starts_with('q');
    assert!(!output.stdout.lines().any(echoed), "{output}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_a_way_out() {
    let mut env = TestEnv::empty(crate::handover());
    env.set("TMPDIR", "/proc/nowhere");
    let demo = env.run(["demo", "--fast"]).fails(5);
    assert!(demo.stderr.contains("hint: Make the folder for temporary files writable"), "{demo}");
}
