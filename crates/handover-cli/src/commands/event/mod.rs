//! `handover event …`

mod list;
mod log;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// Log and list the events of a session
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum EventCommand {
    Log(log::LogArgs),
    List(list::ListArgs),
}

impl EventCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Log(args) => log::run(app, args),
            Self::List(args) => list::run(app, args),
        }
    }
}
