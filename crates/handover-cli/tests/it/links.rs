//! A checkout that brings a `.handover/` with links, pipes and devices: nothing outside of it is read,
//! written or deleted, and nothing hangs.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handover_testkit::{FakeAgent, Output, Service, TestEnv};
use serde_json::{Value, json};

use crate::runs::Epic;
use crate::{empty, project};

/// A folder next to the project with many files, which nobody may touch.
struct Outside {
    path: PathBuf,
}

impl Outside {
    fn new(env: &TestEnv) -> Self {
        let path = env.folder().join("outside");
        fs_err::create_dir_all(&path).unwrap();
        for n in 0..300 {
            // Names that our own files have, so that only the link keeps them from being taken for ours.
            fs_err::write(path.join(format!("r_{n:032}.md")), "mine").unwrap();
            fs_err::write(path.join(format!("c-{n}.lead.json")), "[]").unwrap();
        }
        Self { path }
    }

    fn assert_untouched(&self) {
        let names: Vec<_> = fs_err::read_dir(&self.path).unwrap().collect();
        assert_eq!(names.len(), 600);
        for entry in names {
            let text = fs_err::read_to_string(entry.unwrap().path()).unwrap();
            assert!(text == "mine" || text == "[]", "{text}");
        }
    }
}

fn link(env: &TestEnv, target: &Path, name: &str) {
    let path = env.path(".handover").join(name);
    let _ = fs_err::remove_file(&path);
    let _ = fs_err::remove_dir_all(&path);
    symlink(target, path).unwrap();
}

fn pipe(env: &TestEnv, name: &str) {
    let path = env.path(".handover").join(name);
    let _ = fs_err::remove_file(&path);
    let made = env.tool("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
}

/// Runs a command that must end by itself, with little memory.
fn bounded(env: &TestEnv, stdin: &str, args: &[&str]) -> Output {
    let mut shell = env.tool("sh");
    let script = "ulimit -v 1500000; stdin=$1; shift; printf %s \"$stdin\" | timeout 20 \"$@\"";
    shell.args(["-c", script, "sh", stdin]).arg(env.binary()).args(args);
    let output = shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let output = env.output(output.spawn().unwrap());
    assert_ne!(output.code, Some(124), "{args:?} hangs: {output}");
    assert!(!output.stderr.contains("memory allocation"), "{args:?}: {output}");
    assert!(!output.stderr.contains("panicked"), "{args:?}: {output}");
    output
}

fn event(env: &TestEnv, name: &str, fields: Value) -> Value {
    let mut event = json!({"session_id": "c-1", "cwd": env.path(""), "hook_event_name": name});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn hook(env: &TestEnv, event: &Value) -> Output {
    env.run_with(event.to_string(), ["hook", "claude"]).ok()
}

fn spawn_event(env: &TestEnv, prompt: &str) -> Value {
    let input = json!({"description": "d", "prompt": prompt, "subagent_type": "general-purpose"});
    event(env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}))
}

#[test]
fn a_linked_log_of_hooks_is_not_written() {
    let env = project();
    let profile = env.folder().join("home/.bashrc");
    fs_err::write(&profile, "# mine\n").unwrap();
    env.write(".handover/config.toml", "touch owned; # = [\n");
    link(&env, &profile, "hooks.log");
    let _ = hook(&env, &event(&env, "SessionStart", json!({"source": "startup"})));
    assert_eq!(fs_err::read_to_string(&profile).unwrap(), "# mine\n");
    // A long one is not shortened either.
    let long = "line\n".repeat(20_000);
    fs_err::write(&profile, &long).unwrap();
    let _ = hook(&env, &event(&env, "SessionStart", json!({"source": "startup"})));
    assert_eq!(fs_err::read_to_string(&profile).unwrap(), long);
}

