//! `handover receipt …`

mod diff;
mod list;
mod show;
mod titles;
mod verify;

use clap::Subcommand;

pub(crate) use show::lines;

use super::Outcome;
use crate::app::App;

/// Show, compare and verify what agents received
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ReceiptCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Diff(diff::DiffArgs),
    Verify(verify::VerifyArgs),
}

impl ReceiptCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Diff(args) => diff::run(app, args),
            Self::Verify(args) => verify::run(app, args),
        }
    }
}
