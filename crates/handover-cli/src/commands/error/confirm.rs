//! `handover error confirm`

use handover_store::Judgement;

use super::judge;
use crate::app::App;
use crate::commands::Outcome;

/// A known solution helped again: +0.1
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover error confirm 4f2a91c07be3d518")]
pub(crate) struct ConfirmArgs {
    /// The pattern, or the start of its hash
    hash: String,
}

pub(crate) fn run(app: &App, args: ConfirmArgs) -> Outcome {
    judge(app, &args.hash, Judgement::Confirmed)
}
