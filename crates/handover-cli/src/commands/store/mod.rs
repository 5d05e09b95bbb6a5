//! `handover store …`

mod backup;
mod copy;
mod redact;
mod reindex;
mod upgrade;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// Copy, back up, redact, reindex or upgrade the store
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StoreCommand {
    Backup(backup::BackupArgs),
    Copy(copy::CopyArgs),
    Redact(redact::RedactArgs),
    Reindex(reindex::ReindexArgs),
    Upgrade(upgrade::UpgradeArgs),
}

impl StoreCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Backup(args) => backup::run(app, args),
            Self::Copy(args) => copy::run(app, args),
            Self::Redact(args) => redact::run(app, args),
            Self::Reindex(args) => reindex::run(app, args),
            Self::Upgrade(args) => upgrade::run(app, args),
        }
    }
}
