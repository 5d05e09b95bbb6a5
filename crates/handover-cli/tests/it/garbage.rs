//! `handover data gc`: what it deletes, and above all what it leaves alone.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;
use crate::runs::Epic;

const DAY: u64 = 86_400;

/// Sets when a file or folder was changed.
pub(crate) fn age(path: &Path, days: u64) {
    #[expect(clippy::disallowed_methods, reason = "the test makes files old")]
    let then = SystemTime::now() - Duration::from_secs(days * DAY);
    fs_err::File::open(path).unwrap().into_parts().0.set_modified(then).unwrap();
}

pub(crate) fn gc(env: &TestEnv, args: &[&str]) -> Value {
    let all = ["gc", "--json"].iter().chain(args);
    env.run(all).ok().json()["gc"].clone()
}

/// The paths that `gc` deletes, or would.
pub(crate) fn paths(gc: &Value) -> Vec<&str> {
    gc["files"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect()
}

pub(crate) fn kept(gc: &Value) -> Vec<(&str, &str)> {
    let kept = gc["kept"].as_array().unwrap();
    kept.iter()
        .map(|one| (one["path"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect()
}

/// The folder of the only run.
fn run_folder(epic: &Epic) -> (String, std::path::PathBuf) {
    let runs = epic.env.path(".handover/runs");
    let mut names: Vec<String> = fs_err::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("run_"))
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let name = names.remove(0);
    let path = runs.join(&name);
    (name, path)
}

/// The size of every file below a folder.
fn size(folder: &Path) -> u64 {
    fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let data = fs_err::symlink_metadata(&path).unwrap();
            if data.is_dir() { size(&path) } else { data.len() }
        })
        .sum()
}

#[test]
fn the_folder_of_a_run_goes_when_run_and_session_are_over() {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&[]).ok();
    let (name, folder) = run_folder(&epic);
    let path = format!("runs/{name}");
    age(&folder, 1);
    let session = epic.status()["session"].as_str().unwrap().to_owned();
    epic.env.run(["session", "reopen", &session]).ok();
    let open = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(kept(&open), [(path.as_str(), format!("session {session} is open").as_str())]);
    epic.env.run(["session", "close", &session]).ok();
    assert_eq!(paths(&gc(&epic.env, &["-n"])), [""; 0], "it is too young");
    // Exactly what is listed goes, with exactly that many bytes.
    let bytes = size(&folder);
    assert!(bytes > 0);
    let listed = gc(&epic.env, &["-n", "--older-than", "0"]);
    assert_eq!(paths(&listed), [path.as_str()]);
    assert_eq!((&listed["files"][0]["bytes"], &listed["bytes"]), (&json!(bytes), &json!(bytes)));
    assert_eq!(size(&folder), bytes, "nothing was deleted yet");
    let deleted = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(deleted["files"], listed["files"]);
    assert!(!folder.exists());
    assert_eq!(paths(&gc(&epic.env, &["--older-than", "0"])), [""; 0]);
    // The run, its branch and its receipts stay.
    assert_eq!(epic.states(), ["done"]);
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "work");
    epic.env.run(["journal"]).ok();
    let receipts = epic.env.run(["--session", &session, "receipt", "list", "--json"]).ok().json();
    let id = receipts["receipts"][0]["id"].as_str().unwrap().to_owned();
    epic.env.run(["receipt", "show", &id]).ok();
}

#[test]
fn a_run_that_can_be_resumed_stays() {
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.set("HANDOVER_TEST_DIE", "after:6");
    let _ = epic.run(&[]);
    epic.env.set("HANDOVER_TEST_DIE", "");
    let (name, folder) = run_folder(&epic);
    age(&folder, 100);
    let session = epic.status()["session"].as_str().unwrap().to_owned();
    epic.env.run(["session", "close", &session]).ok();
    let before = size(&folder);
    let found = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(paths(&found), [""; 0], "{found:#}");
    let path = format!("runs/{name}");
    assert_eq!(kept(&found), [(path.as_str(), "the run is running and can be resumed")]);
    assert_eq!(size(&folder), before);
    epic.env.run(["session", "reopen", &session]).ok();
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
}

