//! `handover session close`

use handover_model::{SessionId, SessionStatus};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Close a session
///
/// It keeps everything, and commands that name it still work; it is only no longer the one that
/// commands mean when no session is named. `handover session reopen` undoes it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session close login-rework\n  handover session close login-rework --status failed"
)]
pub(crate) struct CloseArgs {
    /// The session
    id: SessionId,

    /// How it ended: completed or failed
    #[arg(long, default_value = "completed")]
    status: SessionStatus,
}

pub(crate) fn run(app: &App, args: CloseArgs) -> Outcome {
    if args.status == SessionStatus::Active {
        return Err(CommandError::invalid(
            "a session is closed as completed or failed, not as active",
        ));
    }
    let session = app.store()?.set_session_status(&args.id, args.status, app.now())?;
    app.ui.answer("session", &session, |ui| {
        ui.line(format_args!("Closed {} as {}", session.id, session.status))
    })?;
    Ok(Exit::Done)
}
