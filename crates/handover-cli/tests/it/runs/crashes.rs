//! Engines that die, are told to stop, or cannot write: a resumed run reaches the same end.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use handover_testkit::processes_with;
use serde_json::Value;

use super::Epic;

/// Two stories: the first needs a fix, the second is blocked with half of its work done.
fn eventful() -> Epic {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let calls = epic.env.folder().join("calls");
    let call = format!(
        "append {} '{{HANDOVER_STORY}} {{HANDOVER_PHASE}} {{HANDOVER_ATTEMPT}};'",
        calls.display()
    );
    epic.script(&format!(
        "1-1-a review 1 | {call} print \"REVIEW FAILED: 1-1-a - no greeting\"\n\
         1-2-b dev 1 | {call} write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n\
         * dev 1 | {call} write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix 1 | {call} append {{HANDOVER_STORY}}.txt mended print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * review * | {call} print \"REVIEW PASSED: {{HANDOVER_STORY}}\""
    ));
    epic
}

pub(super) fn calls(epic: &Epic) -> Vec<String> {
    let text = fs_err::read_to_string(epic.env.folder().join("calls")).unwrap_or_default();
    text.split(';').map(str::trim).filter(|call| !call.is_empty()).map(str::to_owned).collect()
}

/// Everything that a run leaves behind, without what differs by its nature: ids and days.
pub(super) fn end_state(epic: &Epic) -> Vec<String> {
    let mut state = epic.states();
    for branch in ["handover/epic-1", "handover/failed/1-2-b"] {
        state.extend(epic.subjects(branch));
        let lines = epic.git(&["grep", "-e", "", branch]);
        let differs = |line: &&str| line.contains("**Receipt:**") || line.contains("**Date:**");
        state.extend(lines.lines().filter(|line| !differs(line)).map(str::to_owned));
    }
    let refs = epic.git(&["for-each-ref", "--format=%(refname)"]);
    state.extend(refs.lines().map(str::to_owned));
    state.push(epic.git(&["worktree", "list"]).lines().count().to_string());
    state.push(epic.git(&["status", "--porcelain"]));
    state
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
    journal(epic)
        .iter()
        .filter(|entry| entry["entry"]["event"] == "phase_ended")
        .map(|entry| {
            let word = |key: &str| entry["entry"][key].to_string().replace('"', "");
            format!("{} {} {}", word("story"), word("phase"), word("attempt"))
        })
        .collect()
}

/// Kills the engine at every `step`th entry of the journal, and goes on.
fn killed(side: &str, first: usize, step: usize) {
    let whole = eventful();
    whole.run(&[]).fails(3);
    let (expected, entries) = (end_state(&whole), journal(&whole).len());
    assert!(entries > 25, "{entries}");
    for entry in (first..=entries).step_by(step) {
        let epic = eventful();
        let place = format!("{side}:{entry}");
        let output = epic
            .env
            .command()
            .args(epic.args(&[]))
            .env("HANDOVER_TEST_DIE", &place)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), None, "{place}: it did not die");
        let (before, done) = (calls(&epic), finished(&epic));
        let resumed = epic.run(&["--resume"]);
        assert_eq!(resumed.code, Some(3), "{place}: {resumed}");
        assert_eq!(end_state(&epic), expected, "{place}");
        for call in &calls(&epic)[before.len()..] {
            assert!(
                !done.contains(call),
                "{place}: {call} was recorded as finished and paid again"
            );
        }
        let run = epic.status()["id"].as_str().unwrap().to_owned();
        assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new(), "{place}");
    }
}

#[test]
fn killed_after_every_third_entry() {
    killed("after", 1, 3);
}

#[test]
fn killed_after_every_third_entry_from_the_second_on() {
    killed("after", 2, 3);
}

#[test]
fn killed_after_every_third_entry_from_the_third_on() {
    killed("after", 3, 3);
}

#[test]
fn killed_before_every_third_entry() {
    killed("before", 1, 3);
}

#[test]
fn killed_before_every_third_entry_from_the_second_on() {
    killed("before", 2, 3);
}

#[test]
fn killed_before_every_third_entry_from_the_third_on() {
    killed("before", 3, 3);
}

