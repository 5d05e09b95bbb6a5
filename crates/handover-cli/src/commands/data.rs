//! `handover data …`: what is done with all records at once.

use clap::Subcommand;

use super::store::StoreCommand;
use super::{Command, export, gc, import};

/// Move, back up and clean up the project's records
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum DataCommand {
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    #[command(flatten)]
    Store(StoreCommand),
    Gc(gc::GcArgs),
}

impl From<DataCommand> for Command {
    fn from(command: DataCommand) -> Self {
        match command {
            DataCommand::Export(args) => Self::Export(args),
            DataCommand::Import(args) => Self::Import(args),
            DataCommand::Store(command) => Self::Store(command),
            DataCommand::Gc(args) => Self::Gc(args),
        }
    }
}
