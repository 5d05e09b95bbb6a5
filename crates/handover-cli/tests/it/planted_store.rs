//! A store that somebody else made: one that a checkout brings, and one with statements of its own.

use handover_testkit::TestEnv;
use serde_json::json;

use crate::{empty, project};

/// A repository whose commit contains its store, and a clone of it.
fn clone_with_store() -> (TestEnv, TestEnv, String) {
    let (theirs, ours) = (project(), empty());
    let token = theirs.run(["token", "create", "--scope", "admin", "--json"]).ok().json();
    theirs.git("", &["init", "--quiet"]);
    theirs.git("", &["add", "--force", "."]);
    theirs.git("", &["commit", "--quiet", "--message", "all of it"]);
    fs_err::remove_dir(ours.path("")).unwrap();
    let from = theirs.path("").display().to_string();
    let to = ours.path("").display().to_string();
    theirs.git("", &["clone", "--quiet", &from, &to]);
    (theirs, ours, token["secret"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_store_that_git_tracks_is_refused() {
    let (_theirs, env, _token) = clone_with_store();
    assert!(env.path(".handover/store.db").exists());
    let store = env.path(".handover/store.db");
    let before = fs_err::read(&store).unwrap();
    for args in [&["session", "list"][..], &["session", "new", "x"], &["serve", "--require-token"]]
    {
        let error = env.run(args.iter().chain(&["--json"])).fails(5).error();
        assert_eq!(error["code"], "store_tracked", "{args:?}: {error}");
        assert!(error["hint"].as_str().unwrap().contains("git rm --cached"), "{error}");
    }
    assert_eq!(fs_err::read(&store).unwrap(), before);
    // The way out for its owner, and for everybody else.
    env.git("", &["rm", "--quiet", "--cached", ".handover/store.db"]);
    env.run(["session", "list"]).ok();
    let (_theirs, env, _token) = clone_with_store();
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(".handover").join(name));
    }
    env.run(["session", "new", "mine"]).ok();
    let sessions = env.run(["session", "list", "--json"]).ok().json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_note_that_a_checkout_brings_does_not_vouch_for_its_store() {
    let (theirs, env, _token) = clone_with_store();
    let note = fs_err::read(theirs.path(".handover/store.db.known")).unwrap_or_default();
    env.write(".handover/store.db.known", note);
    env.run(["session", "list"]).fails(5);
}

#[test]
fn a_pull_that_replaces_the_store_is_noticed() {
    let (theirs, env, _token) = clone_with_store();
    // This clone had no store at first: ours is ignored by git, which may overwrite it.
    theirs.git("", &["rm", "--quiet", "--cached", "-r", ".handover"]);
    theirs.git("", &["commit", "--quiet", "--message", "without"]);
    env.git("", &["pull", "--quiet"]);
    env.run(["init"]).ok();
    env.run(["session", "new", "mine"]).ok();
    theirs.git("", &["add", "--force", ".handover/store.db"]);
    theirs.git("", &["commit", "--quiet", "--message", "with"]);
    env.git("", &["pull", "--quiet"]);
    env.run(["session", "list"]).fails(5);
}

/// A project with a receipt that waits for the store, and an exemption that does. Their folders count as ours.
fn waiting() -> TestEnv {
    let env = project();
    env.git("", &["init", "--quiet"]);
    let brief = env.run(["brief", "--role", "developer", "--task", "Look", "--json"]).ok().json();
    let receipt = brief["receipt"].as_str().unwrap();
    let mut kept = env.run(["receipt", "show", receipt, "--json"]).ok().json()["receipt"].clone();
    kept["id"] = json!("r_waiting");
    env.write(".handover/spool/r_waiting.json", kept.to_string());
    let exempt = json!({"payload": {"host": "claude", "agent_type": "helper", "rule": "none",
        "reason": "it waits"}, "key": "exempt-1"});
    env.write(".handover/hooks/waiting.untouched", exempt.to_string());
    env
}

/// Whether the receipt and the exemption got into the store.
fn taken(env: &TestEnv) -> (bool, bool) {
    env.run(["brief", "--role", "developer", "--task", "Look", "--deliver"]).ok();
    let stop = json!({"session_id": "c-1", "cwd": env.path(""), "hook_event_name": "Stop"});
    env.run_with(stop.to_string(), ["hook", "claude"]).ok();
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    let events = env.run(["event", "list", "--json"]).ok().json();
    (receipts.to_string().contains("r_waiting"), events.to_string().contains("it waits"))
}

#[test]
fn what_waits_for_the_store_is_ours_unless_git_tracks_it() {
    assert_eq!(taken(&waiting()), (true, true));
    for folder in ["spool", "hooks"] {
        let env = waiting();
        let path = format!(".handover/{folder}");
        env.git("", &["add", "--force", &path]);
        assert_eq!(taken(&env), (folder != "spool", folder != "hooks"), "{folder}");
        if folder == "spool" {
            let doctor = env.run(["doctor"]).fails(1);
            assert!(doctor.stdout.contains("this checkout brought them"), "{doctor}");
            assert!(doctor.stdout.contains("git rm -r"), "{doctor}");
        }
        // Once it is out of the index, it is the user's word that it is ours.
        env.git("", &["rm", "-r", "--quiet", "--cached", &path]);
        assert_eq!(taken(&env), (true, true), "{folder}");
    }
}

#[test]
fn what_a_submodule_brings_is_not_ours() {
    let env = waiting();
    env.git(".handover/spool", &["init", "--quiet"]);
    env.git(".handover/spool", &["add", "."]);
    assert_eq!(taken(&env), (false, true));
    env.run(["doctor"]).fails(1);
}

#[test]
fn a_planted_trigger_never_runs() {
    let env = project();
    let add = ["reasoning", "add", "--role", "developer", "--phase", "decisions", "text", "--json"];
    env.run(add).ok();
    let plant = "CREATE TRIGGER planted AFTER INSERT ON reasoning BEGIN
        UPDATE reasoning SET content = 'owned'; END";
    #[expect(clippy::disallowed_methods, reason = "the attacker's tool")]
    let database = rusqlite::Connection::open(env.path(".handover/store.db")).unwrap();
    database.execute_batch(plant).unwrap();
    drop(database);
    let error = env.run(add).fails(5).error();
    assert_eq!(error["code"], "store_altered");
    assert!(error["message"].as_str().unwrap().contains("trigger `planted`"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains(".altered"), "{error}");
    env.run(["doctor"]).fails(1);
}
