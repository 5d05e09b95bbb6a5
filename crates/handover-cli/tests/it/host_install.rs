//! `handover host`: hooks are added to settings and removed again, and nothing else changes.

use handover_testkit::TestEnv;

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
    assert!(
        list.lines().any(|line| line.starts_with("claude") && line.contains("installed")),
        "{list}"
    );
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
    env.run(["host", "install", "command"]).fails(2);
}

/// Whatever a program's settings look like, and wherever they are.
#[test]
fn every_host_is_installed_and_removed_without_a_trace() {
    let tree = |env: &TestEnv| -> Vec<String> {
        let found = std::process::Command::new("find").arg(env.folder()).output().unwrap();
        let paths = String::from_utf8(found.stdout).unwrap();
        let mut paths: Vec<String> = paths.lines().map(ToOwned::to_owned).collect();
        // The store's own files come and go, and so does the folder of the user's configuration.
        paths.retain(|path| !path.contains("/.handover/") && !path.contains("/.config"));
        paths.sort();
        paths
    };
    let env = project();
    let hosts = env.run(["host", "list", "--json"]).ok().json()["hosts"].clone();
    let before = tree(&env);
    for host in hosts.as_array().unwrap() {
        let (name, scope) = (host["name"].as_str().unwrap(), host["scope"].as_str().unwrap());
        env.run(["host", "install", name, "--scope", scope]).ok();
        let root = env.folder().display().to_string();
        let path = host["path"].as_str().unwrap().replace("[ROOT]", &root);
        assert!(std::path::Path::new(&path).exists(), "{host}");
        env.run(["doctor"]).ok();
        env.run(["host", "uninstall", name, "--scope", scope]).ok();
        assert_eq!(tree(&env), before, "{name} {scope}");
    }
}

/// Settings that a person wrote, in the form of each program.
const WRITTEN: [(&str, &str, &str); 6] = [
    ("claude", "claude/settings.json", SETTINGS),
    ("codex", "codex/hooks.json", "{ \"hooks\": {\"Stop\": [ ]},\t\"x\":1}\r\n"),
    (
        "copilot",
        "copilot/hooks/own.json",
        "{\"version\": 1, \"hooks\": {\"PreToolUse\": [{\"type\": \"command\", \"command\": \"mine\"}]}}",
    ),
    (
        "gemini",
        "gemini/settings.json",
        "{\n  // mine\n  \"hooks\": {\"AfterTool\": [ /* none */ ]},\n\n\n  \"ui\": {\"theme\" : \"x\"}\n}\n",
    ),
    ("opencode", "opencode/plugin/own.js", "export const Own = async () => ({})\n"),
    (
        "qwen",
        "qwen/settings.json",
        "\u{feff}{\n\t\"security\": {},\n\t// hooks\n\t\"hooks\": {}\n}",
    ),
];

/// The bytes of every file of the programs, wherever they are.
fn bytes(env: &TestEnv) -> Vec<(String, Vec<u8>)> {
    let found =
        std::process::Command::new("find").arg(env.folder()).args(["-type", "f"]).output().unwrap();
    let paths = String::from_utf8(found.stdout).unwrap();
    let mut paths: Vec<&str> = paths
        .lines()
        .filter(|path| !path.contains("/.handover/") && !path.contains("/handover/"))
        .collect();
    paths.sort_unstable();
    paths.into_iter().map(|path| (path.to_owned(), fs_err::read(path).unwrap())).collect()
}

#[test]
fn uninstall_leaves_what_a_person_wrote_byte_for_byte() {
    for (name, _, _) in WRITTEN {
        for scope in ["project", "user"] {
            let env = project();
            let path = |program: &str, file: &str| match (program, scope) {
                ("copilot", "project") => env.path(&file.replacen("copilot", ".github", 1)),
                ("opencode", "user") => env.folder().join("home/.config").join(file),
                (_, "project") => env.path(&format!(".{file}")),
                _ => env.folder().join(format!("home/.{file}")),
            };
            for (program, file, text) in WRITTEN {
                let path = path(program, file);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, text).unwrap();
            }
            let before = bytes(&env);
            env.run(["host", "install", name, "--scope", scope]).ok();
            assert_ne!(bytes(&env), before, "{name} {scope}: nothing was installed");
            env.run(["host", "install", name, "--scope", scope]).ok();
            env.run(["host", "uninstall", name, "--scope", scope]).ok();
            assert_eq!(bytes(&env), before, "{name} {scope}");
        }
    }
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

