//! `handover note retire`, `restore`, `confirm` and `reject`

use handover_context::notes::Decision;
use handover_model::Note;

use super::{answer, named};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::CommandError;

/// Take a note out of use; `restore` brings it back
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note retire 4f2a91 --reason \"we moved to Kafka\"")]
pub(crate) struct RetireArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,

    /// Why it no longer counts
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Use a retired, stale or amended note again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note restore 4f2a91")]
pub(crate) struct RestoreArgs {
    /// Note id, or at least four characters of its beginning or end
    id: String,
}

/// Confirm that a later statement replaces a note
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note confirm 4f2a91")]
pub(crate) struct ConfirmArgs {
    /// Id of the note that was replaced, or at least four characters of its beginning or end
    id: String,

    /// Note that replaces it [default: the one that was found]
    #[arg(long, value_name = "NOTE")]
    by: Option<String>,
}

/// Reject a replacement that was found: the note counts again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover note reject 4f2a91")]
pub(crate) struct RejectArgs {
    /// Id of the note that was replaced, or at least four characters of its beginning or end
    id: String,

    /// Note that does not replace it [default: the one that was found]
    #[arg(long, value_name = "NOTE")]
    by: Option<String>,
}

pub(crate) fn retire(app: &App, args: RetireArgs) -> Outcome {
    decide(app, &args.id, Decision::Retire { reason: args.reason.as_deref() })
}

pub(crate) fn restore(app: &App, args: RestoreArgs) -> Outcome {
    decide(app, &args.id, Decision::Restore)
}

pub(crate) fn confirm(app: &App, args: ConfirmArgs) -> Outcome {
    let by = later(app, args.by.as_deref())?;
    decide(app, &args.id, Decision::Confirm { by: by.as_ref() })
}

pub(crate) fn reject(app: &App, args: RejectArgs) -> Outcome {
    let by = later(app, args.by.as_deref())?;
    decide(app, &args.id, Decision::Reject { by: by.as_ref() })
}

fn later(app: &App, name: Option<&str>) -> Result<Option<Note>, CommandError> {
    let (_, project) = app.learning()?;
    name.map(|name| named(app, &project, name)).transpose()
}

fn decide(app: &App, name: &str, decision: Decision<'_>) -> Outcome {
    let (_, project) = app.learning()?;
    let note = named(app, &project, name)?;
    answer(app, &app.by_hand(&project)?.decide(&note, decision)?)
}
