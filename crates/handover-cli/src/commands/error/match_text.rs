//! `handover error match`

use std::path::PathBuf;

use handover_context::learning::match_errors;

use super::answer_all;
use crate::app::App;
use crate::commands::Outcome;
use crate::input;

/// Find known errors in a message or log, best match first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error match \"connect ECONNREFUSED 127.0.0.1:5432\"\n  npm test 2>&1 | tail -n 40 | handover error match -\n  handover error match --file build.log"
)]
pub(crate) struct MatchArgs {
    /// Text [default: standard input, as with `-`]
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: Option<String>,

    /// Read the text from a file, such as a log
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,

    /// Maximum number of matches
    #[arg(long, default_value = "5", value_name = "N")]
    limit: u32,
}

pub(crate) fn run(app: &App, args: MatchArgs) -> Outcome {
    let text = args.text.filter(|text| text != "-");
    let text = input::given(text, args.file.as_deref(), &app.stdin, "the text")?;
    let found =
        match_errors(app.store()?, &app.learning()?.1, &text, args.limit as usize, app.now())?;
    answer_all(app, &found, "No known error matches.")
}
