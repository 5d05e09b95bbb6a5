//! Engines that die before and after every journal entry: a resumed run reaches the same end and
//! repeats no finished phase.

use std::collections::BTreeSet;

use handover_testkit::processes_with;
use serde_json::Value;

use super::Epic;

/// A run that is killed and resumed.
pub(crate) struct Scene {
    /// Sets up the same repository each time.
    pub(super) make: fn() -> Epic,
    /// Its command with more flags.
    pub(super) command: fn(&Epic, &[&str]) -> Vec<String>,
    pub(super) flags: &'static [&'static str],
    /// The flags for resuming.
    pub(super) again: &'static [&'static str],
    /// The exit code, killed or not.
    pub(super) code: i32,
    /// The results to compare.
    pub(super) left: fn(&Epic) -> Vec<String>,
    /// How many journal entries other scenes already cover.
    pub(super) skip: fn(&[Value]) -> usize,
    /// The minimum number of entries, as a sanity check of the scene.
    pub(super) entries: usize,
    /// Whether the run may end before a late entry, because the order depends on timing.
    pub(super) may_end: bool,
}

impl Scene {
    /// `handover run 1`, which does everything.
    pub(super) const fn new(make: fn() -> Epic, left: fn(&Epic) -> Vec<String>) -> Self {
        Self {
            make,
            command: Epic::args,
            flags: &[],
            again: &["--resume"],
            code: 0,
            left,
            skip: |_| 0,
            entries: 5,
            may_end: false,
        }
    }

    /// Kills the engine at every `step`th entry, and resumes.
    pub(super) fn killed(&self, side: &str, first: usize, step: usize) {
        let whole = (self.make)();
        let begun = journal(&whole).len();
        let output = whole.env.run((self.command)(&whole, self.flags));
        assert_eq!(output.code, Some(self.code), "{output}");
        let (expected, all) = ((self.left)(&whole), journal(&whole));
        let skipped = begun.max((self.skip)(&all));
        assert!(all.len() > skipped + self.entries, "{}", all.len());
        for entry in (skipped + first..=all.len()).step_by(step) {
            let place = format!("{side}:{entry}");
            let epic = (self.make)();
            let mut engine = epic.env.command();
            engine.args((self.command)(&epic, self.flags)).env("HANDOVER_TEST_DIE", &place);
            let output = engine.output().unwrap();
            let died = output.status.code().is_none();
            assert!(
                died || self.may_end && output.status.code() == Some(self.code),
                "{place}: it did not die"
            );
            let (before, done) = (calls(&epic), finished(&epic));
            let resumed = epic.env.run((self.command)(&epic, self.again));
            assert_eq!(resumed.code, Some(self.code), "{place}: {resumed}");
            assert_eq!((self.left)(&epic), expected, "{place}");
            for call in &calls(&epic)[before.len()..] {
                assert!(!done.contains(call), "{place}: {call} was finished and paid again");
            }
            let run = epic.status()["id"].as_str().unwrap().to_owned();
            assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new(), "{place}");
        }
    }
}

/// Generates tests that split the entries of a scene, so that they run in parallel.
macro_rules! killed {
    ($scene:expr, $step:literal: $($name:ident $first:literal),+) => {
        mod after {
            $(#[test]
            fn $name() {
                $scene.killed("after", $first, $step);
            })+
        }
        mod before {
            $(#[test]
            fn $name() {
                $scene.killed("before", $first, $step);
            })+
        }
    };
}
pub(super) use killed;

/// Logs each agent call, to count paid phases.
pub(super) fn call(epic: &Epic) -> String {
    format!(
        "append {} '{{HANDOVER_STORY}} {{HANDOVER_PHASE}} {{HANDOVER_ATTEMPT}} {{HANDOVER_PERSONA}} {{HANDOVER_ROUND}};'",
        epic.env.folder().join("calls").display()
    )
}

pub(super) fn calls(epic: &Epic) -> Vec<String> {
    let text = fs_err::read_to_string(epic.env.folder().join("calls")).unwrap_or_default();
    text.split(';').map(str::trim).filter(|call| !call.is_empty()).map(str::to_owned).collect()
}

pub(super) fn journal(epic: &Epic) -> Vec<Value> {
    let journal = epic.env.run(["journal", "--json"]);
    if journal.code != Some(0) {
        return Vec::new();
    }
    journal.json()["journal"].as_array().unwrap().clone()
}

/// The agents that are recorded as finished.
pub(super) fn finished(epic: &Epic) -> BTreeSet<String> {
    let word = |value: &Value| value.to_string().replace('"', "").replace("null", "");
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

/// Stories of which the first needs a fix and the second is blocked with half of its work done.
pub(super) fn eventful(stories: &[&str]) -> Epic {
    let epic = Epic::new(stories);
    let call = call(&epic);
    epic.script(&format!(
        "1-1-a review 1 | {call} print \"REVIEW FAILED: 1-1-a - no greeting\"\n\
         1-2-b dev 1 | {call} write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n\
         * dev 1 | {call} write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix 1 | {call} append {{HANDOVER_STORY}}.txt fixed print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * review * | {call} print \"REVIEW PASSED: {{HANDOVER_STORY}}\""
    ));
    epic
}

/// Every line of every file of a branch, without ids and dates.
pub(super) fn lines(epic: &Epic, branch: &str) -> Vec<String> {
    let differs = ["**Receipt:**", "**Date:**", "**Run:**", ":run: ", ":date: "];
    let lines = epic.git(&["grep", "-e", "", branch]);
    let same = lines.lines().filter(|line| !differs.iter().any(|part| line.contains(part)));
    same.map(str::to_owned).collect()
}

/// Branches, worktrees, and what is not committed.
pub(super) fn around(epic: &Epic) -> Vec<String> {
    vec![
        epic.git(&["for-each-ref", "--format=%(refname)"]),
        epic.git(&["worktree", "list"]).lines().count().to_string(),
        epic.git(&["status", "--porcelain"]),
    ]
}
