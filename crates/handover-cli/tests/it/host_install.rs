//! `handover host`: hooks are added to settings and removed again, and nothing else changes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use handover_testkit::{Output, TestEnv};

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

/// Settings may be shared with others, who have the program.
#[test]
fn hooks_of_a_program_that_is_not_there_are_noted() {
    let mut env = project();
    env.run(["host", "install", "claude"]).ok();
    env.set("PATH", "/usr/bin:/bin");
    let noted = "version of claude: `claude` is not on the search path";
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains(noted), "{doctor}");
    // It is started from where the configuration says.
    let program = other_program(&env, "tools/claude-code", "echo '1.0.0 (Claude Code)'");
    let named = format!("agents.programs={{\"claude\" = \"{}\"}}", program.display());
    let doctor = env.run(["doctor", "--trust-project", "--config", &named]).stdout;
    assert!(!doctor.contains(noted) && doctor.contains("version of claude: 1.0.0"), "{doctor}");
}

/// A script in place of `handover` that counts how often it is asked for its version.
fn other_program(env: &TestEnv, path: &str, says: &str) -> PathBuf {
    env.write(path, format!("#!/bin/sh\necho \"$*\" >>\"$0.asked\"\n{says}\n"));
    let program = env.path(path);
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn asked(program: &std::path::Path) -> Vec<String> {
    let log = fs_err::read_to_string(program.with_extension("asked")).unwrap_or_default();
    log.lines().map(ToOwned::to_owned).collect()
}

/// Hooks of `programs` that call `handover` by name, and a search path on which that is a script.
fn with_other_program(programs: &[(&str, &str)], says: &str) -> (TestEnv, PathBuf) {
    let mut env = project();
    for (name, path) in programs {
        env.run(["host", "install", name]).ok();
        let text = fs_err::read_to_string(env.path(path)).unwrap();
        fs_err::write(env.path(path), text.replace(crate::handover(), "handover")).unwrap();
    }
    let other = other_program(&env, "bin/handover", says);
    let bin = env.path("bin").display().to_string();
    env.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    (env, other)
}

#[test]
fn reports_a_program_of_another_version() {
    let hosts = [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")];
    let (env, other) = with_other_program(&hosts, "echo 'handover 0.0.9 (abc, 2025-01-01, here)'");
    let doctor = env.run(["doctor"]).fails(1).stdout;
    let this = env!("CARGO_PKG_VERSION");
    for name in ["claude", "codex"] {
        let found = format!("`handover hook {name}` is version 0.0.9, and this is {this}");
        assert!(
            doctor.split_whitespace().collect::<Vec<_>>().join(" ").contains(&found),
            "{doctor}"
        );
        assert!(doctor.contains(&format!("`handover host install {name} --scope project`")));
    }
    assert_eq!(asked(&other), ["--version"], "once, for all callers");
    // The plugin calls what is on the search path.
    env.run(["host", "uninstall", "claude"]).ok();
    env.write(".claude/settings.json", "{\"enabledPlugins\": {\"handover@anywhere\": true}}\n");
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("FAIL  plugin of claude (project)"), "{doctor}");
    // Installed again, hooks call this program.
    env.run(["host", "install", "codex"]).ok();
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("ok    hooks of codex (project)"), "{doctor}");
}

#[test]
fn reports_which_of_two_programs_is_older() {
    let hosts = [("claude", ".claude/settings.json")];
    let (env, _) = with_other_program(&hosts, "echo 'handover 99.0.0 (abc, 2025-01-01, here)'");
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("Upgrade this program: it is the older one."), "{doctor}");
    let version = env!("CARGO_PKG_VERSION");
    let (env, _) = with_other_program(&hosts, &format!("echo 'handover {version} (other build)'"));
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("ok    hooks of claude (project)"), "{doctor}");
    for silent in ["exit 1", "echo 'something else 1.0'", "exec sleep 60"] {
        let (env, _) = with_other_program(&hosts, silent);
        let doctor = env.run(["doctor"]).fails(1).stdout;
        assert!(doctor.contains("does not say its version"), "{silent}: {doctor}");
    }
}

/// A checkout may bring settings and a program of our name.
#[test]
fn a_program_that_only_the_project_names_is_not_started() {
    let env = project();
    env.run(["host", "install", "claude"]).ok();
    let other = other_program(&env, "tools/handover", "echo 'handover 0.0.9 (abc)'");
    let path = env.path(".claude/settings.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, text.replace(crate::handover(), &other.display().to_string())).unwrap();
    let doctor = env.run(["doctor"]).fails(1).stdout;
    let words = doctor.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("which is neither this program nor on the search path"), "{doctor}");
    assert_eq!(asked(&other), Vec::<String>::new());
    // Two programs at once are a mix, whatever they are.
    fs_err::write(&path, text.replacen(crate::handover(), "handover", 1)).unwrap();
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(doctor.contains("FAIL  hooks of claude (project)"), "{doctor}");
}

/// `npx` and `uvx` run programs from caches that they empty.
#[test]
fn hooks_do_not_name_what_a_launcher_deletes() {
    let env = empty();
    env.git("", &["init", "-q"]);
    let place = |path: &str| {
        let to = env.folder().join(path);
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        let from = env.folder().join("handover");
        if !from.exists() && fs_err::hard_link(env.binary(), &from).is_err() {
            fs_err::copy(env.binary(), &from).unwrap();
        }
        fs_err::hard_link(&from, &to).unwrap();
        to
    };
    let agents = env.folder().join("agents");
    fs_err::create_dir_all(&agents).unwrap();
    fs_err::write(agents.join("claude"), "#!/bin/sh\n").unwrap();
    let run = |program: &PathBuf, environment: Option<&str>, args: &[&str]| -> Output {
        let folder = program.parent().unwrap().display();
        let mut command = env.tool(program);
        command.env("PATH", format!("{folder}:{}:/usr/bin:/bin", agents.display()));
        if let Some(environment) = environment {
            command.env("VIRTUAL_ENV", env.folder().join(environment));
        }
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        env.output(command.spawn().unwrap())
    };
    let install = ["host", "install", "claude", "--json"];
    for (path, advice) in [
        ("home/.npm/_npx/5f1/node_modules/.bin/handover", "npm install --global handover-cli"),
        ("home/.cache/uv/archive-v0/Xk3/bin/handover", "uv tool install handover-cli"),
        ("home/.cache/pipx/8a1/bin/handover", "pipx install handover-cli"),
    ] {
        let program = place(path);
        let error = run(&program, None, &install).fails(5).error();
        assert_eq!(error["code"], "not_installed", "{error}");
        assert!(error["hint"].as_str().unwrap().contains(advice), "{error}");
        assert!(!env.path(".claude").exists() && !env.path(".handover").exists(), "{path}");
        let init = run(&program, None, &["init", "--yes"]).ok();
        let said = init.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("Install it: `{advice}`")), "{init}");
        assert!(!env.path(".claude").exists(), "{path}");
        fs_err::remove_dir_all(env.path(".handover")).unwrap();
    }
    // By name only if another shell finds that, too.
    for (path, environment, by_name) in [
        ("tools/bin/handover", None, true),
        ("venv/bin/handover", Some("venv"), false),
        ("shop/node_modules/.bin/handover", None, false),
    ] {
        let program = place(path);
        run(&program, environment, &install).ok();
        let text = fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
        let full = format!("\"{} hook claude\"", program.display());
        assert_eq!(text.contains("\"handover hook claude\""), by_name, "{path}: {text}");
        assert_eq!(text.contains(&full), !by_name, "{path}: {text}");
        run(&program, environment, &["host", "uninstall", "claude"]).ok();
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
