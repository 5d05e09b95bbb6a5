//! `handover session new`

use handover_model::{ProjectId, SessionId, SessionStatus};
use handover_store::NewSession;
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::commands::package::register_found;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::ui::count;
use handover_context::package_file::Reach;

/// Open a session
///
/// Reusing an id returns the existing session. The session's package folder is created, and files that are
/// already in it are registered.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session new login-rework\n  handover session new --metadata '{\"ticket\": \"SHOP-42\"}' --json"
)]
pub(crate) struct NewArgs {
    /// Session id [default: generated from the time]
    id: Option<SessionId>,

    /// Project that the session belongs to [default: this one]
    #[arg(long, value_name = "ID")]
    project_id: Option<ProjectId>,

    /// Metadata, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", hide_default_value = true)]
    metadata: String,
}

pub(crate) fn run(app: &App, args: NewArgs) -> Outcome {
    let metadata: Value = serde_json::from_str(&args.metadata).map_err(|error| {
        CommandError::invalid(format!("the metadata is not valid JSON: {error}"))
    })?;
    if !metadata.is_object() {
        return Err(CommandError::invalid("the metadata must be a JSON object")
            .hinted("Example: `--metadata '{\"ticket\": \"A-1\"}'`."));
    }
    let project = match &args.project_id {
        Some(id) => app.no_secret("project id", id.clone())?,
        None => app.project_id()?,
    };
    let new = NewSession {
        id: match args.id {
            Some(id) => app.no_secret("session id", id)?,
            None => generated_id(app)?,
        },
        project,
        metadata: app.redactor()?.clean_json(metadata),
        now: app.now(),
    };
    let opened = app.store()?.open_session(&new)?;
    let session = &opened.record;
    if let Some(requested) = &args.project_id
        && *requested != session.project
    {
        return Err(CommandError::new(
            Exit::Usage,
            "conflict",
            format!(
                "session `{}` belongs to project `{}`, not `{requested}`",
                session.id, session.project
            ),
        )
        .hinted("Choose another session id."));
    }
    if opened.created {
        let expired = app.by_hand(&session.project)?.expire(&app.config()?.forget)?;
        if !expired.is_empty() {
            app.ui.note(format_args!(
                "Retired {} expired records; `handover undo` undoes it.",
                expired.len()
            ));
        }
    }
    app.places()?.make_context_folder(&session.id)?;
    let found = register_found(app, &session.id, Reach::Session)?;
    let answer = json!({
        "id": session.id,
        "project": session.project,
        "status": session.status,
        "metadata": session.metadata,
        "created_at": session.created_at,
        "created": opened.created,
        "packages_found": found.registered.len(),
    });
    app.ui.answer("session", &answer, |ui| {
        let word = if opened.created { "Opened" } else { "Session already exists:" };
        ui.line(format_args!("{word} {}", session.id))?;
        if session.status != SessionStatus::Active {
            ui.note(format_args!(
                "The session is {}; reopen it with `handover session reopen {}`.",
                session.status, session.id
            ));
        }
        if !found.registered.is_empty() {
            ui.note(format_args!("Registered {}.", count(found.registered.len(), "existing file")));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// A readable id that sorts by time, such as `s-20261115-104502-7f3a`.
pub(crate) fn generated_id(app: &App) -> Result<SessionId, CommandError> {
    let time: String =
        app.now().to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    let (date, clock) = time.split_at(8);
    let random = env::unique();
    Ok(SessionId::new(format!("s-{date}-{clock}-{}", &random[26..]))?)
}
