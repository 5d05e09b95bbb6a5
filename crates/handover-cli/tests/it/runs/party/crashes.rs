//! Engines that die in the middle of a party: a resumed run reaches the same end.

use std::collections::BTreeSet;

use handover_testkit::processes_with;

use super::result;
use crate::runs::Epic;
use crate::runs::crashes::{calls, end_state, journal};

/// A kickoff, a review that finds something, a failure that is analysed and tried again, and a question
/// that stays open.
fn eventful() -> Epic {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let file = epic.env.folder().join("calls");
    let call = format!(
        "append {} '{{HANDOVER_STORY}} {{HANDOVER_PHASE}} {{HANDOVER_ATTEMPT}} {{HANDOVER_PERSONA}} {{HANDOVER_ROUND}};'",
        file.display()
    );
    let kickoff = result(
        "kickoff",
        "complete",
        ",\"insights\":{\"risks\":[\"risk of {HANDOVER_PERSONA} in {HANDOVER_ROUND}\"]}",
    );
    let grave = result(
        "review",
        "failed",
        ",\"findings\":[{\"severity\":\"high\",\"file\":\"x.rs\",\"line\":1,\"issue\":\"no greeting\"}]",
    );
    let retry = result(
        "analysis",
        "retry",
        ",\"analysis\":{\"root_cause\":\"the socket was closed\",\"remediation\":[\"reopen the socket before writing\"]}",
    );
    let escalate = result("analysis", "escalate", ",\"analysis\":{\"question\":\"Which key?\"}");
    epic.script(&format!(
        "* kickoff * | {call} {kickoff}\n\
         1-1-a dev 1 | {call} write 1-1-a.txt half print no\n\
         1-2-b dev 1 | {call} write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n\
         1-1-a analysis * | {call} {retry}\n\
         1-2-b analysis * | {call} {escalate}\n\
         1-1-a review 1 murat 1 | {call} {grave}\n\
         * review * | {call} print \"REVIEW PASSED: {{HANDOVER_STORY}}\"\n\
         * dev * | {call} write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix * | {call} append {{HANDOVER_STORY}}.txt mended print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\""
    ));
    epic
}

/// The agents that are recorded as finished.
fn finished(epic: &Epic) -> BTreeSet<String> {
    let word = |value: &serde_json::Value| value.to_string().replace('"', "").replace("null", "");
    journal(epic)
        .iter()
        .map(|entry| &entry["entry"])
        .filter(|entry| entry["event"] == "phase_ended")
        .map(|entry| {
            let voice = &entry["voice"];
            let parts = [&entry["story"], &entry["phase"], &entry["attempt"]];
            let parts = parts.into_iter().chain([&voice["persona"], &voice["round"]]);
            parts.map(word).collect::<Vec<_>>().join(" ").trim().to_owned()
        })
        .collect()
}

/// What a run leaves behind, whatever its name is.
fn left(epic: &Epic) -> Vec<String> {
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let mut state: Vec<String> =
        end_state(epic).iter().map(|line| line.replace(&run, "RUN")).collect();
    state.push(epic.status()["stories"][1]["question"].to_string());
    state
}

const FLAGS: &[&str] = &["--party-all", "--party-agents", "murat,bob"];

fn killed(side: &str, first: usize, step: usize) {
    let whole = eventful();
    let output = whole.run(FLAGS);
    assert_eq!(output.code, Some(3), "{output}");
    let (expected, entries) = (left(&whole), journal(&whole).len());
    assert!(entries > 60, "{entries}");
    for entry in (first..=entries).step_by(step) {
        let epic = eventful();
        let place = format!("{side}:{entry}");
        let mut command = epic.env.command();
        command.args(epic.args(FLAGS)).env("HANDOVER_TEST_DIE", &place);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), None, "{place}: it did not die");
        let (before, done) = (calls(&epic), finished(&epic));
        let resumed = epic.run(&[&["--resume"], FLAGS].concat());
        assert_eq!(resumed.code, Some(3), "{place}: {resumed}");
        assert_eq!(left(&epic), expected, "{place}");
        for call in &calls(&epic)[before.len()..] {
            assert!(!done.contains(call), "{place}: {call} was finished and paid again");
        }
        let run = epic.status()["id"].as_str().unwrap().to_owned();
        assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new(), "{place}");
    }
}

#[test]
fn killed_after_every_entry() {
    killed("after", 1, 3);
}

#[test]
fn killed_after_every_entry_from_the_second_on() {
    killed("after", 2, 3);
}

#[test]
fn killed_after_every_entry_from_the_third_on() {
    killed("after", 3, 3);
}

#[test]
fn killed_before_every_entry() {
    killed("before", 1, 3);
}

#[test]
fn killed_before_every_entry_from_the_second_on() {
    killed("before", 2, 3);
}

#[test]
fn killed_before_every_entry_from_the_third_on() {
    killed("before", 3, 3);
}
