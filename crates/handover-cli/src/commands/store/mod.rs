//! `handover store …`

mod copy;
mod reindex;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// Copy a project between stores, or rebuild its text index
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    Copy(copy::CopyArgs),
    Reindex(reindex::ReindexArgs),
}

impl StoreCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Copy(args) => copy::run(app, args),
            Self::Reindex(args) => reindex::run(app, args),
        }
    }
}
