//! `handover error resolve`

use super::{SightingArgs, answer};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::CommandError;

/// Record the solution to an error
///
/// A new pattern starts with confidence 0.5; solving the same error again raises it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error resolve --message \"Cannot find module '@app/db'\" --solution \"npm run build:packages first\""
)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    sighting: SightingArgs,

    /// Solution
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = crate::input::argument)]
    solution: String,
}

pub(crate) fn run(app: &App, args: ResolveArgs) -> Outcome {
    if args.solution.trim().is_empty() {
        return Err(CommandError::invalid("the solution is empty")
            .hinted("Describe what solved the error."));
    }
    let solution = app.redactor()?.clean(args.solution.trim());
    let pattern = app.store()?.resolve_error(&args.sighting.sighting(app)?, &solution)?;
    answer(app, &pattern)
}
