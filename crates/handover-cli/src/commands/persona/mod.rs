//! `handover project persona …`

mod list;
mod show;

use clap::Subcommand;
use handover_engine::persona::{Layer, Persona};
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;

/// List and show the personas that take part in parties
///
/// Personas are built in, defined in a file `personas/NAME.toml` in your configuration folder or the
/// project's `.handover/`, or in a table `[party.personas.NAME]` of the configuration. A definition that
/// overrides an existing persona only needs the keys that differ.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PersonaCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

impl PersonaCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
        }
    }
}

fn document(persona: &Persona, layers: &[Layer]) -> Value {
    let mut document = json!(persona);
    document["layers"] = json!(layers);
    document
}

/// Where a persona comes from, in a word.
fn source(layers: &[Layer]) -> &'static str {
    match layers.last() {
        Some(Layer::BuiltIn) | None => "built in",
        Some(Layer::User(_)) => "yours",
        Some(Layer::Project(_)) => "the project's",
        Some(Layer::Configuration) => "the configuration's",
    }
}
