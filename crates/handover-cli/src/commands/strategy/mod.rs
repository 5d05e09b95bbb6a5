//! `handover strategy …`

mod extract;
mod list;
mod state;

use clap::Subcommand;
use handover_model::Strategy;

use super::{Outcome, with_state};
use crate::app::{App, short_id};
use crate::error::Exit;

/// Extract strategies from reasoning, list and retire them
///
/// Strategies belong to the project and are shared by all sessions. Completions become implementation
/// strategies, decisions become architecture strategies, and approaches become methodology strategies.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StrategyCommand {
    Extract(extract::ExtractArgs),
    List(list::ListArgs),
    Retire(state::RetireArgs),
    Restore(state::RestoreArgs),
}

impl StrategyCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Extract(args) => extract::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Retire(args) => state::retire(app, args),
            Self::Restore(args) => state::restore(app, args),
        }
    }
}

fn answer(app: &App, strategies: &[Strategy]) -> Outcome {
    app.ui.answer("strategies", strategies, |ui| {
        let rows = strategies
            .iter()
            .map(|s| {
                vec![
                    short_id(&s.id).to_owned(),
                    s.helpfulness.to_string(),
                    s.topic.to_string(),
                    s.language.clone().unwrap_or_else(|| "–".to_owned()),
                    ui.last_cell(&with_state(s.state, &s.insight), 90),
                ]
            })
            .collect();
        ui.table(&["id", "helped", "topic", "language", "insight"], rows, "No strategies yet.")
    })?;
    Ok(Exit::Done)
}
