//! `handover event log`

use std::path::PathBuf;

use handover_model::EventType;
use handover_store::{EventKey, NewEvent};
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input;

/// Log an event with a JSON payload from a file or standard input
///
/// With --key, logging the same event again has no effect.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  echo '{\"verdict\": \"approved\"}' | handover event log verdict --group P1 --key P1-review-2\n  handover event log verdict verdict.json\n  handover event log checkpoint < /dev/null"
)]
pub(crate) struct LogArgs {
    /// Event type, such as `verdict`
    #[arg(value_name = "TYPE")]
    kind: EventType,

    /// File with the payload; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Key that makes the event unique within its session, group and type
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) fn run(app: &App, args: LogArgs) -> Outcome {
    let text = input::file(&args.file, &app.stdin, "the payload")?;
    let payload: Value = if text.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(&text).map_err(|error| {
            CommandError::invalid(format!("the payload is not valid JSON: {error}"))
        })?
    };
    if args.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
        return Err(
            CommandError::invalid("the key is empty").hinted("Omit `--key`, or pass a value.")
        );
    }
    let redactor = app.redactor()?;
    let new = NewEvent {
        session: app.session()?,
        group: app.group()?,
        kind: app.no_secret("type", args.kind)?,
        payload: redactor.clean_json(payload),
        key: args.key.map(|key| EventKey::new(&key, redactor)),
        now: app.now(),
    };
    let logged = app.store()?.log_event(&new)?;
    let answer = json!({"id": logged.id, "duplicate": logged.duplicate});
    app.ui.answer("event", &answer, |ui| {
        let word = if logged.duplicate { "Already logged:" } else { "Logged" };
        ui.line(format_args!("{word} event {}", logged.id))
    })?;
    Ok(Exit::Done)
}
