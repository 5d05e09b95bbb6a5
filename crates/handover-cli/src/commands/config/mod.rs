//! `handover config …`

mod show;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// Show the configuration
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    Show(show::ShowArgs),
}

impl ConfigCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Show(args) => show::run(app, args),
        }
    }
}
