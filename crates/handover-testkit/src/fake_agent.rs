//! The fault-injecting agent program, and a way to find running processes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The program `handover-fake-agent`. Its arguments are actions, performed in order:
///
/// | action | does |
/// |---|---|
/// | `read`, `echo-prompt FILE` | reads standard input to its end, writes it to a file; without them it never reads |
/// | `print TEXT`, `half TEXT`, `err TEXT`, `invalid-utf8` | prints a line, a line without its end, a line on standard error, invalid UTF-8 |
/// | `flood BYTES`, `flood-line BYTES` | prints many lines, one endless line |
/// | `write FILE TEXT`, `append FILE TEXT`, `append-forever FILE`, `result JSON` | writes files; `result` the one that `HANDOVER_RESULT` names |
/// | `pid FILE`, `env FILE` | writes its PID, its environment |
/// | `sleep MS`, `hang`, `chatter`, `wait-for FILE` | waits, forever, printing forever, until a file exists |
/// | `ignore-term`, `setsid`, `close-stdout` | ignores SIGTERM, leaves its session, closes its output |
/// | `run "PROGRAM ARGS"` | runs a program and waits; exits with 1 if it fails |
/// | `spawn ACTIONS`, `spawn-quiet ACTIONS`, `spawn-unmarked ACTIONS` | starts itself without waiting: with its output, without, with an empty environment |
/// | `crash`, `kill-self`, `exit CODE` | ends |
///
/// `{HANDOVER_…}` in an argument is replaced by the variable, `{HANDOVER_NONCE}` by the nonce in the prompt. `--script FILE` takes the actions from the
/// first line `STORY PHASE ATTEMPT ROLE | ACTIONS` that matches the environment of a run (`*` matches all).
#[derive(Debug)]
pub struct FakeAgent;

impl FakeAgent {
    /// The path of the program. Cargo builds the binaries of other packages only with the whole workspace, so a
    /// missing or outdated one is built here.
    pub fn program() -> PathBuf {
        let name = "handover-fake-agent";
        let this = std::env::current_exe().unwrap();
        // Tests are in a folder of their own, other programs are not.
        let folder = this.parent().unwrap();
        let profile = if folder.ends_with("deps") { folder.parent().unwrap() } else { folder };
        let program = profile.join(name);
        let name_of_profile = match profile.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/fake_agent.rs");
        if changed(&program) < changed(&source) {
            let status = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bin", name])
                .args(["--profile", name_of_profile])
                .arg("--target-dir")
                .arg(profile.parent().unwrap())
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status()
                .unwrap();
            assert!(status.success() && program.exists(), "cannot build {name}");
        }
        program
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs_err::metadata(path).and_then(|data| data.modified()).ok()
}

/// The ids of all processes with an environment variable whose value contains the text.
pub fn processes_with(variable: &str, text: &str) -> Vec<u32> {
    let start = format!("{variable}=");
    let carries = |pid: &u32| {
        let environ = fs_err::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|&byte| byte == 0).any(|var| {
            let var = String::from_utf8_lossy(var);
            var.strip_prefix(&start).is_some_and(|value| value.contains(text))
        })
    };
    let entries = fs_err::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(carries).collect()
}