/// Everything is registered, but not as this version does it.
#[test]
fn reports_hooks_of_another_version() {
    for (name, path, from, to) in [
        ("claude", ".claude/settings.json", "\"timeout\": ", "\"timeout\": 1"),
        ("codex", ".codex/hooks.json", "\"timeout\": ", "\"timeout\": 1"),
        ("copilot", ".github/hooks/handover.json", "\"timeoutSec\": ", "\"timeoutSec\": 1"),
        ("gemini", ".gemini/settings.json", "\"matcher\": \"invoke_agent|", "\"matcher\": \""),
        ("opencode", ".opencode/plugin/handover.js", "const COMMAND", "// Older.\nconst COMMAND"),
        ("qwen", ".qwen/settings.json", "\"timeout\": ", "\"timeout\": 1"),
    ] {
        let env = project();
        env.run(["host", "install", name]).ok();
        let path = env.path(path);
        let text = fs_err::read_to_string(&path).unwrap();
        let older = text.replacen(from, to, 1);
        assert_ne!(older, text, "{name}");
        fs_err::write(&path, older).unwrap();
        let doctor = env.run(["doctor"]).fails(1).stdout;
        assert!(doctor.contains("has hooks of another version"), "{name}: {doctor}");
        assert!(doctor.contains(&format!("`handover host install {name} --scope project` renews")));
        env.run(["host", "install", name]).ok();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text, "{name}");
        let doctor = env.run(["doctor"]).stdout;
        assert!(!doctor.contains("another version"), "{name}: {doctor}");
    }
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

#[test]
fn settings_with_a_byte_order_mark_stay_as_they_are() {
    let env = project();
    let before = "\u{feff}{\n  \"model\": \"opus\"\n}\n";
    env.write(".claude/settings.json", before);
    env.run(["host", "install", "claude"]).ok();
    let with = fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
    assert!(with.starts_with("\u{feff}{") && with.contains("hook claude"), "{with}");
    env.run(["doctor"]).ok();
    env.run(["host", "uninstall", "claude"]).ok();
    assert_eq!(fs_err::read_to_string(env.path(".claude/settings.json")).unwrap(), before);
}

/// As `codex plugin add` enables it.
#[test]
fn the_plugin_of_codex_is_seen_in_its_configuration() {
    let mut env = project();
    env.set("CODEX_HOME", &env.path("codex").display().to_string());
    let states = |env: &handover_testkit::TestEnv| {
        let list = env.run(["host", "list", "--json"]).ok().json();
        let mut codex = list["hosts"].as_array().unwrap().iter();
        let user = codex.rfind(|one| one["name"] == "codex" && one["scope"] == "user");
        let user = user.unwrap().clone();
        (user["plugin"].clone(), user["path"].as_str().unwrap().to_owned())
    };
    for off in [
        "",
        "[plugins.\"handover@handover\"]\nenabled = false\n",
        "[plugins.\"other@handover\"]\n",
        "= broken",
    ] {
        env.write("codex/config.toml", off);
        assert_eq!(states(&env).0, false, "{off}");
    }
    env.write("codex/config.toml", "[plugins.\"handover@handover\"]\nenabled = true\n");
    let (plugin, path) = states(&env);
    assert!(plugin == true && path.ends_with("codex/config.toml"), "{path}");
    let doctor = env.run(["doctor"]).stdout;
    assert!(doctor.contains("plugin of codex (user)"), "{doctor}");
}

#[test]
fn the_plugin_is_seen_where_settings_enable_it() {
    let env = project();
    env.write(".claude/settings.json", "{\"enabledPlugins\": {\"handover@anywhere\": true}}\n");
    let list = env.run(["host", "list", "--json"]).ok().json();
    let claude = &list["hosts"][0];
    assert_eq!((&claude["plugin"], &claude["installed"]), (&true.into(), &false.into()), "{list}");
    let doctor = env.run(["doctor"]).stdout;
    assert!(doctor.contains("plugin of claude (project)"), "{doctor}");
    env.run(["host", "install", "claude"]).ok();
    let doctor = env.run(["doctor"]).stdout;
    assert!(doctor.contains("beside the hooks: only one of them answers"), "{doctor}");
}

#[test]
fn declining_is_no_error_and_removing_hooks_is_one_line() {
    let env = crate::project();
    let declined = crate::watch::on_terminal(&env, "host install claude", &[(2_000, "n\n")]);
    assert_eq!(declined.code, Some(1), "{declined}");
    assert!(declined.stdout.contains("Nothing was changed."), "{declined}");
    assert!(!declined.stdout.contains("error:"), "{declined}");
    assert!(!env.path(".claude/settings.json").exists());
    env.run(["host", "install", "claude", "--yes"]).ok();
    let lines = env.run(["host", "uninstall", "claude", "--dry-run"]).ok();
    assert!(lines.stdout.lines().count() > 5, "{lines}");
    let removed = env.run(["host", "uninstall", "claude"]).ok();
    assert_eq!(removed.stdout, "claude no longer calls Handover.\n");
}
