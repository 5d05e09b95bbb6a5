//! Overhead of the run engine per phase, with an agent that does next to nothing.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::project::path;
use super::{Builds, TABLE_OF_BUILDS, median, print_row};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stories in the epic
    #[arg(long, default_value = "10")]
    stories: usize,

    /// Files in the repository
    #[arg(long, default_value = "500")]
    files: usize,

    /// Runs of the epic
    #[arg(long, default_value = "5")]
    runs: usize,

    /// Fail if the engine takes longer than this per phase
    #[arg(long, value_name = "MS")]
    limit: Option<f64>,

    #[command(flatten)]
    builds: Builds,
}

/// Works with shell builtins only, so that nearly all of the time is the engine's.
const AGENT: &str = "\
if [ $HANDOVER_PHASE = review ]; then echo \"REVIEW PASSED: $HANDOVER_STORY\"; else
echo work > $HANDOVER_STORY.txt; echo \"IMPLEMENTATION COMPLETE: $HANDOVER_STORY\"; fi
";

/// Agents of one story: a developer and a reviewer.
const PHASES: usize = 2;

/// Runs the epic, prints what each phase costs.
pub fn run(args: &Args) -> Result<()> {
    let phases = (args.stories * PHASES) as f64;
    if let Some((other, this)) = args.builds.pair()? {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..args.runs {
            first.push(run_epic(args, &other)?);
            second.push(run_epic(args, &this)?);
        }
        let (first, second) = (median(&mut first), median(&mut second));
        println!("{TABLE_OF_BUILDS}");
        print_row(&format!("the whole run, {} stories", args.stories), first, second);
        print_row("per phase, its agent included", first / phases, second / phases);
        return Ok(());
    }
    let handover = args.builds.this()?;
    let (mut times, mut starts) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        times.push(run_epic(args, &handover)?);
        starts.push(call(Path::new("."), "sh", &["-c", "exit"])?);
    }
    let (whole, start) = (median(&mut times), median(&mut starts));
    println!("| what | ms |\n|---|---|");
    println!("| the whole run, {} stories | {:.0} |", args.stories, whole * 1e3);
    println!("| the shell of one agent | {:.1} |", start * 1e3);
    let engine = (whole / phases - start) * 1e3;
    println!("| the engine, per phase | {engine:.1} |");
    let is_within = args.limit.is_none_or(|limit| engine <= limit);
    ensure!(is_within, "the engine takes {engine:.0} ms per phase, more than allowed");
    Ok(())
}

/// How long an epic takes in a new repository.
fn run_epic(args: &Args, handover: &Path) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    fs_err::create_dir_all(&root)?;
    call(&root, path(handover)?, &["init", "--quiet"])?;
    prepare(&root, args.stories, args.files)?;
    run_epic_in(&root, handover)
}

/// Commits files and the stories of an epic.
pub fn prepare(root: &Path, stories: usize, files: usize) -> Result<()> {
    fs_err::create_dir_all(root.join("docs/stories"))?;
    fs_err::create_dir_all(root.join("src"))?;
    for n in 0..files {
        fs_err::write(root.join(format!("src/{n}.txt")), format!("file {n}\n").repeat(40))?;
    }
    for n in 1..=stories {
        let text = format!("# Story 1.{n}: x\n\nStatus: ready\n\n- [ ] do it\n");
        fs_err::write(root.join(format!("docs/stories/1-{n}-x.md")), text)?;
    }
    call(root, "git", &["init", "--quiet"])?;
    call(root, "git", &["add", "--all", "src", "docs/stories"])?;
    let commit = ["commit", "--quiet", "-m", "base"];
    let author = ["-c", "user.name=b", "-c", "user.email=b@b"];
    call(root, "git", &[&author[..], &commit].concat())?;
    Ok(())
}

/// How long the epic takes in a repository that is prepared.
pub fn run_epic_in(root: &Path, handover: &Path) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let agent = folder.path().join("agent.sh");
    fs_err::write(&agent, AGENT)?;
    let command = format!("sh {}", agent.display());
    call(root, path(handover)?, &["run", "1", "--quiet", "--agent-command", &command])
}

fn call(folder: &Path, program: &str, words: &[&str]) -> Result<Duration> {
    let start = Instant::now();
    let output = Command::new(program).args(words).current_dir(folder).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {words:?}: {errors}");
    Ok(start.elapsed())
}
