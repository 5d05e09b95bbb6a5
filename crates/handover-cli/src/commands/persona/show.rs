//! `handover project persona show`

use handover_model::PersonaId;

use super::{document, source};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show a persona and the layers it is built from
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project persona show winston\n  handover project persona show murat --json"
)]
pub(crate) struct ShowArgs {
    /// Persona name
    name: String,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let id = PersonaId::new(args.name.to_lowercase())?;
    let (persona, layers) = app.personas()?.get(&id)?;
    app.ui.answer("persona", &document(&persona, &layers), |ui| {
        ui.line(format_args!("{}, {} ({})", persona.name, persona.title, source(&layers)))?;
        ui.line(format_args!("Role         {}", persona.role))?;
        ui.line(format_args!("Focus        {}", persona.focus))?;
        ui.line(format_args!("Style        {}", persona.style))?;
        if let Some(model) = &persona.model {
            ui.line(format_args!("Model        {model}"))?;
        }
        ui.line(format_args!("Permissions  {}", persona.permissions))
    })?;
    Ok(Exit::Done)
}
