//! Time of `handover hook`, which the host waits for at every event.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use handover_testkit::Lock;
use serde_json::{Value, json};

use super::{Builds, Project, TABLE, TABLE_OF_BUILDS, TASK, compare};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "10000")]
    packages: usize,

    /// Runs per measurement
    #[arg(long, default_value = "50")]
    runs: usize,

    #[command(flatten)]
    builds: Builds,
}

/// Fills a session, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    eprintln!("filling a session with {} packages", args.packages);
    if let Some((other, this)) = args.builds.pair()? {
        let other = Project::filled(&other, folder.path().join("other"), args.packages)?;
        let this = Project::filled(&this, folder.path().join("this"), args.packages)?;
        println!("{TABLE_OF_BUILDS}");
        for (what, event) in
            [("an event with nothing to do", passed as Event), ("PreToolUse", spawn)]
        {
            compare(args.runs, what, || hook(&other, event), || hook(&this, event))?;
        }
        eprintln!("learning what is in them");
        other.learn()?;
        this.learn()?;
        let what = "PreToolUse with notes and places";
        compare(args.runs, what, || hook(&other, spawn), || hook(&this, spawn))?;
        return Ok(());
    }
    let handover = args.builds.this()?;
    let project = Project::filled(&handover, folder.path().join("project"), args.packages)?;
    let nothing = || piped(&mut Command::new("/bin/true"), &passed(&project));
    let interpreter = interpreter()?;
    let python = || piped(Command::new(&interpreter).args(["-c", "pass"]), "");
    println!("{TABLE}");
    compare(args.runs, "`/bin/true` / an event with nothing to do", nothing, || {
        hook(&project, passed)
    })?;
    compare(args.runs, "a Python interpreter that does nothing / PreToolUse", python, || {
        hook(&project, spawn)
    })?;
    let locked = Project::filled(&handover, folder.path().join("locked"), args.packages)?;
    let lock = Lock::on(&locked.store_file());
    // Each waits for the lock for a while, so that fewer say enough.
    let runs = args.runs.div_ceil(5);
    let what = "PreToolUse / PreToolUse of a locked store";
    compare(runs, what, || hook(&project, spawn), || hook(&locked, spawn))?;
    lock.release();
    println!(
        "\nTarget: first × 1.5 + 2 ms, a ratio of 0.33, and a second at most for a locked store."
    );
    Ok(())
}

/// An event of Claude Code in a project, as JSON.
type Event = fn(&Project) -> String;

fn hook(project: &Project, event: Event) -> Result<Duration> {
    let event = event(project);
    piped(project.command().args(["hook", "claude"]), &event)
}

/// A command that succeeded: nothing to learn from.
fn passed(project: &Project) -> String {
    event(
        project,
        "PostToolUse",
        json!({
            "tool_name": "Bash", "tool_input": {"command": "cargo check"}, "tool_use_id": "t",
            "tool_response": {"stdout": "Checking\n".repeat(1_000), "stderr": "", "interrupted": false},
        }),
    )
}

/// A subagent is about to start.
fn spawn(project: &Project) -> String {
    event(
        project,
        "PreToolUse",
        json!({
            "tool_name": "Agent", "tool_use_id": fresh_id(),
            "tool_input": {"description": "d", "prompt": TASK, "subagent_type": "general-purpose"},
        }),
    )
}

/// A call is briefed once.
fn fresh_id() -> String {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed))
}

fn event(project: &Project, name: &str, fields: Value) -> String {
    let mut event = json!({
        "session_id": "c-1", "cwd": project.root, "hook_event_name": name,
        "transcript_path": project.root.join("lead.jsonl"), "permission_mode": "default",
    });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event.to_string()
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
    // A program that does not read closes the pipe.
    let _ = child.stdin.take().context("no pipe")?.write_all(text.as_bytes());
    ensure!(child.wait()?.success(), "{command:?} failed");
    Ok(start.elapsed())
}
