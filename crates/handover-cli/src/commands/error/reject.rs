//! `handover error reject`

use handover_store::Judgement;

use super::judge;
use crate::app::App;
use crate::commands::Outcome;

/// Report that a known solution did not work (confidence −0.2)
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover error reject 4f2a91c07be3d518")]
pub(crate) struct RejectArgs {
    /// Hash of the error pattern, or at least four characters of its beginning or end
    hash: String,
}

pub(crate) fn run(app: &App, args: RejectArgs) -> Outcome {
    judge(app, &args.hash, Judgement::Rejected)
}
