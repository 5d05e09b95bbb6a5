//! `handover host`: hooks are added to settings and removed again, and nothing else changes.

use crate::{empty, project};

const SETTINGS: &str = "{\n    \"permissions\": {\"allow\": [ \"Bash(ls:*)\" ]},\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n        ],\n        \"Stop\": []\n    }\n}";

#[test]
fn installs_and_uninstalls_cleanly() {
    let env = project();
    env.write(".claude/settings.json", SETTINGS);
    let read = || fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
    let host = env.run(["host", "install", "claude", "--json"]).ok().json()["host"].clone();
    assert_eq!((host["name"].as_str(), host["changed"].as_bool()), (Some("claude"), Some(true)));
    assert_eq!(host["scope"], "project");
    let with = read();
    assert!(with.contains("\"permissions\": {\"allow\": [ \"Bash(ls:*)\" ]}"), "{with}");
    assert!(with.contains(" hook claude\""), "{with}");
    let again = env.run(["host", "install", "claude", "--json"]).ok().json();
    assert_eq!((again["host"]["changed"].as_bool(), read()), (Some(false), with));
    let list = env.run(["host", "list", "--json"]).ok().json();
    let claude = &list["hosts"][0];
    assert_eq!(
        (claude["installed"].as_bool(), claude["complete"].as_bool()),
        (Some(true), Some(true))
    );
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("hooks of claude (project): 9 events"), "{doctor}");
    env.run(["host", "uninstall", "claude"]).ok();
    assert_eq!(read(), SETTINGS);
    let again = env.run(["host", "uninstall", "claude", "--json"]).ok().json();
    assert_eq!(again["host"]["changed"], false);
}

#[test]
fn uninstall_keeps_changes_by_others() {
    let env = project();
    env.write(".claude/settings.json", SETTINGS);
    env.run(["host", "install", "claude"]).ok();
    let with = fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
    env.write(".claude/settings.json", with.replace("ls:*", "cat:*"));
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("9 events"), "{doctor}");
    env.run(["host", "uninstall", "claude"]).ok();
    let left = fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
    assert!(
        left.contains("cat:*") && left.contains("\"mine\"") && !left.contains("handover"),
        "{left}"
    );
}

#[test]
fn install_sets_up_the_project_and_uninstall_leaves_no_trace() {
    let env = empty();
    let shown = env.run(["host", "install", "codex", "--dry-run"]).ok().stdout;
    assert!(shown.contains("+++ ") && shown.contains("SubagentStop"), "{shown}");
    assert!(!env.path(".codex").exists() && !env.path(".handover").exists());
    env.run(["host", "install", "codex"]).ok();
    assert!(env.path(".codex/hooks.json").exists() && env.path(".handover/store.db").exists());
    env.run(["host", "uninstall", "codex"]).ok();
    assert!(!env.path(".codex").exists());
    assert!(!env.path(".handover/hosts").exists());
}

#[test]
fn installs_for_the_user() {
    let env = project();
    let path = env.folder().join("home/.claude/settings.json");
    env.run(["host", "install", "claude", "--scope", "user"]).ok();
    assert!(path.exists() && !env.path(".claude").exists());
    let list = env.run(["host", "list"]).ok().stdout;
    assert!(list.contains("claude  user     installed"), "{list}");
    env.run(["host", "uninstall", "claude", "--scope", "user"]).ok();
    assert!(!env.folder().join("home/.claude").exists());
    assert!(!env.folder().join("home/.config").join("handover/hosts").exists());
}

#[test]
fn rejects_broken_settings_without_changing_them() {
    let env = project();
    env.write(".claude/settings.json", "{\"hooks\": ");
    let error = env.run(["host", "install", "claude", "--json"]).fails(2).error();
    assert_eq!(error["code"], "invalid_settings");
    assert!(error["message"].as_str().unwrap().contains(".claude/settings.json"), "{error}");
    assert_eq!(fs_err::read_to_string(env.path(".claude/settings.json")).unwrap(), "{\"hooks\": ");
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("FAIL  hooks of claude (project)"), "{doctor}");
    env.run(["host", "uninstall", "claude"]).fails(2);
    env.run(["host", "install", "gemini"]).fails(2);
}

#[test]
fn reports_hooks_that_would_not_run() {
    let env = project();
    env.run(["host", "install", "claude"]).ok();
    let path = env.path(".claude/settings.json");
    let text = fs_err::read_to_string(&path).unwrap();
    let program = crate::handover();
    fs_err::write(&path, text.replace(program, "/gone/handover")).unwrap();
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("`/gone/handover hook claude` would not be found"), "{doctor}");
    fs_err::write(&path, text.replacen("\"Stop\"", "\"Stopp\"", 1)).unwrap();
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("lacks Stop"), "{doctor}");
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    use std::os::unix::fs::symlink;
    let env = project();
    let outside = env.folder().join("outside");
    fs_err::create_dir_all(&outside).unwrap();
    let file = outside.join("settings.json");
    fs_err::write(&file, "{}").unwrap();
    // The file, its folder, and one that does not exist yet.
    for link in 0..3 {
        let _ = fs_err::remove_dir_all(env.path(".claude"));
        let _ = fs_err::remove_file(env.path(".claude"));
        if link == 1 {
            symlink(&outside, env.path(".claude")).unwrap();
        } else {
            fs_err::create_dir_all(env.path(".claude")).unwrap();
            let target = if link == 0 { file.clone() } else { outside.join("new.json") };
            symlink(target, env.path(".claude/settings.json")).unwrap();
        }
        let error = env.run(["host", "install", "claude", "--json"]).fails(5).error();
        assert_eq!(error["code"], "not_ours", "{error}");
        env.run(["host", "uninstall", "claude"]).fails(5);
        env.run(["host", "list"]).ok();
    }
    assert_eq!(fs_err::read_to_string(&file).unwrap(), "{}");
    assert_eq!(fs_err::read_dir(&outside).unwrap().count(), 1);
    // Inside of the project it is the user's own arrangement.
    fs_err::remove_dir_all(env.path(".claude")).unwrap();
    env.write("dotfiles/settings.json", "{}");
    fs_err::create_dir_all(env.path(".claude")).unwrap();
    symlink(env.path("dotfiles/settings.json"), env.path(".claude/settings.json")).unwrap();
    env.run(["host", "install", "claude"]).ok();
    assert!(
        fs_err::read_to_string(env.path("dotfiles/settings.json")).unwrap().contains("hook claude")
    );
}
