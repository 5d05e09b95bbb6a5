//! `handover where`

use std::path::PathBuf;
use std::time::Duration;

use handover_knowledge::places::Evidence;
use serde::Serialize;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input;

/// How long a first index may take before the answer is given from what there is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Show the files that a task will most likely touch
///
/// Ranks the project's files by the words of the task in text, names and paths, by commits whose messages
/// sound like it, and by what changes together. The index below .handover/ follows git; the first call
/// builds it, later ones read what has changed. Files that git ignores, vendored, generated and binary
/// files are left out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover where \"refresh tokens expire too early\"\n  gh issue view 12 | handover where --limit 20 --json\n  handover where --file story.md"
)]
pub(crate) struct WhereArgs {
    /// The task; standard input without it
    task: Vec<String>,

    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    file: Option<PathBuf>,

    /// Maximum number of files
    #[arg(long, default_value = "8", value_name = "K")]
    limit: u32,
}

#[derive(Debug, Serialize)]
struct Shown {
    path: String,
    score: f64,
    why: String,
}

pub(crate) fn run(app: &App, args: WhereArgs) -> Outcome {
    let task = Some(args.task.join(" ")).filter(|_| !args.task.is_empty());
    let task = input::given(task, args.file.as_deref(), &app.stdin, "the task")?;
    if task.trim().is_empty() {
        return Err(
            CommandError::invalid("the task is empty").hinted("Describe the work in a few words.")
        );
    }
    let redactor = app.redactor()?;
    let Some(index) = app.file_index(PATIENCE)? else {
        return Err(CommandError::new(
            Exit::Usage,
            "no_repository",
            "the project is not in a git repository",
        )
        .hinted("`git init` makes it one; the index of files follows git."));
    };
    if !index.is_complete() {
        app.ui.note("The index is not complete yet; the next call continues it.");
    }
    let places = index.places(&task, &Evidence::default(), args.limit as usize);
    let places: Vec<Shown> = places
        .into_iter()
        .map(|place| Shown {
            path: redactor.clean(&place.path).as_str().to_owned(),
            score: (place.score * 1_000.0).round() / 1_000.0,
            why: redactor.clean(&place.why).as_str().to_owned(),
        })
        .collect();
    app.ui.answer("places", &places, |ui| {
        if places.is_empty() {
            return ui.line("No file matches the task.");
        }
        for place in &places {
            ui.line(format_args!("{}", place.path))?;
            ui.line(format_args!("    {}", place.why))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
