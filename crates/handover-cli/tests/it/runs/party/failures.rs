//! Failure analysis: retry with new advice, skip, or a question for a person.

use super::{asked, phases, prompt, recording, result};
use crate::runs::{Epic, story};

/// A developer that fails until it gets advice.
fn fails_until(epic: &Epic, signal: &str) -> String {
    let again = recording(
        epic,
        "* dev *",
        "write a.txt b print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"",
    );
    let first = recording(epic, "1-1-a dev 1", &format!("write a.txt b print \"{signal}\""));
    format!("{first}{again}")
}

fn says(verdict: &str, remediation: &str) -> String {
    let more = format!(
        ",\"analysis\":{{\"root_cause\":\"the handler unwraps a header\",\"class\":\"implementation\",\"remediation\":[\"{remediation}\"]}}"
    );
    result("analysis", verdict, &more)
}

#[test]
fn retries_with_new_advice() {
    let epic = Epic::new(&["1-1-a"]);
    let analysis =
        recording(&epic, "* analysis *", &says("retry", "return 400 for an absent token"));
    epic.script(&format!("{}{analysis}", fails_until(&epic, "no verdict here")));
    epic.run(&["--party-failure"]).ok();
    let analyst = prompt(&epic, "1-1-a.analysis.1.bob.1");
    assert!(analyst.contains("dev 1: it gave no verdict"), "{analyst}");
    assert!(analyst.contains("You are Bob, Scrum Master"), "{analyst}");
    assert!(!analyst.contains("unwraps"), "{analyst}");
    assert!(prompt(&epic, "1-1-a.analysis.1.bob.2").contains("the handler unwraps a header"));
    let dev = prompt(&epic, "1-1-a.dev.2..");
    assert!(dev.contains("return 400 for an absent token"), "{dev}");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    for part in [
        "## Failure Analysis Record",
        "- **Recommendation:** retry",
        "- Bob (Scrum Master) · retry: the handler unwraps a header",
        "- return 400 for an absent token",
    ] {
        assert!(story.contains(part), "{part}\n{story}");
    }
    // The solution is an error pattern now.
    let errors = epic.env.run(["error", "list", "--json"]).ok().json();
    let known = errors["errors"].as_array().unwrap();
    assert_eq!(known.len(), 1, "{errors}");
    assert!(known[0]["solution"].as_str().unwrap().contains("return 400"), "{errors}");
    // Reviewers do not see the advice.
    assert!(!phases(&epic, 0).contains(&"review failed".to_owned()));
}

#[test]
fn configuration_enables_a_single_analyst() {
    let epic = Epic::new(&["1-1-a"]);
    let analysis = recording(
        &epic,
        "* analysis *",
        "print 'Root cause: the port is taken' print 'Remediation:' print '- bind to port zero' \
         print \"ANALYSIS COMPLETE: 1-1-a - Retry\"",
    );
    epic.script(&format!("{}{analysis}", fails_until(&epic, "no")));
    epic.run(&["--config", "runs.analysis=true"]).ok();
    assert_eq!(asked(&epic), ["1-1-a.analysis.1..", "1-1-a.dev.1..", "1-1-a.dev.2.."]);
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("bind to port zero"));
    // Off unless asked for.
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&fails_until(&epic, "no"));
    epic.run(&[]).fails(1);
    assert_eq!(asked(&epic), ["1-1-a.dev.1.."]);
}

#[test]
fn advice_without_news_becomes_a_question() {
    for (remediation, max, dev_calls) in [
        // The advice contains nothing new.
        ("try again, and be careful", "5", 1),
        // The advice is new, and the same failure recurs.
        ("return 400 for an absent token", "5", 2),
        // No retries are left.
        ("return 400 for an absent token", "0", 1),
    ] {
        let epic = Epic::new(&["1-1-a"]);
        let analysis = recording(&epic, "* analysis *", &says("retry", remediation));
        let dev = recording(&epic, "* dev *", "write a.txt b print no");
        let analysis = analysis.replace("the handler unwraps a header", "it failed");
        epic.script(&format!("{dev}{analysis}"));
        let max = format!("runs.max_retries={max}");
        let output = epic.run(&["--party-failure", "--party-agents", "bob", "--config", &max]);
        assert_eq!(output.code, Some(3), "{remediation}: {output}");
        assert_eq!(epic.states(), ["blocked"]);
        let devs = asked(&epic).iter().filter(|name| name.contains(".dev.")).count();
        assert_eq!(devs, dev_calls, "{remediation}");
        let question = epic.status()["stories"][0]["question"].clone();
        assert!(question.as_str().is_some_and(|q| !q.is_empty()), "{question}");
    }
}

#[test]
fn a_skipped_story_blocks_its_dependents() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    let waits = story("1-2-b").replace("\n## Tasks", "\nDepends on: 1.1\n\n## Tasks");
    epic.env.write("docs/stories/1-2-b.md", waits);
    epic.commit_all("depends");
    let analysis = says("skip", "do the other one first");
    epic.script(&format!("* analysis * | {analysis}\n1-1-a dev * | print no"));
    epic.run(&["--party-failure"]).fails(1);
    assert_eq!(epic.states(), ["skipped", "blocked", "done"]);
}

/// Whatever an analyst does wrong, the failure stands.
#[test]
fn a_faulty_analyst_changes_nothing() {
    for fault in [
        "crash",
        "exit 1",
        "print \"ANALYSIS COMPLETE: 1-1-a\"",
        "print \"ANALYSIS COMPLETE: 1-2-b - Retry\"",
        "print \"ANALYSIS COMPLETE: 1-1-a - Retry\" print \"ANALYSIS COMPLETE: 1-1-a - Skip\"",
        "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"analysis\",\"verdict\":\"complete\"}'",
        "write a.txt sneaked print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        "hang",
        "",
    ] {
        for blocked in [false, true] {
            let epic = Epic::new(&["1-1-a"]);
            let dev = if blocked { "IMPLEMENTATION BLOCKED: 1-1-a - no key" } else { "no" };
            epic.script(&format!(
                "* analysis * | {fault}\n* dev * | write a.txt b print \"{dev}\""
            ));
            let agents = ["--party-agents", "bob", "--idle-timeout", "1"];
            let output = epic.run(&[&["--party-failure"], &agents[..]].concat());
            let (code, state) = if blocked { (3, "blocked") } else { (1, "failed") };
            assert_eq!(output.code, Some(code), "{fault}: {output}");
            assert_eq!(epic.states(), [state], "{fault}");
            assert_eq!(epic.git(&["show", "handover/failed/1-1-a:a.txt"]), "b", "{fault}");
        }
    }
}

/// An unreachable model is retried later without analysis.
#[test]
fn transient_failures_are_not_analyzed() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* dev 1 | err \"API Error: 429 rate_limit_error\" exit 1");
    epic.run(&["--party-failure"]).ok();
    let phases = phases(&epic, 0);
    assert_eq!(phases[..2], ["dev rate_limit", "dev complete"]);
    assert!(!phases.iter().any(|phase| phase.starts_with("analysis")), "{phases:?}");
}
