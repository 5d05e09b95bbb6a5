//! `handover event list`

use handover_model::EventType;
use handover_store::EventFilter;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List events, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover event list --type verdict --limit 10 --json")]
pub(crate) struct ListArgs {
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<EventType>,

    /// Maximum number of events
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let filter = EventFilter { kind: args.kind, group: app.group()?, limit: args.limit };
    let events = app.store()?.events(&app.session()?, &filter)?;
    app.ui.answer("events", &events, |ui| {
        let rows = events
            .iter()
            .map(|e| {
                vec![
                    ui.time(e.created_at),
                    e.kind.to_string(),
                    e.group.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
                    ui.last_cell(&e.payload.to_string(), 80),
                ]
            })
            .collect();
        ui.table(&["time", "type", "group", "payload"], rows, "No events yet.")
    })?;
    Ok(Exit::Done)
}
