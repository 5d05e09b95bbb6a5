//! `handover session reopen`

use handover_model::{SessionId, SessionStatus};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Reopen a closed session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover session reopen login-rework")]
pub(crate) struct ReopenArgs {
    /// Session id
    id: SessionId,
}

pub(crate) fn run(app: &App, args: ReopenArgs) -> Outcome {
    let session = app.store()?.set_session_status(&args.id, SessionStatus::Active, app.now())?;
    app.ui.answer("session", &session, |ui| ui.line(format_args!("Reopened {}", session.id)))?;
    Ok(Exit::Done)
}