/// Worktrees whose work was never committed are its only copy.
#[test]
fn work_on_no_branch_stays() {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&["--no-commit"]).ok();
    let (name, folder) = run_folder(&epic);
    let session = epic.status()["session"].as_str().unwrap().to_owned();
    let _ = epic.env.run(["session", "close", &session]);
    age(&folder, 100);
    let worktree = folder.join("worktrees/1-1-a");
    assert!(worktree.join("1-1-a.txt").exists());
    // Not even the ref of the run protects it any more.
    let refs = epic.git(&["for-each-ref", "--format=%(refname)", "refs/handover"]);
    let path = format!("runs/{name}");
    if !refs.is_empty() {
        let found = gc(&epic.env, &["--older-than", "0"]);
        let reason = format!("git keeps work of the run under refs/handover/{name}/");
        assert_eq!(kept(&found), [(path.as_str(), reason.as_str())]);
        for name in refs.lines() {
            epic.env.git("", &["update-ref", "-d", name]);
        }
    }
    let found = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(paths(&found), [""; 0]);
    assert_eq!(kept(&found), [(path.as_str(), "worktree 1-1-a holds work that is on no branch")]);
    // Once a branch has it, it may go, and git forgets the worktree.
    let inside = worktree.to_str().unwrap().to_owned();
    epic.git(&["-C", &inside, "add", "--all"]);
    epic.git(&["-C", &inside, "commit", "--quiet", "--message", "rescued"]);
    let still = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(paths(&still), [""; 0], "a detached head is no branch");
    epic.git(&["-C", &inside, "branch", "rescued"]);
    let found = gc(&epic.env, &["--older-than", "0"]);
    assert_eq!(paths(&found), [path.as_str()]);
    assert!(!folder.exists());
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(epic.git(&["show", "rescued:1-1-a.txt"]), "work");
}

/// A run that the store does not know, because its session was purged.
fn orphan(env: &TestEnv, name: &str) -> std::path::PathBuf {
    env.write(&format!(".handover/runs/{name}/1-1-a/dev-1.log"), "output");
    let folder = env.path(&format!(".handover/runs/{name}"));
    age(&folder, 100);
    folder
}

#[test]
fn links_and_files_of_others_are_left_alone() {
    let env = project();
    env.git("", &["init", "--quiet"]);
    env.write("precious/data.txt", "mine");
    let orphan = orphan(&env, "run_1");
    env.write(".handover/runs/baselines/x.json", "{}");
    env.write(".handover/runs/notes/mine.txt", "a folder of the user");
    symlink(env.path("precious"), env.path(".handover/runs/run_2")).unwrap();
    symlink(env.path("precious"), orphan.join("link")).unwrap();
    age(&orphan, 100);
    env.write(".handover/spawns/README", "mine");
    symlink(env.path("precious/data.txt"), env.path(".handover/spawns/r_1.log")).unwrap();
    let found = gc(&env, &[]);
    assert_eq!(paths(&found), ["runs/run_1"]);
    assert_eq!(kept(&found)[0], ("runs/run_2", "is not a folder"));
    assert!(!orphan.exists());
    assert_eq!(fs_err::read_to_string(env.path("precious/data.txt")).unwrap(), "mine");
    for left in [
        "runs/run_2",
        "runs/baselines/x.json",
        "runs/notes/mine.txt",
        "spawns/README",
        "spawns/r_1.log",
    ] {
        assert!(fs_err::symlink_metadata(env.path(&format!(".handover/{left}"))).is_ok(), "{left}");
    }
}

#[test]
fn what_another_user_owns_stays() {
    let env = project();
    let folder = orphan(&env, "run_1");
    if std::os::unix::fs::chown(&folder, Some(65_534), None).is_err() {
        eprintln!("skipped: only root can give a folder to another user");
        return;
    }
    let found = gc(&env, &[]);
    assert_eq!(kept(&found), [("runs/run_1", "belongs to another user")]);
    assert!(folder.join("1-1-a/dev-1.log").exists());
}

