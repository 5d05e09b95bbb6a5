//! `handover host …`

mod health;
mod install;
mod list;
mod settings_file;
mod uninstall;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

pub(crate) use health::checks;

/// Connect agent programs, so that their subagents get briefs
#[derive(Debug, Subcommand)]
pub(crate) enum HostCommand {
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    List(list::ListArgs),
}

impl HostCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Install(args) => install::run(app, args),
            Self::Uninstall(args) => uninstall::run(app, &args),
            Self::List(args) => list::run(app, &args),
        }
    }
}
