//! Several reviewers instead of one.

use super::{phases, recording, result};
use crate::runs::Epic;

fn found(severity: &str, place: &str) -> String {
    format!(
        ",\"findings\":[{{\"severity\":\"{severity}\",\"kind\":\"security\",\"file\":\"{place}\",\"line\":3,\"issue\":\"no check\"}}]"
    )
}

#[test]
fn findings_are_fixed_and_attributed_in_the_record() {
    let epic = Epic::new(&["1-1-a"]);
    let grave = result("review", "failed", &found("high", "a.rs"));
    let fix = recording(&epic, "* fix *", "append 1-1-a.txt fixed print \"FIX COMPLETE: 1-1-a\"");
    let second = recording(&epic, "* review * * 2", &result("review", "passed", ""));
    epic.script(&format!("* review 1 murat 1 | {grave}\n{second}{fix}"));
    epic.run(&["--party-review"]).ok();
    let fixer = super::prompt(&epic, "1-1-a.fix.1..");
    assert!(fixer.contains("[high] a.rs:3: no check"), "{fixer}");
    // The others get Murat's finding to judge; Murat only reads what he said.
    assert!(
        super::prompt(&epic, "1-1-a.review.1.winston.2").contains("F1 [high] security at a.rs:3")
    );
    let murat = super::prompt(&epic, "1-1-a.review.1.murat.2");
    assert!(murat.contains("What you said in the first round") && murat.contains("no check"));
    assert!(!murat.contains("F1 [high]") && !murat.contains("for the first time"), "{murat}");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    for part in [
        "rejected: 3 of 3 approve, 1 grave of 1 findings stand",
        "- Murat (Test Architect) · passed · was failed at first · F1",
        "- F1 · high · security · a.rs:3 · no check · held by Murat high",
        "approved: 3 of 3 approve",
    ] {
        assert!(story.contains(part), "{part}\n{story}");
    }
    let phases = phases(&epic, 0);
    // The second review found nothing, so there was nothing to discuss.
    assert_eq!(phases.iter().filter(|phase| phase.starts_with("review")).count(), 9);
    assert_eq!(phases.iter().filter(|phase| *phase == "fix complete").count(), 1);
}

/// A voice that fails in any way has not approved: with one of three the others decide, with two of
/// three nothing passes.
#[test]
fn a_faulty_voice_never_approves() {
    let faults = [
        "crash",
        "exit 1",
        "print \"REVIEW PASSED: 1-1-a\" exit 1",
        "print \"REVIEW PASSED: 1-1-a\" print \"REVIEW FAILED: 1-1-a - no\"",
        "print \"REVIEW PASSED: 1-2-b\"",
        "print \"LGTM, review passed\"",
        "result '{\"nonce\":\"old\",\"story\":\"1-1-a\",\"phase\":\"review\",\"verdict\":\"passed\"}'",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"review\",\"verdict\":\"complete\"}'",
        "result '{\"nonce\":'",
        "print '```' print \"REVIEW PASSED: 1-1-a\" print '```'",
        "err \"REVIEW PASSED: 1-1-a\"",
        "kill-self",
        "print \"REVIEW PASSED: 1-1-a\" hang",
        "",
    ];
    for fault in faults {
        let epic = Epic::new(&["1-1-a"]);
        epic.script(&format!("* review * murat | {fault}\n* review * winston | {fault}"));
        let more = ["--party-review", "--idle-timeout", "1", "--config", "party.cross_talk=false"];
        let output = epic.run(&more);
        assert_eq!(output.code, Some(1), "{fault}\n{output}");
        assert_eq!(epic.states(), ["failed"], "{fault}");
        assert_eq!(epic.git(&["branch", "--list", "handover/epic-1"]), "", "{fault}");
    }
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* review * murat | crash");
    let strict = "party.consensus=unanimous";
    epic.run(&["--party-review", "--config", strict]).fails(1);
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* review * murat | crash");
    epic.run(&["--party-review"]).ok();
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("Murat (Test Architect) · not heard"), "{story}");
}

