//! `handover config get`

use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::config::KeyPath;
use crate::error::Exit;

/// Print the effective value of a key
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover config get redaction.mode\n  handover config get assembly.roles.developer --json"
)]
pub(crate) struct GetArgs {
    /// Key, such as `redaction.mode`; `handover config show` lists them
    key: String,
}

pub(crate) fn run(app: &App, args: GetArgs) -> Outcome {
    let path = KeyPath::parse(&args.key)?;
    let loaded = app.loaded_config()?;
    let entry = loaded.entries().into_iter().find(|entry| entry.key == path.key.name);
    let whole = entry.map(|entry| entry.value).unwrap_or_default();
    let within =
        path.pointer().split('/').skip(3).map(|name| format!("/{name}")).collect::<String>();
    let value = whole.pointer(&within).cloned().unwrap_or_default();
    // A store location may contain a password.
    let value = app.redactor()?.clean_json(value).value().clone();
    let source = loaded.source(path.key.name);
    app.ui.answer("config", &json!({"key": args.key, "value": value, "source": source}), |ui| {
        match &value {
            Value::Null => ui.note(format_args!("{} is not set.", args.key)),
            Value::String(text) => ui.line(text)?,
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                ui.line(&value)?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
