//! `handover learn`

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use handover_handoff::spool;
use handover_model::{NoteKind, SourceName, Timestamp};
use handover_text::cut;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::Outcome;
use super::doctor::repair::erase_from_copy;
use crate::app::App;
use crate::error::{CommandError, Exit, io};
use crate::input::date;
use crate::learn::{self, Lesson, Tally};

/// Learn from documents, git history, conversations and memories
///
/// What is worth knowing becomes notes, which agents get in their briefs and `handover search` finds. No model
/// is called. Secrets are redacted before anything is stored. Running it again only reads what changed, and an
/// interrupted run continues where it stopped. Notes of conversations and memories stay in a file of this
/// machine, even if the store is shared, unless `learn.share` is set.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover learn\n  handover learn transcripts --dry-run\n  handover learn docs --path docs/adr\n  handover learn --forget transcripts"
)]
pub(crate) struct LearnArgs {
    /// Sources: docs, git, transcripts, memories [default: all that are allowed]
    #[arg(value_name = "SOURCE")]
    sources: Vec<SourceName>,

    /// Only this file or folder, for the one source named; repeatable
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,

    /// Nothing older than this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Timestamp>,

    /// Show what would be kept, and store nothing
    #[arg(long)]
    dry_run: bool,

    /// Erase what was learned from a source, or from one document, commit or conversation
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["sources", "path", "since", "dry_run"])]
    forget: Option<String>,
}

pub(crate) fn run(app: &App, args: LearnArgs) -> Outcome {
    if let Some(source) = &args.forget {
        return forget(app, source);
    }
    let paths = paths(app, &args)?;
    let sources = if args.sources.is_empty() { learn::allowed(app)? } else { args.sources };
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second signal ends the process at once.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stopped))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stopped)))
            .map_err(|error| io(&error))?;
    }
    let bar = Bar::new(app);
    let lesson = Lesson {
        sources,
        paths,
        since: args.since,
        preview: args.dry_run,
        stop: &|| stopped.load(Ordering::Relaxed),
        progress: &|source, done, all| bar.draw(source, done, all),
    };
    let tallies = learn::learn(app, &lesson)?;
    bar.clear();
    app.ui.answer("learned", &tallies, |ui| {
        for note in tallies.iter().flat_map(|tally| &tally.preview) {
            ui.line(format_args!("{}  [{}, {}]", note.origin, note.kind, note.trust))?;
            ui.line(format_args!("      {}", cut::cut(&cut::one_line(&note.text), 160)))?;
        }
        ui.table(
            &["source", "found", "new", "changed", "unchanged", "skipped", "redacted", "notes"],
            tallies.iter().map(row).collect(),
            "Nothing to learn from.",
        )
    })?;
    for tally in &tallies {
        if let Some(problem) = &tally.problem {
            app.ui.warn(format_args!("{}: {problem}", tally.source));
        }
    }
    if stopped.load(Ordering::Relaxed) {
        app.ui.note("Interrupted. The next `handover learn` continues from here.");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Done)
}

fn row(tally: &Tally) -> Vec<String> {
    let mut row = vec![tally.source.to_string()];
    row.extend(
        [tally.found, tally.new, tally.changed, tally.unchanged, tally.skipped]
            .map(|count| count.to_string()),
    );
    row.push(tally.redactions.to_string());
    row.push(tally.notes.to_string());
    row
}

/// The paths, absolute. They make sense for one source only.
fn paths(app: &App, args: &LearnArgs) -> Result<Vec<PathBuf>, CommandError> {
    if !args.path.is_empty() && args.sources.len() != 1 {
        return Err(CommandError::new(Exit::Usage, "usage", "`--path` needs exactly one source")
            .hinted("Name the source, as in `handover learn docs --path docs/adr`."));
    }
    let folder = app.folder()?;
    let mut paths = Vec::new();
    for path in &args.path {
        let whole = fs_err::canonicalize(folder.join(path)).map_err(|_| {
            CommandError::invalid(format!("`{}` does not exist", path.display()))
                .hinted("Pass an existing file or folder to `--path`.")
        })?;
        paths.push(whole);
    }
    Ok(paths)
}

fn forget(app: &App, source: &str) -> Outcome {
    let (_, project) = app.learning()?;
    let store = app.store()?;
    let mut gone = Vec::new();
    if let Ok(name) = source.parse::<SourceName>() {
        gone = store.forget_notes(&project, learn::kind_of(name), None, app.now())?;
    } else {
        let unit = source.to_owned();
        let mut known = false;
        for kind in NoteKind::ALL {
            if store.note_units(&project, *kind)?.iter().any(|unit| unit.source == source) {
                known = true;
                gone.extend(store.forget_notes(&project, *kind, Some(&unit), app.now())?);
            }
        }
        if !known {
            let message = format!("nothing was learned from `{source}`");
            return Err(CommandError::new(Exit::Failed, "not_found", message).hinted(
                "Name a source (docs, git, transcripts, memories), or the `source` of a note as `handover note show` prints it with --json.",
            ));
        }
    }
    spool::erase(&app.spool()?, &gone)?;
    erase_from_copy(app)?;
    let answer = json!({"source": source, "notes": gone.len()});
    app.ui.answer("forgotten", &answer, |ui| {
        let noun = if gone.len() == 1 { "note" } else { "notes" };
        ui.line(format_args!("Erased {} {noun} from {source}", gone.len()))
    })?;
    Ok(Exit::Done)
}

/// A line on the terminal that says how far it is.
pub(super) struct Bar<'a> {
    app: &'a App,
    drawn: Cell<bool>,
}

impl<'a> Bar<'a> {
    const WIDTH: usize = 24;

    pub(super) fn new(app: &'a App) -> Self {
        Self { app, drawn: Cell::new(false) }
    }

    pub(super) fn draw(&self, source: SourceName, done: usize, all: usize) {
        let ui = &self.app.ui;
        if !ui.is_watched() || ui.is_json() || all == 0 {
            return;
        }
        let full = done * Self::WIDTH / all;
        let bar = "█".repeat(full) + &"░".repeat(Self::WIDTH - full);
        let line = format!("{source:<12} {bar} {done}/{all}");
        ui.redraw(usize::from(self.drawn.replace(true)), &[line], ui.size().0);
    }

    pub(super) fn clear(&self) {
        if self.drawn.get() {
            self.app.ui.redraw(1, &[], 0);
        }
    }
}
