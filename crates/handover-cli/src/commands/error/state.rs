//! `handover error retire` and `restore`

use handover_model::RecordState;

use super::answer;
use crate::app::App;
use crate::commands::Outcome;

/// Take an error pattern out of use; `restore` brings it back
///
/// Sightings are still counted, but no brief shows it and no search finds it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error retire 4f2a91c07be3d518 --reason \"fixed upstream\""
)]
pub(crate) struct RetireArgs {
    /// Hash of the error pattern, or at least four characters of its beginning or end
    hash: String,

    /// Why it no longer counts
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Use a retired error pattern again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover error restore 4f2a91c07be3d518")]
pub(crate) struct RestoreArgs {
    /// Hash of the error pattern, or at least four characters of its beginning or end
    hash: String,
}

pub(crate) fn retire(app: &App, args: RetireArgs) -> Outcome {
    set(app, &args.hash, RecordState::Retired, args.reason.as_deref())
}

pub(crate) fn restore(app: &App, args: RestoreArgs) -> Outcome {
    set(app, &args.hash, RecordState::Live, None)
}

fn set(app: &App, hash: &str, state: RecordState, reason: Option<&str>) -> Outcome {
    let (_, project) = app.learning()?;
    let hash = app.find_error(hash)?;
    answer(app, &app.by_hand(&project)?.set_error(&hash, state, reason)?)
}
