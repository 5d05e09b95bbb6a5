//! `handover project persona list`

use serde_json::Value;

use super::{document, source};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List all personas: built-in, user and project
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project persona list\n  handover project persona list --json"
)]
pub(crate) struct ListArgs {}

pub(crate) fn run(app: &App, _args: ListArgs) -> Outcome {
    let personas = app.personas()?;
    let mut listed = Vec::new();
    personas.misnamed().into_iter().for_each(|problem| app.ui.warn(problem));
    for id in personas.names()? {
        match personas.get(&id) {
            Ok(found) => listed.push(found),
            Err(problem) => app.ui.warn(problem),
        }
    }
    let answer: Vec<Value> =
        listed.iter().map(|(persona, layers)| document(persona, layers)).collect();
    app.ui.answer("personas", &answer, |ui| {
        let rows = listed.iter().map(|(persona, layers)| {
            vec![
                persona.id.to_string(),
                persona.title.clone(),
                source(layers).to_owned(),
                persona.model.clone().unwrap_or_else(|| "–".to_owned()),
                persona.permissions.to_string(),
                handover_text::cut::cut(&persona.focus, 80),
            ]
        });
        let header = ["name", "title", "source", "model", "permissions", "focus"];
        ui.table(&header, rows.collect(), "There are no personas.")
    })?;
    Ok(Exit::Done)
}
