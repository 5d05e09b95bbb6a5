//! `handover init` as the whole set-up, in a clone of somebody's repository.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::empty;

const DECISION: &str =
    "Prices are integers in cents, because floats lost a cent per thousand orders.";

/// A clone with a document and a history, and two agent programs on the search path.
fn clone() -> TestEnv {
    let mut env = empty();
    env.git("", &["init", "-q", "origin"]);
    env.write("origin/docs/prices.md", format!("# Prices\n\n## Storage\n\n{DECISION}\n"));
    env.git("origin", &["add", "."]);
    let message = "Store prices in cents\n\nThe accountants found a difference of two euros.";
    env.git("origin", &["commit", "-q", "-m", message]);
    env.git("", &["clone", "-q", "origin", "shop"]);
    for program in ["claude", "codex"] {
        env.write(&format!("bin/{program}"), "#!/bin/sh\nexit 0\n");
        let file = env.path(&format!("bin/{program}"));
        fs_err::set_permissions(file, Permissions::from_mode(0o755)).unwrap();
    }
    // Nothing else that may be installed here.
    let bin = env.path("bin");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    env.set("PATH", &path);
    env
}

fn sessions(env: &TestEnv) -> Vec<Value> {
    let listed = env.run_in("shop", ["session", "list", "--json"]).ok().json();
    listed["sessions"].as_array().unwrap().clone()
}

#[test]
fn everything_is_set_up_and_shown() {
    let env = clone();
    let said = env.run_in("shop/docs", ["init", "--yes"]).ok();
    assert!(said.stdout.contains("doc note") && said.stdout.contains("1 commit note"), "{said}");
    assert!(said.stdout.contains("Session main is open."), "{said}");
    // The first brief has something that the stranger did not know the agent could know.
    assert!(said.stdout.contains(DECISION), "{said}");
    assert!(said.stdout.contains("Store prices in cents"), "{said}");
    // Nothing that would have to exist: no receipt was written for it.
    assert!(!said.stdout.contains("handover:receipt"), "{said}");
    assert!(said.stdout.lines().count() < 24, "{said}");
    assert!(said.stderr.contains("`handover spawn --host claude"), "{said}");
    for settings in [".claude/settings.json", ".codex/hooks.json"] {
        let file = env.path("shop").join(settings);
        let text = fs_err::read_to_string(&file).unwrap_or_else(|_| panic!("{}", file.display()));
        assert!(text.contains("handover"), "{text}");
    }
    assert!(!env.path("shop/.gemini").exists(), "it is not installed");
    let all = sessions(&env);
    assert_eq!((all.len(), &all[0]["id"]), (1, &json!("main")));

    // Again: nothing is learned twice, no second session, and the settings stay as they are.
    let settings = fs_err::read(env.path("shop/.claude/settings.json")).unwrap();
    let notes = env.run_in("shop", ["note", "list", "--json"]).ok().json();
    let again = env.run_in("shop", ["init", "--yes"]).ok();
    assert!(again.stdout.contains(DECISION), "{again}");
    assert!(!again.stdout.contains("Session main is open."), "{again}");
    assert_eq!(fs_err::read(env.path("shop/.claude/settings.json")).unwrap(), settings);
    assert_eq!(env.run_in("shop", ["note", "list", "--json"]).ok().json(), notes);
    assert_eq!(sessions(&env).len(), 1);
    // The session `main` counts only while there is no other.
    env.run_in("shop", ["session", "new", "feature"]).ok();
    let task = ["brief", "--role", "developer", "--task", "Store prices", "--json"];
    let brief = env.run_in("shop", task).ok().json();
    let receipt = brief["receipt"].as_str().unwrap();
    let shown = env.run_in("shop", ["receipt", "show", receipt, "--json"]).ok().json();
    assert_eq!(shown["receipt"]["session"], "feature");
}

#[test]
fn the_next_step_names_a_program_that_is_there() {
    let env = clone();
    fs_err::remove_file(env.path("bin/claude")).unwrap();
    let said = env.run_in("shop", ["init", "--yes"]).ok();
    assert!(said.stderr.contains("Next: `handover spawn --host codex "), "{said}");
    fs_err::remove_file(env.path("bin/codex")).unwrap();
    let said = env.run_in("shop", ["init", "--yes"]).ok();
    assert!(said.stderr.contains("Next: `handover brief --role developer"), "{said}");
    assert!(!said.stderr.contains("--host"), "{said}");
}

#[test]
fn without_a_terminal_only_the_project_is_made() {
    let env = clone();
    let said = env.run_in("shop", ["init"]).ok();
    assert!(!said.stdout.contains("Knows") && said.stderr.contains("session new"), "{said}");
    assert!(env.path("shop/.handover/store.db").exists());
    assert!(!env.path("shop/.claude").exists());
    assert!(sessions(&env).is_empty());
    let notes = env.run_in("shop", ["note", "list", "--json"]).ok().json();
    assert_eq!(notes["notes"], json!([]));
}

#[test]
fn json_is_one_document_and_makes_the_project_only() {
    let env = clone();
    for args in [&["init", "--json"][..], &["init", "--yes", "--json"]] {
        let said = env.run_in("shop", args).ok();
        assert_eq!(said.stdout.lines().count(), 1, "{said}");
        let project = said.json()["project"].clone();
        assert!(project["root"].is_string() && project["store"].is_string(), "{project}");
    }
    assert!(sessions(&env).is_empty());
    assert!(!env.path("shop/.claude").exists());
}

/// A minimal container: no git, no shell, nothing on the search path.
#[test]
fn a_project_begins_without_git_and_the_demo_says_what_it_needs() {
    let mut env = clone();
    let nothing = env.path("nothing").display().to_string();
    env.set("PATH", &nothing);
    let said = env.run_in("shop", ["init", "--yes"]).ok();
    assert!(said.stderr.contains("cannot start git: nothing was learned"), "{said}");
    assert!(said.stdout.contains("Session main is open."), "{said}");
    let brief = env.run_in("shop", ["brief", "--role", "developer", "--task", "Store prices"]).ok();
    assert!(brief.stdout.contains("Store prices"), "{brief}");
    let doctor = env.run_in("shop", ["doctor"]).fails(1);
    assert!(doctor.stdout.contains("whether they are up to date is unknown"), "{doctor}");
    assert!(
        doctor.stdout.contains("Install git") && !doctor.stderr.contains("in order"),
        "{doctor}"
    );
    let places = env.run_in("shop", ["where", "prices"]).fails(5);
    assert!(places.stderr.contains("hint: Install git"), "{places}");
    let demo = env.run(["demo", "--fast"]).fails(5);
    assert!(demo.stderr.contains("needs a shell"), "{demo}");
    assert_eq!(demo.stdout, "", "no half story");
}
