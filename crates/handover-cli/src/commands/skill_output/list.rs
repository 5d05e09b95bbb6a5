//! `handover skill-output list`

use super::WhichArgs;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List the outputs of a skill, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover skill-output list lint-check --role developer")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    which: WhichArgs,

    /// Maximum number of outputs
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let filter = args.which.filter(app, args.limit)?;
    let outputs = app.store()?.skill_outputs(&app.session()?, &filter)?;
    app.ui.answer("skill_outputs", &outputs, |ui| {
        let rows = outputs
            .iter()
            .map(|o| {
                let dash = || "–".to_owned();
                vec![
                    o.iteration.to_string(),
                    o.role.as_ref().map_or_else(dash, ToString::to_string),
                    o.group.as_ref().map_or_else(dash, ToString::to_string),
                    ui.time(o.created_at),
                    ui.last_cell(&o.output.to_string(), 60),
                ]
            })
            .collect();
        ui.table(&["iteration", "role", "group", "created", "output"], rows, "No outputs yet.")
    })?;
    Ok(Exit::Done)
}