#[test]
fn output_of_agents_goes_with_its_session() {
    let env = project();
    let args = [
        "spawn",
        "--host",
        "command",
        "--agent-command",
        "cat",
        "--role",
        "developer",
        "--task",
        "x",
    ];
    let receipt =
        env.run(args.iter().chain(&["--json"])).json()["receipt"].as_str().unwrap().to_owned();
    let (log, last) = (format!("spawns/{receipt}.log"), format!("spawns/{receipt}.md"));
    let file = |name: &str| env.path(&format!(".handover/{name}"));
    let mut expected = vec![log.clone(), last.clone()];
    for entry in fs_err::read_dir(env.path(".handover/spawns")).unwrap() {
        let name = format!("spawns/{}", entry.unwrap().file_name().into_string().unwrap());
        age(&file(&name), 100);
        if !expected.contains(&name) {
            expected.push(name);
        }
    }
    expected.sort();
    env.write(".handover/spawns/r_gone.md", "of a purged session");
    let young = gc(&env, &["--older-than", "0"]);
    assert_eq!(paths(&young), [""; 0], "the agent may still be writing");
    age(&file("spawns/r_gone.md"), 100);
    let found = gc(&env, &["--older-than", "0"]);
    assert_eq!(paths(&found), ["spawns/r_gone.md"]);
    assert!(kept(&found).iter().all(|(_, reason)| *reason == "session s1 is open"));
    env.run(["session", "close", "s1"]).ok();
    let found = gc(&env, &[]);
    assert!(kept(&found).iter().all(|(_, reason)| *reason == "its receipt is not old enough"));
    let found = gc(&env, &["--older-than", "0"]);
    assert_eq!(paths(&found), expected);
    assert!(!file(&log).exists() && !file(&last).exists());
    env.run(["receipt", "show", &receipt]).ok();
}

/// Killed at any moment, the next one finishes the work and nothing else is lost.
#[test]
fn an_interrupted_collection_is_finished_by_the_next() {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&["--no-commit"]).ok();
    let (kept_name, kept_folder) = run_folder(&epic);
    let before = size(&kept_folder);
    for round in 0..6_u64 {
        for number in 0..40 {
            for file in 0..20 {
                let path = format!(".handover/runs/run_x{number}/story/phase{file}/agent.log");
                epic.env.write(&path, "output ".repeat(50));
            }
            age(&epic.env.path(&format!(".handover/runs/run_x{number}")), 100);
        }
        let mut child = epic.env.start(["gc"]);
        std::thread::sleep(Duration::from_millis(5 + round * 12));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let left = || {
        let entries = fs_err::read_dir(epic.env.path(".handover/runs")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("run_") || name.starts_with("gc-"));
        names
    };
    epic.env.run(["gc"]).ok();
    assert_eq!(left(), [kept_name.as_str()]);
    assert_eq!(size(&kept_folder), before);
    epic.env.run(["doctor"]).ok();
    // What a crash in the middle leaves under its other name.
    epic.env.write(".handover/runs/gc-run_y/half", "deleted");
    let found = gc(&epic.env, &[]);
    assert_eq!(paths(&found), ["runs/gc-run_y"]);
    assert_eq!(left(), [kept_name]);
}

#[test]
fn the_build_cache_goes_with_the_last_run() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(".handover/runs/cargo-target/debug/x", "built");
    let cache = epic.env.path(".handover/runs/cargo-target");
    age(&cache, 100);
    epic.run(&[]).ok();
    age(&cache, 100);
    let found = gc(&epic.env, &[]);
    assert_eq!(kept(&found), [("runs/cargo-target", "the last run is not old enough")]);
    let found = gc(&epic.env, &["--older-than", "0", "-n"]);
    assert!(paths(&found).contains(&"runs/cargo-target"), "{found:#}");
    assert!(cache.exists());
}