/// Killed while an agent works that cannot be asked to end and has children of its own.
#[test]
fn an_orphan_is_ended_before_the_run_goes_on() {
    let epic = Epic::new(&["1-1-a"]);
    let ready = epic.env.folder().join("ready");
    epic.script(&format!(
        "* dev 1 | write {{HANDOVER_STORY}}.txt half spawn-quiet 'setsid append-forever late.txt' ignore-term write {} x hang",
        ready.display()
    ));
    let mut engine = epic.env.start(epic.args(&[]));
    wait_for(&ready);
    engine.kill().unwrap();
    engine.wait().unwrap();
    let run = epic.status();
    assert_eq!(run["state"], "interrupted");
    let run = run["id"].as_str().unwrap().to_owned();
    assert!(!processes_with("HANDOVER_RUN", &run).is_empty());
    epic.script("");
    epic.run(&["--resume"]).ok();
    assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new());
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "work");
    assert!(!epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]).contains("late"));
}

#[test]
fn signals_leave_a_run_that_can_be_resumed() {
    for signal in ["-INT", "-TERM"] {
        let epic = Epic::new(&["1-1-a", "1-2-b"]);
        let ready = epic.env.folder().join("ready");
        epic.script(&format!("1-2-b dev 1 | write x.txt half write {} x hang", ready.display()));
        let engine = epic.env.start(epic.args(&["--json"]));
        wait_for(&ready);
        let pid = engine.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let output = epic.env.output(engine);
        assert_eq!(output.code, Some(130), "{output}");
        let status = epic.status();
        assert_eq!(status["state"], "interrupted");
        assert_eq!(epic.states(), ["done", "running"]);
        let run = status["id"].as_str().unwrap();
        assert_eq!(processes_with("HANDOVER_RUN", run), Vec::<u32>::new());
        let refused = epic.run(&["--json"]).fails(2);
        assert_eq!(refused.error()["code"], "unfinished_run");
        epic.script("");
        epic.run(&["--resume"]).ok();
        assert_eq!(epic.states(), ["done", "done"]);
        assert!(!epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]).contains("x.txt"));
    }
}

/// A file size limit stands in for a full disk: sooner or later the journal cannot be written.
#[test]
fn a_full_disk_stops_a_run_and_does_not_spoil_it() {
    let mut stopped = 0;
    for blocks in [300, 500, 700, 900, 1_100, 1_300] {
        let epic = eventful();
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", &blocks.to_string()]);
        shell.arg(env!("CARGO_BIN_EXE_handover")).args(epic.args(&[]));
        let command = epic.env.command();
        shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(epic.env.path("")).stdin(Stdio::null());
        let output = shell.output().unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(3 | 5)), "{blocks}: {code:?} {output:?}");
        stopped += u32::from(code == Some(5));
        if code == Some(5) {
            let resumed = epic.run(&["--resume"]);
            assert_eq!(resumed.code, Some(3), "{blocks}: {resumed}");
        }
        assert_eq!(epic.states(), ["done", "blocked"], "{blocks}");
    }
    assert!(stopped > 0);
}

#[test]
fn resuming_nothing_begins_something() {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&["--resume"]).ok();
    let first = epic.status()["id"].clone();
    // A run that has come to its end has nothing to go on with.
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.status()["id"], first);
    assert_eq!(epic.states(), ["done"]);
    epic.run(&["--skip-done"]).ok();
    assert_eq!(epic.states(), ["skipped"]);
}

pub(super) fn wait_for(path: &std::path::Path) {
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The agent would work for another minute and cannot be asked to end; whoever stops the run does not
/// wait for it. What is measured is far from either: ten seconds on a machine that is busy.
#[test]
fn whoever_stops_a_run_does_not_wait() {
    for signal in ["-INT", "-TERM"] {
        let epic = Epic::new(&["1-1-a"]);
        let ready = epic.env.folder().join("ready");
        epic.script(&format!("* dev 1 | ignore-term write {} x sleep 60000", ready.display()));
        let mut engine = epic.env.start(epic.args(&[]));
        wait_for(&ready);
        let pid = engine.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let ended = (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            engine.try_wait().unwrap().is_some()
        });
        assert!(ended, "{signal}: still there");
        let run = epic.status();
        assert_eq!(run["state"], "interrupted");
        assert_eq!(processes_with("HANDOVER_RUN", run["id"].as_str().unwrap()), Vec::<u32>::new());
    }
}
