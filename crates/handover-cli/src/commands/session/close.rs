//! `handover session close`

use handover_model::SessionStatus;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Close a session
///
/// Its records stay, and `--session` still finds it, but it is no longer picked as the default session, and no
/// agent gets a brief from it. `handover session reopen` reopens it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session close login-rework\n  handover session close login-rework --status failed"
)]
pub(crate) struct CloseArgs {
    /// Session: its id, at least four characters of it, or `latest`
    id: String,

    /// Final status: completed or failed
    #[arg(long, default_value = "completed")]
    status: SessionStatus,
}

pub(crate) fn run(app: &App, args: CloseArgs) -> Outcome {
    if args.status == SessionStatus::Active {
        return Err(CommandError::invalid(
            "`active` is not a final status; use completed or failed",
        ));
    }
    let id = app.find_session(&args.id)?.id;
    let project = app.project_of(&id)?;
    let session = app.by_hand(&project)?.set_session(&id, args.status)?;
    app.ui.answer("session", &session, |ui| {
        ui.line(format_args!("Closed {} as {}", session.id, session.status))
    })?;
    Ok(Exit::Done)
}
