//! `handover search`

use handover_context::package_file::{FileState, file_state};
use handover_context::search::{Query, search};
use handover_context::shape;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Search packages by title, summary, files and text
///
/// Words are stemmed and identifiers are split: "user by id" finds `getUserById`. Only the latest versions
/// in this session are searched; with --group, only that group's packages and the global ones.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover search \"refresh token rotation\"\n  handover search getUserById --limit 3 --json"
)]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,

    /// Maximum number of results
    #[arg(long, default_value = "10", value_name = "N")]
    limit: u32,
}

pub(crate) fn run(app: &App, args: SearchArgs) -> Outcome {
    let query = args.query.join(" ");
    if query.trim().is_empty() {
        return Err(
            CommandError::invalid("the query is empty").hinted("Pass the words to search for.")
        );
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
            return ui.line("No results.");
        }
        for hit in &hits {
            let package = &hit.package;
            let note = match file_state(places, package) {
                FileState::Current => "",
                FileState::Changed => "  (file changed)",
                FileState::Vanished => "  (file missing)",
                FileState::Elsewhere => "  (file on another machine)",
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
