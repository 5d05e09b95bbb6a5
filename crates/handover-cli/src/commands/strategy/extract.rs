//! `handover strategy extract`

use handover_context::learning::{Binding, extract_strategies};

use super::answer;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Extract strategies from a finished group
///
/// Extracting again has no effect; finding the same insight in other work raises its helpfulness.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover strategy extract --group P1 --lang rust --framework axum"
)]
pub(crate) struct ExtractArgs {
    /// Programming language that the strategies apply to
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Framework that the strategies apply to
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,
}

pub(crate) fn run(app: &App, args: ExtractArgs) -> Outcome {
    let Some(group) = app.group()? else {
        return Err(CommandError::new(Exit::Usage, "usage", "a group is required")
            .hinted("Pass the finished group with `--group ID`."));
    };
    let binding = Binding { language: args.lang, framework: args.framework };
    let strategies = extract_strategies(
        app.store()?,
        app.redactor()?,
        &app.session()?,
        &group,
        &binding,
        &|_| true,
        app.now(),
    )?;
    answer(app, &strategies)
}
