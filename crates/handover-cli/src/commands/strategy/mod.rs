//! `handover strategy …`

mod extract;
mod list;

use clap::Subcommand;
use handover_model::Strategy;

use super::Outcome;
use crate::app::App;
use crate::error::Exit;

/// Extract strategies from reasoning, and list them
///
/// Strategies belong to the project and are shared by all sessions. Completions become implementation
/// strategies, decisions become architecture strategies, and approaches become methodology strategies.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StrategyCommand {
    Extract(extract::ExtractArgs),
    List(list::ListArgs),
}

impl StrategyCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Extract(args) => extract::run(app, args),
            Self::List(args) => list::run(app, args),
        }
    }
}

fn answer(app: &App, strategies: &[Strategy]) -> Outcome {
    app.ui.answer("strategies", strategies, |ui| {
        let rows = strategies
            .iter()
            .map(|s| {
                vec![
                    s.helpfulness.to_string(),
                    s.topic.to_string(),
                    s.language.clone().unwrap_or_else(|| "–".to_owned()),
                    ui.last_cell(&s.insight, 90),
                ]
            })
            .collect();
        ui.table(&["helped", "topic", "language", "insight"], rows, "No strategies yet.")
    })?;
    Ok(Exit::Done)
}
