//! `handover session list`

use handover_model::SessionStatus;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List sessions, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session list\n  handover session list --status active --json"
)]
pub(crate) struct ListArgs {
    /// Only sessions with this status: active, completed or failed
    #[arg(long)]
    status: Option<SessionStatus>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let sessions = app.store()?.sessions(args.status)?;
    app.ui.answer("sessions", &sessions, |ui| {
        let rows = sessions
            .iter()
            .map(|s| {
                vec![
                    s.id.to_string(),
                    s.status.to_string(),
                    s.project.to_string(),
                    ui.time(s.created_at),
                ]
            })
            .collect();
        ui.table(
            &["session", "status", "project", "created"],
            rows,
            "No sessions yet. Open one with `handover session new`.",
        )
    })?;
    Ok(Exit::Done)
}
