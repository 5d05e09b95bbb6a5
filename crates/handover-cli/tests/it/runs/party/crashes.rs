//! Engines that die in the middle of a party, of an analysis, or after an answer: a resumed run reaches
//! the same end.

use std::collections::BTreeSet;

use handover_testkit::processes_with;

use super::result;
use crate::runs::Epic;
use crate::runs::crashes::{calls, end_state, journal};

/// What a run is about, and how it is called.
struct Scene {
    epic: Epic,
    flags: &'static [&'static str],
    code: i32,
}

fn call(epic: &Epic) -> String {
    format!(
        "append {} '{{HANDOVER_STORY}} {{HANDOVER_PHASE}} {{HANDOVER_ATTEMPT}} {{HANDOVER_PERSONA}} {{HANDOVER_ROUND}};'",
        epic.env.folder().join("calls").display()
    )
}

/// A kickoff, and a review by two.
fn party() -> Scene {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        ".handover/config.toml",
        "[party]\nphases = [\"kickoff\", \"review\"]\n\
         agents = { kickoff = [\"murat\"], review = [\"murat\", \"bob\"] }\n",
    );
    epic.commit_all("party");
    let call = call(&epic);
    let kickoff = result("kickoff", "complete", ",\"insights\":{\"risks\":[\"the limit\"]}");
    let review = result(
        "review",
        "passed",
        ",\"findings\":[{\"severity\":\"low\",\"file\":\"{HANDOVER_PERSONA}.rs\",\"issue\":\"a name\"}],\
         \"stances\":[{\"on\":\"F1\",\"stance\":\"agree\"}]",
    );
    epic.script(&format!(
        "* kickoff * | {call} {kickoff}\n\
         * dev * | {call} write a.txt work print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review * | {call} {review}"
    ));
    Scene { epic, flags: &[], code: 0 }
}

/// A failure that is analysed and tried again, and one that becomes a question.
fn failure() -> Scene {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let call = call(&epic);
    let retry = result(
        "analysis",
        "retry",
        ",\"analysis\":{\"root_cause\":\"the socket was closed\",\"remediation\":[\"reopen the socket before writing\"]}",
    );
    let escalate = result("analysis", "escalate", ",\"analysis\":{\"question\":\"Which key?\"}");
    epic.script(&format!(
        "1-1-a dev 1 | {call} write 1-1-a.txt half print no\n\
         1-2-b dev 1 | {call} write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n\
         1-1-a analysis * | {call} {retry}\n\
         1-2-b analysis * | {call} {escalate}\n\
         * dev * | {call} write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\""
    ));
    Scene { epic, flags: &["--skip-review", "--config", "runs.analysis=true"], code: 3 }
}

/// The question of the other scene, answered.
fn answered() -> Scene {
    let Scene { epic, flags, code } = failure();
    let output = epic.run(flags);
    assert_eq!(output.code, Some(code), "{output}");
    epic.env.run(["answer", "1-2-b", "the blue one"]).ok();
    Scene { epic, flags: &["--resume"], code: 0 }
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
    let status = epic.status();
    let run = status["id"].as_str().unwrap().to_owned();
    let mut state: Vec<String> =
        end_state(epic).iter().map(|line| line.replace(&run, "RUN")).collect();
    state.extend(status["stories"].as_array().unwrap().iter().map(|s| s["question"].to_string()));
    let errors = epic.env.run(["error", "list", "--json"]).ok().json();
    for error in errors["errors"].as_array().unwrap() {
        state.push(format!("{} {}", error["solution"], error["occurrences"]));
    }
    state
}

/// Kills the engine at every second entry of the journal, and goes on.
fn killed(scene: fn() -> Scene, side: &str, first: usize) {
    let whole = scene();
    let begin = journal(&whole.epic).len();
    let output = whole.epic.run(whole.flags);
    assert_eq!(output.code, Some(whole.code), "{output}");
    let (expected, entries) = (left(&whole.epic), journal(&whole.epic).len());
    assert!(entries > begin + 5, "{entries}");
    for entry in (begin + first..=entries).step_by(2) {
        let Scene { epic, flags, code } = scene();
        let place = format!("{side}:{entry}");
        let mut command = epic.env.command();
        command.args(epic.args(flags)).env("HANDOVER_TEST_DIE", &place);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), None, "{place}: it did not die");
        let (before, done) = (calls(&epic), finished(&epic));
        let again = flags.iter().filter(|flag| **flag != "--resume").copied();
        let resumed = epic.run(&[&["--resume"], &again.collect::<Vec<_>>()[..]].concat());
        assert_eq!(resumed.code, Some(code), "{place}: {resumed}");
        assert_eq!(left(&epic), expected, "{place}");
        for call in &calls(&epic)[before.len()..] {
            assert!(!done.contains(call), "{place}: {call} was finished and paid again");
        }
        let run = epic.status()["id"].as_str().unwrap().to_owned();
        assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new(), "{place}");
    }
}

#[test]
fn in_a_party_after_every_odd_entry() {
    killed(party, "after", 1);
}

#[test]
fn in_a_party_after_every_even_entry() {
    killed(party, "after", 2);
}

#[test]
fn in_a_party_before_every_odd_entry() {
    killed(party, "before", 1);
}

#[test]
fn in_a_party_before_every_even_entry() {
    killed(party, "before", 2);
}

#[test]
fn in_a_failure_after_every_odd_entry() {
    killed(failure, "after", 1);
}

#[test]
fn in_a_failure_after_every_even_entry() {
    killed(failure, "after", 2);
}

#[test]
fn in_a_failure_before_every_odd_entry() {
    killed(failure, "before", 1);
}

#[test]
fn in_a_failure_before_every_even_entry() {
    killed(failure, "before", 2);
}

#[test]
fn after_an_answer_and_after_every_entry() {
    killed(answered, "after", 1);
    killed(answered, "after", 2);
}

#[test]
fn after_an_answer_and_before_every_entry() {
    killed(answered, "before", 1);
    killed(answered, "before", 2);
}