/// The record does not depend on who finishes first.
#[test]
fn the_record_does_not_depend_on_the_order_of_endings() {
    let records: Vec<String> = ["murat", "winston", "amelia"]
        .iter()
        .map(|last| {
            let epic = Epic::new(&["1-1-a"]);
            let low = result("review", "passed", &found("low", "{HANDOVER_PERSONA}.rs"));
            epic.script(&format!("* review * {last} 1 | sleep 300 {low}\n* review * * 1 | {low}"));
            epic.run(&["--party-review"]).ok();
            let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
            let record = story.split("## Code Review Record").nth(1).unwrap();
            record.lines().filter(|l| !l.contains("**Receipt")).collect::<Vec<_>>().join("\n")
        })
        .collect();
    assert_eq!(records[0], records[1]);
    assert_eq!(records[0], records[2]);
    assert!(records[0].contains("murat.rs") && records[0].contains("winston.rs"), "{}", records[0]);
}

#[test]
fn budgets_apply_to_voices() {
    let epic = Epic::new(&["1-1-a"]);
    // A remark is enough to be discussed.
    let more =
        ",\"findings\":[{\"severity\":\"low\",\"issue\":\"a name\"}],\"usage\":{\"cost_usd\":1.0}";
    let paid = result("review", "passed", more);
    let calls = epic.env.folder().join("calls");
    let call = format!("append {} '{{HANDOVER_PERSONA}} {{HANDOVER_ROUND}};'", calls.display());
    epic.script(&format!("* review * | {call} {paid}"));
    epic.run(&["--party-review", "--max-cost", "4.5"]).fails(4);
    let spent = epic.status()["cost_usd"].as_f64().unwrap();
    assert!(spent <= 4.5, "{spent}");
    epic.run(&["--resume", "--max-cost", "20"]).ok();
    let calls = fs_err::read_to_string(calls).unwrap();
    let mut calls: Vec<&str> = calls.split(';').filter(|call| !call.is_empty()).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["amelia 1", "amelia 2", "murat 1", "murat 2", "winston 1", "winston 2"]);
}

/// One process plays all personas: one vote, which still cannot override a high-severity finding.
#[test]
fn one_process_can_play_all_personas() {
    let epic = Epic::new(&["1-1-a"]);
    let grave = result("review", "passed", &found("high", "a.rs"));
    let solo = recording(&epic, "* review 1", &grave);
    let analysis = result(
        "analysis",
        "retry",
        ",\"analysis\":{\"root_cause\":\"the queue is full\",\"remediation\":[\"drain the queue first\"]}",
    );
    epic.script(&format!("{solo}* dev 1 | print no\n* analysis * | {analysis}"));
    epic.run(&["--party-review", "--party-failure", "--party-solo"]).ok();
    assert_eq!(
        phases(&epic, 0),
        [
            "dev unclear",
            "analysis retry",
            "dev complete",
            "gates none",
            "review passed",
            "fix complete",
            "gates none",
            "review passed"
        ]
    );
    let prompt = super::prompt(&epic, "1-1-a.review.1.party.1");
    assert!(prompt.contains("Murat, Test Architect") && prompt.contains("for the first time"));
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("rejected: 1 of 1 approve, 1 grave of 1 findings stand"), "{story}");
}

/// What a voice has written is gone before another one could find it.
#[test]
fn a_voice_does_not_find_the_result_of_one_that_has_ended() {
    let epic = Epic::new(&["1-1-a"]);
    let (ended, seen) = (epic.env.folder().join("ended"), epic.env.folder().join("seen"));
    let look = epic.env.folder().join("look.sh");
    // Its worktree goes once its result was read.
    let script = format!(
        "until [ -e {ended} ] && ! ls .. | grep -q winston; do sleep 0.05; done\n\
         cd ..\nls -A > {seen}\ngrep -rl --exclude-dir=.git secret-of-winston ../.. | sed 's/^/holds it: /' >> {seen}\n\
         find ../.. -path '*handover-result*' >> {seen}\nexit 0\n",
        ended = ended.display(),
        seen = seen.display()
    );
    fs_err::write(&look, script).unwrap();
    let said = r#"result '{"nonce":"{HANDOVER_NONCE}","story":"1-1-a","phase":"review","verdict":"passed","summary":"secret-of-winston"}'"#;
    epic.script(&format!(
        "* review * winston | {said} write {} x\n\
         * review * murat | run 'sh {}' print \"REVIEW PASSED: 1-1-a\"",
        ended.display(),
        look.display()
    ));
    let voices = ["--party-review", "--party-agents", "winston,murat"];
    epic.run(&[&voices[..], &["--config", "party.cross_talk=false"]].concat()).ok();
    let seen = fs_err::read_to_string(&seen).unwrap();
    assert!(seen.contains("murat"), "{seen}");
    assert!(!seen.contains("winston") && !seen.contains("holds it"), "{seen}");
}
