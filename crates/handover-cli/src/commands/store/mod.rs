//! `handover store …`

mod copy;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// Copy a project between stores
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    Copy(copy::CopyArgs),
}

impl StoreCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Copy(args) => copy::run(app, args),
        }
    }
}
