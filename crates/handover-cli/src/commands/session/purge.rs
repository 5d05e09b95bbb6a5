//! `handover session purge`

use handover_model::SessionId;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::ui::count;

/// Delete a session, its records and its artifacts folder
///
/// Error patterns and strategies belong to the project and are kept, as are package files elsewhere in the
/// project. Asks for confirmation unless --yes is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session purge login-rework\n  handover session purge login-rework --yes"
)]
pub(crate) struct PurgeArgs {
    /// Session id
    id: SessionId,

    /// Skip the confirmation
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(app: &App, args: PurgeArgs) -> Outcome {
    let store = app.store()?;
    let counts = store.session_counts(&args.id)?;
    let folder = app.places()?.artifacts(&args.id);
    let question = format!(
        "Delete session {} with {}, {}, {} and the folder {}?",
        args.id,
        count(counts.package_versions, "package"),
        count(counts.reasoning, "reasoning entry"),
        count(counts.receipts, "receipt"),
        folder.display()
    );
    if !args.yes && !app.ui.confirm(&question) {
        return Err(CommandError::new(
            Exit::Usage,
            "not_confirmed",
            format!("session `{}` was not purged", args.id),
        )
        .hinted("Pass `--yes` to skip the confirmation."));
    }
    let counts = store.purge_session(&args.id)?;
    // The records are gone, but the command must still fail if the folder cannot be removed.
    app.places()?.remove_artifacts(&args.id)?;
    let answer = json!({"id": args.id, "purged": true, "counts": counts});
    app.ui.answer("session", &answer, |ui| ui.line(format_args!("Purged {}", args.id)))?;
    Ok(Exit::Done)
}
