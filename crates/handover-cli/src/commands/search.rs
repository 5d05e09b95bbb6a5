//! `handover search`

use handover_context::package_file::{FileState, file_state};
use handover_context::search::{Query, search};
use handover_context::shape;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Find packages by words in their title, summary, files and text
///
/// Words are stemmed, identifiers are split (`getUserById` is found by "user by id"), and only latest
/// versions of this session are searched. With --group, what that group would see: its own packages
/// and the global ones.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover search \"refresh token rotation\"\n  handover search getUserById --limit 3 --json"
)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,

    /// At most so many results
    #[arg(long, default_value = "10", value_name = "N")]
    limit: u32,
}

pub(crate) fn run(app: &App, args: SearchArgs) -> Outcome {
    let query = args.query.join(" ");
    if query.trim().is_empty() {
        return Err(CommandError::invalid("the query is empty").hinted("Say what to look for."));
    }
    let session = app.session()?;
    let group = app.group()?;
    let query = Query {
        session: &session,
        group: group.as_ref(),
        text: &query,
        limit: args.limit as usize,
        config: &app.config()?.assembly,
        now: app.now(),
    };
    let hits = app.store()?.reading(|store| search(store, &query))?;
    let places = app.places()?;
    let results: Vec<_> = hits.iter().map(|hit| shape::hit(hit, places)).collect();
    app.ui.answer("results", &results, |ui| {
        if hits.is_empty() {
            return ui.line("Nothing found.");
        }
        for hit in &hits {
            let package = &hit.package;
            let note = match file_state(places, package) {
                FileState::Current => "",
                FileState::Changed => "  (the file has changed since)",
                FileState::Vanished => "  (the file is gone)",
                FileState::Elsewhere => "  (the file is on another machine)",
            };
            ui.line(format_args!(
                "{:>4}  {}  [{}]{note}",
                package.id, package.path, package.priority
            ))?;
            ui.line(format_args!("      {}", hit.snippet))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