#[test]
fn a_linked_folder_of_briefs_is_neither_filled_nor_emptied() {
    let env = project();
    let outside = Outside::new(&env);
    // Longer than what a hook may add to a prompt.
    let rule = "Follow the rule. ".repeat(2_000);
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    env.write(
        ".handover/config.toml",
        format!("{config}\n[brief.roles.developer]\nrules = [\"{rule}\"]\n"),
    );
    link(&env, &outside.path, "briefs");
    for _ in 0..3 {
        let output = hook(&env, &spawn_event(&env, &"Do this and that. ".repeat(8_000)));
        assert!(!output.stderr.contains("panicked"), "{output}");
    }
    outside.assert_untouched();
}

#[test]
fn a_linked_folder_of_failed_commands_is_neither_filled_nor_emptied() {
    let env = project();
    let outside = Outside::new(&env);
    link(&env, &outside.path, "hooks");
    let failed = json!({
        "tool_name": "Bash", "tool_input": {"command": "make"},
        "error": "Exit code 2\nerror: no rule", "is_interrupt": false,
    });
    let _ = hook(&env, &event(&env, "PostToolUseFailure", failed));
    let _ = hook(&env, &event(&env, "SessionEnd", json!({"reason": "other"})));
    let _ = hook(&env, &event(&env, "SessionStart", json!({"source": "clear"})));
    outside.assert_untouched();
}

