//! `handover config show`

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show every value and its source
///
/// Sources, from lowest to highest precedence: built-in defaults, the user file, the project file, the
/// environment (`HANDOVER_<SECTION>_<KEY>` and HANDOVER_STORE), `--config KEY=VALUE`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover config show\n  HANDOVER_BRIEF_MEDIUM=900 handover config show --json"
)]
pub(crate) struct ShowArgs {}

pub(crate) fn run(app: &App, _args: ShowArgs) -> Outcome {
    let mut entries = app.loaded_config()?.entries();
    for entry in &mut entries {
        // A store location may contain a password.
        entry.value = app.redactor()?.clean_json(entry.value.take()).value().clone();
    }
    app.ui.answer("config", &entries, |ui| {
        let rows = entries
            .iter()
            .map(|entry| {
                let value =
                    if entry.value.is_null() { "–".to_owned() } else { entry.value.to_string() };
                vec![entry.key.to_owned(), value, entry.source.to_string()]
            })
            .collect();
        ui.table(&["key", "value", "source"], rows, "")
    })?;
    Ok(Exit::Done)
}
