//! `handover reasoning …`

mod add;
mod list;
mod timeline;

use clap::Subcommand;
use handover_model::Reasoning;

use super::Outcome;
use crate::app::App;
use crate::error::CommandError;
use crate::ui::Ui;

/// Record and read the reasoning of agents
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ReasoningCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Timeline(timeline::TimelineArgs),
}

impl ReasoningCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Add(args) => add::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Timeline(args) => timeline::run(app, args),
        }
    }
}

/// Prints reasoning as a table.
fn print(ui: &Ui, entries: &[Reasoning]) -> Result<(), CommandError> {
    let rows = entries
        .iter()
        .map(|r| {
            vec![
                ui.time(r.created_at),
                r.role.to_string(),
                r.phase.to_string(),
                r.group.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
                ui.last_cell(&r.content, 80),
            ]
        })
        .collect();
    ui.table(&["time", "role", "phase", "group", "reasoning"], rows, "No reasoning yet.")
}
