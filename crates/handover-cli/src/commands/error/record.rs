//! `handover error record`

use super::{SightingArgs, answer};
use crate::app::App;
use crate::commands::Outcome;

/// Record an occurrence of an error
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error record --message \"Cannot find module '@app/db'\" --lang typescript --command \"npm test\""
)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    sighting: SightingArgs,
}

pub(crate) fn run(app: &App, args: RecordArgs) -> Outcome {
    let pattern = app.store()?.record_error(&args.sighting.sighting(app)?)?;
    answer(app, &pattern)
}
