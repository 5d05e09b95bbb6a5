//! `handover skill-output latest`

use super::WhichArgs;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Show the latest output of a skill
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover skill-output latest lint-check --json")]
pub(crate) struct LatestArgs {
    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) fn run(app: &App, args: LatestArgs) -> Outcome {
    let name = args.which.name.clone();
    let filter = args.which.filter(app, Some(1))?;
    let found = app.store()?.skill_outputs(&app.session()?, &filter)?;
    let Some(output) = found.into_iter().next() else {
        return Err(CommandError::new(
            Exit::Usage,
            "not_found",
            format!("skill `{name}` has no output"),
        )
        .hinted("Save one with `handover skill-output save NAME`."));
    };
    app.ui.answer("skill_output", &output, |ui| {
        ui.line(serde_json::to_string_pretty(&output.output).unwrap_or_default())
    })?;
    Ok(Exit::Done)
}
