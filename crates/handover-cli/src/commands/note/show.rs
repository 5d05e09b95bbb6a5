//! `handover note show`

use super::{answer, named};
use crate::app::App;
use crate::commands::Outcome;

/// Show a note: its text, where it comes from, and whether it still counts
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover note show 4f2a91\n  handover note show 4f2a91 --json"
)]
pub(crate) struct ShowArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let (_, project) = app.learning()?;
    answer(app, &named(app, &project, &args.id)?)
}
