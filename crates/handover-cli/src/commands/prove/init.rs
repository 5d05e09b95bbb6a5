//! `handover prove init`

use std::path::PathBuf;

use handover_agents::{CancelToken, split_command};
use handover_prove::mine::write;
use serde_json::json;

use super::find_tasks::{Search, find};
use super::open_repository;
use crate::app::App;
use crate::commands::{Outcome, spawn};
use crate::error::{CommandError, Exit, io};

/// Find tasks for an experiment in the history of this project
///
/// Looks for commits and merges that fixed a bug and came with a test. The task starts at the parent of such a commit,
/// its test is the judge, and the message becomes the prompt, as far as it says what was wrong and not what was done.
/// Every task is tried: its judge must fail at the start and pass at the fix. That runs the tests of old commits, so
/// the project must be trusted.
///
/// Knows pytest, cargo, go, and for JavaScript vitest, jest, mocha, ava, jasmine, tap, tape and node's own runner.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// File to write
    #[arg(value_name = "FILE.toml", default_value = "tasks.toml")]
    file: PathBuf,

    /// Stop after this many tasks
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,

    /// Look at this many commits at most
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    commits: u32,

    /// Stop a judge after this many seconds
    #[arg(long, value_name = "SECS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Stop looking after this many minutes and write what was found
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,

    /// Command that prepares each clone; no shell is involved [default: for JavaScript, what its lock file asks for]
    #[arg(long, value_name = "PROGRAM ARGS")]
    setup: Option<String>,

    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  handover prove init
  handover prove init tasks.toml --limit 40 --minutes 120
  handover prove init --setup \"make generated\"";

pub(crate) fn run(app: &App, args: InitArgs) -> Outcome {
    app.require_trust()?;
    let path = app.folder()?.join(&args.file);
    if path.exists() && !args.force {
        let message = format!("`{}` exists", args.file.display());
        return Err(CommandError::invalid(message)
            .hinted("Name another file, or replace it with `--force`."));
    }
    let setup = match &args.setup {
        Some(command) => {
            let (program, words) = split_command(command)?;
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            Some(std::iter::once(program.display().to_string()).chain(words).collect())
        }
        None => None,
    };
    let repo = open_repository(app)?;
    let cancel = CancelToken::default();
    spawn::cancel_on_signals(&cancel)?;
    let found = find(&Search {
        app,
        repo: &repo,
        cancel: &cancel,
        setup,
        limit: args.limit as usize,
        commits: args.commits as usize,
        timeout: args.timeout,
        until: app.now().plus_seconds(
            i64::try_from(args.minutes.saturating_mul(60)).unwrap_or(i64::MAX / 2_000_000),
        ),
    })?;
    if !found.tasks.is_empty() {
        // Messages of commits may have secrets, and the file may be committed.
        let text = app.redactor()?.clean(&write(&found.tasks));
        fs_err::write(&path, text.as_str()).map_err(|error| io(&error))?;
    }
    let answer = json!({
        "file": (!found.tasks.is_empty()).then_some(&args.file),
        "commits": found.commits,
        "candidates": found.candidates,
        "tried": found.tried,
        "tasks": found.tasks.iter().map(|one| json!({"id": one.task.id, "start": one.task.start, "fix": one.fix, "judge": one.task.judge})).collect::<Vec<_>>(),
        "rejected": found.rejected,
        "causes": found.causes,
    });
    app.ui.answer("found", &answer, |ui| {
        ui.line(format_args!(
            "{} commits, {} candidates, {} tried, {} tasks",
            found.commits,
            found.candidates,
            found.tried,
            found.tasks.len()
        ))?;
        for (reason, count) in &found.rejected {
            ui.line(format_args!("  rejected {count}: {reason}"))?;
        }
        if let Some((cause, count)) = found.cause() {
            ui.line(format_args!("  {count} of these did not build or load because of: {cause}"))?;
        }
        Ok(())
    })?;
    if let Some((cause, count)) = found.cause().filter(|_| found.is_stuck()) {
        let message = format!("{count} tests failed to load for the same reason: {cause}");
        return Err(CommandError::new(Exit::Failed, "not_found", message).hinted(
            "Set the project up so that its tests run here (install it and what it needs), or prepare each clone with `--setup`.",
        ));
    }
    if found.tasks.is_empty() {
        let message = "no commit of this history makes a task";
        return Err(CommandError::new(Exit::Failed, "not_found", message)
            .hinted("Write tasks by hand (docs/prove.md); if judges could not run, check that the project's tests run here."));
    }
    app.ui.note(format_args!(
        "Read the prompts in {}, then: handover prove {0}",
        args.file.display()
    ));
    Ok(Exit::Done)
}
