//! `handover host …`

mod health;
mod install;
mod list;
mod programs;
mod settings_file;
mod uninstall;

use clap::Subcommand;
use handover_hosts::HookHost;
use handover_hosts::settings::Scope;

use self::settings_file::SettingsFile;
use super::Outcome;
use crate::app::App;

pub(crate) use health::checks;

/// Connect agent programs, so that their subagents get briefs
#[derive(Debug, Subcommand)]
#[command(defer = true)]
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

/// Whether the settings of a host, of the project or of the user, register our hooks.
pub(crate) fn is_registered(app: &App, host: &'static dyn HookHost) -> bool {
    let project = app.project().ok();
    Scope::ALL.into_iter().any(|scope| {
        SettingsFile::find(host, scope, project)
            .and_then(|file| file.registered())
            .is_ok_and(|events| !events.is_empty())
    })
}

/// Lets a program call Handover in this project.
pub(crate) fn install_in_project(app: &App, host: handover_model::Host) -> Outcome {
    install::in_project(app, host)
}
