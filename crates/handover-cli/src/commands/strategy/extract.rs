//! `handover strategy extract`

use handover_context::learning::{Binding, extract_strategies};

use super::answer;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Keep what a finished group learned
///
/// Extracting twice is extracting once; the same insight from other work makes it more helpful.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover strategy extract --group P1 --lang rust --framework axum"
)]
pub(crate) struct ExtractArgs {
    /// The programming language that it is bound to
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// The framework that it is bound to
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,
}

pub(crate) fn run(app: &App, args: ExtractArgs) -> Outcome {
    let Some(group) = app.group()? else {
        return Err(CommandError::new(Exit::Usage, "usage", "no group is given")
            .hinted("Pass `--group ID`: strategies come from a finished group."));
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
