//! Kickoffs: insights reach the developer, and no fault stops a story.

use super::{asked, prompt, recording, result};
use crate::runs::Epic;

fn note(epic: &Epic) -> String {
    let more = ",\"insights\":{\"architecture\":[\"note {HANDOVER_ROUND} of {HANDOVER_PERSONA}\"]}";
    recording(epic, "* kickoff *", &result("kickoff", "complete", more))
}

#[test]
fn insights_reach_the_developer() {
    let epic = Epic::new(&["1-1-a"]);
    let dev = recording(
        &epic,
        "* dev *",
        "write a.txt b result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\
         \"verdict\":\"complete\",\"summary\":\"all done\",\"reasoning\":{\"pivot\":\"DEADEND\",\"approach\":\"STRUGGLE\"}}'",
    );
    let review = recording(&epic, "* review *", "print \"REVIEW PASSED: 1-1-a\"");
    epic.script(&format!("{}{dev}{review}", note(&epic)));
    epic.run(&["--party-kickoff", "--party-review"]).ok();
    let voices = |phase: &str| {
        asked(&epic).into_iter().filter(|name| name.contains(phase)).collect::<Vec<_>>()
    };
    assert_eq!(
        voices("kickoff"),
        ["amelia.1", "amelia.2", "murat.1", "murat.2", "winston.1", "winston.2"]
            .map(|voice| format!("1-1-a.kickoff.1.{voice}"))
    );
    // The first round is blind; the second contains one's own statement, and apart from it those of the others.
    for first in voices("kickoff").iter().filter(|name| name.ends_with(".1")) {
        assert!(!prompt(&epic, first).contains("note 1 of"), "{first}");
    }
    let second = prompt(&epic, "1-1-a.kickoff.1.murat.2");
    assert!(second.contains("note 1 of winston") && second.contains("note 1 of amelia"));
    let (own, others) = second.split_once("### What the others say").unwrap();
    assert!(own.contains("note 1 of murat") && !others.contains("note 1 of murat"), "{second}");
    assert!(second.contains("You are Murat, Test Architect"), "{second}");
    // The developer gets the insights, and nothing about how the work will be reviewed.
    let dev = prompt(&epic, "1-1-a.dev.1..");
    for note in ["note 1 of winston", "note 2 of murat", "Architectural Notes"] {
        assert!(dev.contains(note), "{note}\n{dev}");
    }
    for word in ["Code Review", "severity", "REVIEW"] {
        assert!(!dev.contains(word), "{word}\n{dev}");
    }
    // The reviewers see it cold.
    for name in voices("review") {
        let review = prompt(&epic, &name);
        assert!(review.contains("You are seeing this code for the first time"), "{name}");
        assert!(review.contains("all done") && review.contains("+b"), "{review}");
        assert!(!review.contains("DEADEND") && !review.contains("STRUGGLE"), "{name}");
    }
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("## Story Kickoff Insights"), "{story}");
    assert!(story.contains("- note 1 of winston (Winston)"), "{story}");
    assert!(story.find("Kickoff Insights") < story.find("Dev Agent Record"));
}

#[test]
fn a_failed_kickoff_stops_nothing() {
    let bad = [
        "crash",
        "kill-self",
        "exit 1",
        "err \"invalid api key\" exit 1",
        "print \"KICKOFF COMPLETE: 9-9-z\"",
        "result '{\"nonce\":\"old\"}'",
        "result 'no json'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"kickoff\",\"verdict\":\"escalate\"}'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"kickoff\",\"verdict\":\"failed\"}'",
        "print \"IMPLEMENTATION BLOCKED: 1-1-a - x\"",
        "flood 3000000 invalid-utf8",
        "write README.md spoiled write sneaked.txt x print \"KICKOFF COMPLETE: 1-1-a\"",
        "ignore-term spawn-quiet 'setsid append-forever late.txt' hang",
    ];
    for (n, fault) in bad.iter().enumerate() {
        let epic = Epic::new(&["1-1-a"]);
        epic.script(&format!("* kickoff * | {fault}"));
        let agents = if n % 2 == 0 { "winston,murat" } else { "mary" };
        let more = ["--party-kickoff", "--party-agents", agents, "--idle-timeout", "1"];
        let output = epic.run(&more);
        assert_eq!(output.code, Some(0), "{fault}\n{output}");
        assert_eq!(epic.states(), ["done"], "{fault}");
        let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
        assert!(!files.contains("sneaked") && !files.contains("late"), "{fault}: {files}");
        assert_eq!(epic.git(&["show", "handover/epic-1:README.md"]), "a shop", "{fault}");
    }
}

