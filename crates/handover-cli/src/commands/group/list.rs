//! `handover group list`

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List the groups of a session, oldest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover group list\n  handover group list --session login-rework --json"
)]
pub(crate) struct ListArgs {}

pub(crate) fn run(app: &App, _args: ListArgs) -> Outcome {
    let groups = app.store()?.groups(&app.session()?)?;
    app.ui.answer("groups", &groups, |ui| {
        let rows = groups
            .iter()
            .map(|g| {
                vec![g.id.to_string(), g.status.to_string(), g.title.clone().unwrap_or_default()]
            })
            .collect();
        ui.table(&["group", "status", "title"], rows, "No groups yet.")
    })?;
    Ok(Exit::Done)
}
