//! `handover session show`

use handover_context::shape;
use serde_json::Value;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;
use crate::ui;

/// Show a session and its record counts
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover session show login-rework\n  handover session show --json"
)]
pub(crate) struct ShowArgs {
    /// Session: its id, at least four characters of it, or `latest` [default: --session, else $HANDOVER_SESSION, else the only active session]
    id: Option<String>,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let id = match args.id {
        Some(name) => app.find_session(&name)?.id,
        None => app.session()?,
    };
    let session = app.store()?.session(&id)?;
    let answer = shape::session(app.store()?, &id)?;
    app.ui.answer("session", &answer, |ui| {
        ui.line(format_args!("Session   {}", session.id))?;
        ui.line(format_args!("Project   {}", session.project))?;
        ui.line(format_args!("Status    {}", session.status))?;
        ui.line(format_args!("Created   {}", ui.time(session.created_at)))?;
        if let Some(ended) = session.ended_at {
            ui.line(format_args!("Ended     {}", ui.time(ended)))?;
        }
        if session.metadata.as_object().is_some_and(|fields| !fields.is_empty()) {
            ui.line(format_args!("Metadata  {}", session.metadata))?;
        }
        if let Value::Object(counts) = &answer["counts"] {
            let text: Vec<String> =
                counts.iter().map(|(k, v)| counted(k, v.as_u64().unwrap_or_default())).collect();
            ui.line(format_args!("Records   {}", text.join(", ")))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// A count under the plural name of its records: `1 package version`, `2 groups`.
fn counted(name: &str, number: u64) -> String {
    let name = name.replace('_', " ");
    let one = match name.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => name.strip_suffix('s').unwrap_or(&name).to_owned(),
    };
    match name == one {
        // Reasoning has no plural.
        true => format!("{number} {name}"),
        false => ui::count(number, &one),
    }
}
