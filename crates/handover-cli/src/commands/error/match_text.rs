//! `handover error match`

use handover_context::learning::match_errors;

use super::answer_all;
use crate::app::App;
use crate::commands::Outcome;

/// Find known errors in a message or log, best match first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error match \"connect ECONNREFUSED 127.0.0.1:5432\"\n  npm test 2>&1 | tail -n 40 | handover error match -"
)]
pub(crate) struct MatchArgs {
    /// Text, or `-` for standard input
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: String,

    /// Maximum number of matches
    #[arg(long, default_value = "5", value_name = "N")]
    limit: u32,
}

pub(crate) fn run(app: &App, args: MatchArgs) -> Outcome {
    let text = if args.text == "-" { app.stdin.read("the text")? } else { args.text };
    let found =
        match_errors(app.store()?, &app.learning()?.1, &text, args.limit as usize, app.now())?;
    answer_all(app, &found, "No known error matches.")
}
