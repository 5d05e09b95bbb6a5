//! `handover reasoning timeline`

use handover_store::{ReasoningFilter, TimeOrder};

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show the session's reasoning, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover reasoning timeline --group P1")]
pub(crate) struct TimelineArgs {}

pub(crate) fn run(app: &App, _args: TimelineArgs) -> Outcome {
    let filter = ReasoningFilter {
        group: app.group()?,
        order: TimeOrder::OldestFirst,
        ..Default::default()
    };
    let entries = app.store()?.reasoning(&app.session()?, &filter)?;
    app.ui.answer("reasoning", &entries, |ui| print(ui, &entries))?;
    Ok(Exit::Done)
}
