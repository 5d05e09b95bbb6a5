//! `handover strategy list`

use handover_model::RecordState;
use handover_store::StrategyFilter;

use super::answer;
use crate::app::App;
use crate::commands::Outcome;

/// List the project's strategies, most helpful first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover strategy list --lang rust --limit 3")]
pub(crate) struct ListArgs {
    /// Only strategies for this language, or for none
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Only strategies for this framework, or for none
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,

    /// Only strategies in this state: live or retired
    #[arg(long)]
    state: Option<RecordState>,

    /// Maximum number of strategies
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let (_, project) = app.learning()?;
    let filter = StrategyFilter {
        language: args.lang,
        framework: args.framework,
        state: args.state,
        limit: args.limit,
    };
    answer(app, &app.store()?.strategies(&project, &filter)?)
}
