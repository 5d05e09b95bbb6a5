//! `handover strategy list`

use handover_store::StrategyFilter;

use super::answer;
use crate::app::App;
use crate::commands::Outcome;

/// List the project's strategies, most helpful first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover strategy list --lang rust --limit 3")]
pub(crate) struct ListArgs {
    /// Only of this language, or of none
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Only of this framework, or of none
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,

    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let (_, project) = app.learning()?;
    let filter =
        StrategyFilter { language: args.lang, framework: args.framework, limit: args.limit };
    answer(app, &app.store()?.strategies(&project, &filter)?)
}
