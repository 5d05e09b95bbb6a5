//! Engines that die, are asked to stop, or cannot write: a resumed run reaches the same end.

use std::process::Command;

use handover_testkit::processes_with;

use super::Epic;
use super::killed::{Scene, around, lines};

/// Two stories: the first needs a fix, the second is blocked.
fn eventful() -> Epic {
    super::killed::eventful(&["1-1-a", "1-2-b"])
}

/// Everything that a run leaves behind.
pub(super) fn end_state(epic: &Epic) -> Vec<String> {
    let mut state = epic.states();
    for branch in ["handover/epic-1", "handover/failed/1-2-b"] {
        state.extend(epic.subjects(branch));
        state.extend(lines(epic, branch));
    }
    state.extend(around(epic));
    state
}

pub(super) const SCENE: Scene = Scene { code: 3, entries: 25, ..Scene::new(eventful, end_state) };

mod dying {
    crate::runs::killed::killed!(super::super::SCENE, 3: first 1, second 2, third 3);
}

/// Killed while an agent works that cannot be asked to end and has children of its own.
#[test]
fn resume_kills_an_orphan() {
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
fn resumes_after_a_signal() {
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
fn resumes_after_a_full_disk() {
    let mut stopped = 0;
    for blocks in [300, 500, 700, 900, 1_100, 1_300] {
        let epic = eventful();
        let mut shell = epic.env.tool("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", &blocks.to_string()]);
        shell.arg(epic.env.binary()).args(epic.args(&[]));
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
fn resume_without_a_run_starts_one() {
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

/// The agent would work for another minute and cannot be asked to end; stopping the run does not wait
/// for it. What is measured is far from either: ten seconds on a machine that is busy.
#[test]
fn stops_promptly() {
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
