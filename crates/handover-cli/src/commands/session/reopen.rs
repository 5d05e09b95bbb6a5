//! `handover session reopen`

use handover_model::SessionStatus;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Reopen a closed session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover session reopen login-rework")]
pub(crate) struct ReopenArgs {
    /// Session: its id, at least four characters of it, or `latest`
    id: String,
}

pub(crate) fn run(app: &App, args: ReopenArgs) -> Outcome {
    let id = app.find_session(&args.id)?.id;
    let project = app.project_of(&id)?;
    let session = app.by_hand(&project)?.set_session(&id, SessionStatus::Active)?;
    app.ui.answer("session", &session, |ui| ui.line(format_args!("Reopened {}", session.id)))?;
    Ok(Exit::Done)
}