#[test]
fn a_service_does_not_write_through_its_linked_note() {
    let env = project();
    let file = env.folder().join("file");
    fs_err::write(&file, "mine").unwrap();
    link(&env, &file, "service.json");
    let service = Service::start(&env, &[]);
    assert_eq!(fs_err::read_to_string(&file).unwrap(), "mine");
    service.stop(&env).ok();
    assert_eq!(fs_err::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn linked_folders_of_agents_are_refused() {
    let env = project();
    let outside = Outside::new(&env);
    link(&env, &outside.path, "spawns");
    let command = format!("{} print done", FakeAgent::program().display());
    let agent = ["spawn", "--host", "command", "--agent-command", &command];
    let output = env.run(agent.iter().chain(&["--role", "developer", "--task", "x", "--json"]));
    let error = output.fails(5).error();
    assert_eq!(error["code"], "not_ours");
    assert!(error["message"].as_str().unwrap().contains(".handover/spawns is a link"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("Delete or move"), "{error}");
    outside.assert_untouched();
}

#[test]
fn a_linked_folder_of_runs_is_refused() {
    let epic = Epic::new(&["1-1-a"]);
    let outside = Outside::new(&epic.env);
    link(&epic.env, &outside.path, "runs");
    epic.run(&[]).fails(5);
    outside.assert_untouched();
}

#[test]
fn linked_artifacts_and_a_linked_spool_are_refused() {
    let env = project();
    let outside = Outside::new(&env);
    link(&env, &outside.path, "artifacts");
    env.run(["session", "new", "s2"]).fails(2);
    let _ = env.run(["session", "purge", "s1", "--yes"]);
    link(&env, &outside.path, "spool");
    let _ = env.run(["doctor"]);
    outside.assert_untouched();
}

#[test]
fn a_linked_store_is_refused() {
    let env = project();
    let target = env.folder().join("elsewhere.db");
    link(&env, &target, "store.db");
    for args in [["session", "list"], ["session", "new"], ["init", "--quiet"]] {
        let error = env.run(args.iter().chain(&["--json"])).fails(5).error();
        assert_eq!(error["code"], "not_ours", "{args:?}: {error}");
    }
    assert!(!target.exists());
    // One that exists is not used either.
    let other = TestEnv::new(crate::handover());
    fs_err::copy(other.path(".handover/store.db"), &target).unwrap();
    let before = fs_err::read(&target).unwrap();
    env.run(["session", "list"]).fails(5);
    assert_eq!(fs_err::read(&target).unwrap(), before);
}

#[test]
fn a_linked_folder_is_no_project() {
    let (env, other) = (empty(), project());
    symlink(other.path(".handover"), env.path(".handover")).unwrap();
    let before = other.run(["session", "list", "--json"]).ok().stdout;
    for args in [&["session", "new", "s9"][..], &["init"], &["session", "list"]] {
        let error = env.run(args.iter().chain(&["--json"])).fails(5).error();
        assert_eq!(error["code"], "not_ours", "{args:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains("is a link"), "{error}");
    }
    let _ = hook(&env, &event(&env, "SessionStart", json!({"source": "startup"})));
    let _ = hook(&env, &spawn_event(&env, "Do it"));
    assert_eq!(other.run(["session", "list", "--json"]).ok().stdout, before);
    assert!(!other.path(".handover/hooks.log").exists());
}

#[test]
fn endless_files_are_not_read() {
    let env = project();
    let zero = Path::new("/dev/zero");
    for name in ["config.toml", "hooks.log", "stack-cache.json", "service.json"] {
        link(&env, zero, name);
        let start = event(&env, "SessionStart", json!({"source": "startup"})).to_string();
        bounded(&env, &start, &["hook", "claude"]).ok();
        let _ = bounded(&env, "", &["doctor"]);
        let _ = bounded(&env, "", &["stack", "--json"]);
        fs_err::remove_file(env.path(".handover").join(name)).unwrap();
    }
    fs_err::create_dir_all(env.path(".handover/spool")).unwrap();
    link(&env, zero, "spool/r_0123.json");
    let doctor = bounded(&env, "", &["doctor", "--json"]);
    assert!(doctor.stdout.contains("r_0123.json is a link"), "{doctor}");
    fs_err::create_dir_all(env.path(".handover/specializations")).unwrap();
    fs_err::create_dir_all(env.path(".handover/personas")).unwrap();
    link(&env, zero, "specializations/x.md");
    link(&env, zero, "personas/x.toml");
    let _ = bounded(&env, "", &["template", "list"]);
    let _ = bounded(&env, "", &["persona", "list"]);
}

#[test]
fn endless_files_of_the_project_are_not_read() {
    let env = project();
    env.write("src/main.rs", "fn main() {}\n");
    env.write("Cargo.toml", "[package]\nname = \"shop\"\n");
    fs_err::create_dir_all(env.path("docs/stories")).unwrap();
    for name in [".gitignore", "src/.gitignore", "package.json", "docs/stories/1-1-a.md"] {
        symlink("/dev/zero", env.path(name)).unwrap();
    }
    let _ = bounded(&env, "", &["stack", "--json"]).ok();
    let _ = bounded(&env, "", &["package", "scan"]);
    let _ = bounded(&env, "", &["brief", "--role", "developer", "--task", "x"]).ok();
    let _ = bounded(&env, "", &["run", "1", "--dry-run"]);
    let _ = bounded(&env, "", &["package", "add", "package.json", "--kind", "research"]).fails(2);
}

#[test]
fn a_pipe_makes_nothing_wait() {
    let env = project();
    fs_err::create_dir_all(env.path(".handover/spool")).unwrap();
    pipe(&env, "spool/r_0123.json");
    let doctor = bounded(&env, "", &["doctor", "--json"]);
    assert!(doctor.stdout.contains("r_0123.json is a pipe"), "{doctor}");
    let command = format!("{} print done", FakeAgent::program().display());
    let mut spawn = vec!["spawn", "--host", "command", "--agent-command", &command];
    spawn.extend(["--role", "developer", "--task", "x"]);
    bounded(&env, "", &spawn).ok();
    for name in ["hooks.log", "service.json", "stack-cache.json"] {
        pipe(&env, name);
    }
    bounded(&env, &spawn_event(&env, "Do it").to_string(), &["hook", "claude"]).ok();
    let _ = bounded(&env, "", &["doctor"]);
    let _ = bounded(&env, "", &["token", "link", "--scope", "read", "--json"]);
    fs_err::remove_file(env.path(".handover/config.toml")).unwrap();
    pipe(&env, "config.toml");
    bounded(&env, "", &["session", "list"]).fails(5);
}

#[test]
fn what_agents_said_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let env = project();
    let command = format!("{} print done", FakeAgent::program().display());
    let agent = ["spawn", "--host", "command", "--agent-command", &command];
    env.run(agent.iter().chain(&["--role", "developer", "--task", "x"])).ok();
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    let spawns = env.path(".handover/spawns");
    assert_eq!(mode(&spawns), 0o700);
    for entry in fs_err::read_dir(&spawns).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(&env.path(".handover/store.db")), 0o600);
}
