//! `handover session …`

mod close;
mod list;
mod new;
mod purge;
mod reopen;
mod show;

use clap::Subcommand;

pub(crate) use new::generated_id;

use super::Outcome;
use crate::app::App;

/// Open, list, close and purge sessions
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SessionCommand {
    New(new::NewArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Close(close::CloseArgs),
    Reopen(reopen::ReopenArgs),
    Purge(purge::PurgeArgs),
}

impl SessionCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::New(args) => new::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Close(args) => close::run(app, args),
            Self::Reopen(args) => reopen::run(app, args),
            Self::Purge(args) => purge::run(app, args),
        }
    }
}
