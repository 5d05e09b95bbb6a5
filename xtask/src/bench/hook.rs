//! What `handover hook` costs: the host waits for it at every event.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Project, TASK, build, compare};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "10000")]
    packages: usize,

    /// How often each thing is run
    #[arg(long, default_value = "50")]
    runs: usize,
}

/// Fills a session, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    let handover = build()?;
    let folder = tempfile::tempdir()?;
    let project = Project::new(&handover, folder.path().join("project"))?;
    eprintln!("filling a session with {} packages", args.packages);
    project.fill("bench", args.packages)?;
    let event = |name: &str, fields: Value| {
        let mut event = json!({
            "session_id": "c-1", "cwd": project.root, "hook_event_name": name,
            "transcript_path": project.root.join("lead.jsonl"), "permission_mode": "default",
        });
        if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object()) {
            event.extend(fields.clone());
        }
        event.to_string()
    };
    let passed = event(
        "PostToolUse",
        json!({
            "tool_name": "Bash", "tool_input": {"command": "cargo check"}, "tool_use_id": "t",
            "tool_response": {"stdout": "Checking\n".repeat(1_000), "stderr": "", "interrupted": false},
        }),
    );
    let spawn = event(
        "PreToolUse",
        json!({
            "tool_name": "Agent", "tool_use_id": "t",
            "tool_input": {"description": "d", "prompt": TASK, "subagent_type": "general-purpose"},
        }),
    );
    let hook = |event: &str| {
        piped(
            Command::new(&project.handover).args(["hook", "claude"]).current_dir(&project.root),
            event,
        )
    };
    let nothing = || piped(&mut Command::new("/bin/true"), &passed);
    let interpreter = interpreter()?;
    let python = || piped(Command::new(&interpreter).args(["-c", "pass"]), "");
    println!("| what | first (ms) | second (ms) | ratio |\n|---|---|---|---|");
    compare(args.runs, "`/bin/true` / an event with nothing to do", nothing, || hook(&passed))?;
    compare(args.runs, "a Python interpreter that does nothing / PreToolUse", python, || {
        hook(&spawn)
    })?;
    println!("\nTo reach: first × 1.5 + 2 ms, and a ratio of 0.33.");
    Ok(())
}

/// The interpreter itself: `python3` may be a script that looks for one.
fn interpreter() -> Result<String> {
    let output = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .context("is python3 installed?")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Runs a program with a text on its standard input.
fn piped(command: &mut Command, text: &str) -> Result<Duration> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    // One that does not read closes the pipe.
    let _ = child.stdin.take().context("no pipe")?.write_all(text.as_bytes());
    ensure!(child.wait()?.success(), "{command:?} failed");
    Ok(start.elapsed())
}
