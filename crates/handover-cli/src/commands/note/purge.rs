//! `handover note purge`

use handover_handoff::spool;

use super::{answer, named};
use crate::app::App;
use crate::commands::Outcome;
use crate::commands::doctor::repair::erase_from_copy;

/// Erase what a note says, here and in every receipt that shows it
///
/// Its id and the hash of its text stay, so that it is not learned again. This cannot be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note purge 4f2a91")]
pub(crate) struct PurgeArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,
}

pub(crate) fn run(app: &App, args: PurgeArgs) -> Outcome {
    let (_, project) = app.learning()?;
    let note = named(app, &project, &args.id)?;
    let purged = app.store()?.purge_note(&project, &note.id, app.now())?;
    spool::erase(&app.spool()?, &[note.id])?;
    erase_from_copy(app)?;
    answer(app, &purged)
}
