//! `handover error list`

use handover_model::RecordState;
use handover_store::ErrorFilter;

use super::answer_all;
use crate::app::App;
use crate::commands::Outcome;

/// List the project's error patterns, highest confidence first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover error list --lang rust\n  handover error list --expired --json"
)]
pub(crate) struct ListArgs {
    /// Only patterns for this language, or for none
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Include patterns that were last seen before their time to live ran out
    #[arg(long)]
    expired: bool,

    /// Only patterns in this state: live or retired
    #[arg(long)]
    state: Option<RecordState>,

    /// Maximum number of patterns
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let filter = ErrorFilter {
        language: args.lang,
        above: None,
        live_at: (!args.expired).then(|| app.now()),
        state: args.state,
        limit: args.limit,
    };
    let patterns = app.store()?.errors(&app.learning()?.1, &filter)?;
    answer_all(app, &patterns, "No error patterns yet.")
}
