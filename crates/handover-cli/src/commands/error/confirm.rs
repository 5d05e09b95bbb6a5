//! `handover error confirm`

use handover_store::Judgement;

use super::judge;
use crate::app::App;
use crate::commands::Outcome;

/// Confirm that a known solution worked (confidence +0.1)
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover error confirm 4f2a91c07be3d518")]
pub(crate) struct ConfirmArgs {
    /// Hash of the error pattern, or at least four characters of its beginning or end
    hash: String,
}

pub(crate) fn run(app: &App, args: ConfirmArgs) -> Outcome {
    judge(app, &args.hash, Judgement::Confirmed)
}
