//! Files of another user. Only the administrator can give files away, so these tests do nothing for others.

use std::os::unix::fs::{chown, lchown};
use std::path::Path;

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use super::{briefed, hook, keys, notice, own_project, trust, user, value};

const STRANGER: u32 = 54_321;

/// Whether the file now belongs to somebody else.
fn given_away(path: &Path) -> bool {
    chown(path, Some(STRANGER), None).is_ok()
}

/// A folder below one in which somebody else has put a `.handover/`.
fn below_a_stranger() -> Option<TestEnv> {
    let env = user();
    let planted = env.folder().join(".handover");
    fs_err::create_dir_all(&planted).unwrap();
    fs_err::write(planted.join("config.toml"), "[packages]\nwarn_bytes = 7\n").unwrap();
    (given_away(&planted.join("config.toml")) && given_away(&planted)).then_some(env)
}

#[test]
fn a_folder_above_that_belongs_to_somebody_else_is_refused() {
    let Some(mut env) = below_a_stranger() else { return };
    let planted = env.folder().join(".handover");
    let files = || fs_err::read_dir(&planted).unwrap().count();
    for args in
        [&["session", "list"][..], &["session", "new", "s1"], &["init"], &["serve", "--port", "0"]]
    {
        let output = env.run(args.iter().chain(&["--json"])).fails(5);
        let error = output.error();
        assert_eq!(error["code"], "other_owner", "{error}");
        assert!(error["message"].as_str().unwrap().contains("uid 54321"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("handover trust --project"), "{error}");
    }
    let minimal = env.run(["assemble", "--role", "developer", "--session", "s1"]).ok();
    assert!(minimal.stdout.contains("## Context for developer"), "{minimal}");
    assert_eq!(value(&env, "packages.warn_bytes"), 50_000);
    assert_eq!(env.run_with("password=correct-horse", ["redact"]).ok().code, Some(0));
    // Hooks: one word to the user, then silence.
    assert!(notice(&env, "startup").contains("another user"));
    assert_eq!(briefed(&env, "Look"), "");
    assert_eq!(hook(&env, "Stop", json!({})).stdout, "");
    assert_eq!(files(), 1, "nothing was written there");
    // The user may decide otherwise.
    env.set("HANDOVER_TRUST", "1");
    assert_eq!(value(&env, "packages.warn_bytes"), 7);
    env.trust_nothing();
    let agreed = trust(&env, &["--yes"]);
    assert_eq!(
        (keys(&agreed), &agreed["wants"][0]["value"]),
        (vec!["owner".into()], &json!("uid 54321"))
    );
    env.run(["session", "new", "s1"]).ok();
    assert_ne!(briefed(&env, "Look"), "");
    env.run(["untrust"]).ok();
    env.run(["session", "list"]).fails(5);
}

#[test]
fn every_file_that_leads_to_the_project_counts() {
    for path in ["", ".handover", ".handover/config.toml"] {
        let env = own_project();
        if !given_away(&env.path(path)) {
            return;
        }
        assert_eq!(
            env.run(["session", "list", "--json"]).fails(5).error()["code"],
            "other_owner",
            "{path}"
        );
    }
    let env = own_project();
    fs_err::remove_file(env.path(".handover/config.toml")).unwrap();
    std::os::unix::fs::symlink(env.folder().join("mine"), env.path(".handover/config.toml"))
        .unwrap();
    fs_err::write(env.folder().join("mine"), "").unwrap();
    lchown(env.path(".handover/config.toml"), Some(STRANGER), None).unwrap();
    env.run(["session", "list"]).fails(5);
}

#[test]
fn who_creates_a_project_in_a_shared_folder_may_use_it() {
    let env = user();
    if !given_away(&env.path("")) {
        return;
    }
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    assert_ne!(briefed(&env, "Look"), "");
    // But not what somebody else put in its place.
    fs_err::remove_dir_all(env.path(".handover")).unwrap();
    env.write(".handover/config.toml", "[runs]\ncommand = \"./evil.sh\"\n");
    assert_eq!(value(&env, "runs.command"), Value::Null);
}

#[test]
fn with_sudo_the_files_of_the_caller_are_at_home() {
    let mut env = own_project();
    if !given_away(&env.path(".handover")) {
        return;
    }
    env.set("SUDO_UID", "54321");
    env.run(["session", "list"]).ok();
    env.set("SUDO_UID", "54322");
    env.run(["session", "list"]).fails(5);
}
