//! `handover session show`

use handover_context::shape;
use handover_model::SessionId;
use serde_json::Value;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show a session and its record counts
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session show login-rework\n  handover session show --json"
)]
pub(crate) struct ShowArgs {
    /// Session id [default: --session, else $HANDOVER_SESSION, else the only active session]
    id: Option<SessionId>,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let id = match args.id {
        Some(id) => id,
        None => app.session()?,
    };
    let session = app.store()?.session(&id)?;
    let answer = shape::session(app.store()?, &id)?;
    app.ui.answer("session", &answer, |ui| {
        ui.line(format_args!("Session   {}", session.id))?;
        ui.line(format_args!("Project   {}", session.project))?;
        ui.line(format_args!("Status    {}", session.status))?;
        ui.line(format_args!("Created   {}", session.created_at))?;
        if let Some(ended) = session.ended_at {
            ui.line(format_args!("Ended     {ended}"))?;
        }
        if session.metadata.as_object().is_some_and(|fields| !fields.is_empty()) {
            ui.line(format_args!("Metadata  {}", session.metadata))?;
        }
        if let Value::Object(counts) = &answer["counts"] {
            let text: Vec<String> =
                counts.iter().map(|(k, v)| format!("{v} {}", k.replace('_', " "))).collect();
            ui.line(format_args!("Records   {}", text.join(", ")))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