#[test]
fn accepts_prose_and_solo_parties() {
    let epic = Epic::new(&["1-1-a"]);
    let kickoff = recording(
        &epic,
        "* kickoff *",
        "print '### Testing Approach' print '- one test per rule' print \"KICKOFF COMPLETE: 1-1-a\"",
    );
    let dev = recording(&epic, "* dev *", "write a.txt b print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    epic.script(&format!("{kickoff}{dev}"));
    epic.run(&["--party-kickoff", "--party-solo"]).ok();
    assert_eq!(asked(&epic), ["1-1-a.dev.1..", "1-1-a.kickoff.1.party.1"]);
    let solo = prompt(&epic, "1-1-a.kickoff.1.party.1");
    for name in ["Winston, System Architect", "Amelia, Senior Engineer", "Murat, Test Architect"] {
        assert!(solo.contains(name), "{solo}");
    }
    assert!(prompt(&epic, "1-1-a.dev.1..").contains("one test per rule"));
}

#[test]
fn dry_run_shows_the_prompt_of_every_voice() {
    let epic = Epic::new(&["1-1-a"]);
    let shown = epic.run(&["--party-all", "--dry-run", "--show-prompts"]).ok().stdout;
    for part in [
        "prompt of 1-1-a, kickoff, winston",
        "prompt of 1-1-a, dev",
        "prompt of 1-1-a, review, murat",
        "You are Amelia, Senior Engineer",
        "You are seeing this code for the first time",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let plan = epic.run(&["--party-review", "--dry-run", "--show-prompts", "--json"]).ok().json();
    let prompts = plan["plan"]["stories"][0]["prompts"].as_array().unwrap();
    let who: Vec<(&str, &str)> = prompts
        .iter()
        .map(|p| (p["phase"].as_str().unwrap(), p["persona"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(
        who,
        [("dev", ""), ("review", "winston"), ("review", "murat"), ("review", "amelia")]
    );
    assert!(!epic.env.path(".handover/runs").exists());
    let error = epic.run(&["--party-all", "--party-agents", "nobody", "--json"]).fails(2).error();
    assert_eq!(error["code"], "not_found");
    epic.run(&["--party-agents", "winston"]).fails(2);
    epic.run(&["--party-review", "--skip-review"]).fails(2);
}

/// R8: what a kickoff found survives a story that got nowhere, and is not paid for again.
#[test]
fn a_kickoff_survives_a_blocked_story_without_work() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&format!(
        "{}* dev 1 | print \"IMPLEMENTATION BLOCKED: 1-1-a - no database\"\n\
         * analysis * | {}",
        note(&epic),
        result("analysis", "skip", ",\"analysis\":{\"root_cause\":\"the database is down\"}")
    ));
    epic.run(&["--party-kickoff", "--party-failure", "--party-agents", "winston,murat"]).fails(1);
    let kept = epic.git(&["show", "handover/failed/1-1-a:docs/stories/1-1-a.md"]);
    assert!(
        kept.contains("Story Kickoff Insights") && kept.contains("note 2 of winston"),
        "{kept}"
    );
    assert!(kept.contains("Failure Analysis Record"), "{kept}");
    // The next run knows all of it.
    let before = asked(&epic).len();
    let dev = recording(&epic, "* dev *", "write a.txt b print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    epic.script(&format!("{}{dev}", note(&epic)));
    epic.run(&["--party-kickoff", "--party-agents", "winston,murat"]).ok();
    let again: Vec<String> = asked(&epic).into_iter().filter(|it| it.contains("kickoff")).collect();
    assert_eq!(again.len(), before, "the kickoff was paid for again");
    let dev = prompt(&epic, "1-1-a.dev.1..");
    for part in ["note 2 of winston", "the database is down", "handover/failed/1-1-a"] {
        assert!(dev.contains(part), "{part} is missing in {dev}");
    }
}
