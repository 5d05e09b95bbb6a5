//! What the engine of runs adds to each phase: stories done by an agent that does next to nothing.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{build, median};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stories of the epic
    #[arg(long, default_value = "10")]
    stories: usize,

    /// Files of the repository
    #[arg(long, default_value = "500")]
    files: usize,

    /// How often the epic is run
    #[arg(long, default_value = "5")]
    runs: usize,
}

/// Does its work with shell builtins only, so that nearly all of the time is the engine's.
const AGENT: &str = "\
if [ $HANDOVER_PHASE = review ]; then echo \"REVIEW PASSED: $HANDOVER_STORY\"; else
echo work > $HANDOVER_STORY.txt; echo \"IMPLEMENTATION COMPLETE: $HANDOVER_STORY\"; fi
";

/// Agents of one story: a developer and a reviewer.
const PHASES: usize = 2;

/// Runs the epic, prints what each phase costs.
pub fn run(args: &Args) -> Result<()> {
    let handover = build()?;
    let mut times = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..args.runs {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("project");
        fs_err::create_dir_all(root.join("docs/stories"))?;
        fs_err::create_dir_all(root.join("src"))?;
        for n in 0..args.files {
            fs_err::write(root.join(format!("src/{n}.txt")), format!("file {n}\n").repeat(40))?;
        }
        for n in 1..=args.stories {
            let text = format!("# Story 1.{n}: x\n\nStatus: ready\n\n- [ ] do it\n");
            fs_err::write(root.join(format!("docs/stories/1-{n}-x.md")), text)?;
        }
        let agent = folder.path().join("agent.sh");
        fs_err::write(&agent, AGENT)?;
        let call = |program: &str, words: &[&str]| -> Result<Duration> {
            let begin = Instant::now();
            let output = Command::new(program).args(words).current_dir(&root).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "{program} {words:?}: {said}");
            Ok(begin.elapsed())
        };
        let program = handover.to_str().context("an odd path")?;
        call("git", &["init", "--quiet"])?;
        call(program, &["init", "--quiet"])?;
        call("git", &["add", "--all"])?;
        call(
            "git",
            &["-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "-m", "base"],
        )?;
        let command = format!("sh {}", agent.display());
        times.push(call(program, &["run", "1", "--quiet", "--agent-command", &command])?);
        starts.push(call("sh", &["-c", "exit"])?);
    }
    let (whole, start) = (median(&mut times), median(&mut starts));
    let phases = (args.stories * PHASES) as f64;
    println!("| what | ms |\n|---|---|");
    println!("| the whole run, {} stories | {:.0} |", args.stories, whole * 1e3);
    println!("| the shell of one agent | {:.1} |", start * 1e3);
    println!("| the engine, per phase | {:.1} |", (whole / phases - start) * 1e3);
    Ok(())
}
