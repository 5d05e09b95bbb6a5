//! `handover host …`

pub(super) mod connections;
mod health;
mod install;
mod list;
pub(super) mod own_program;
mod programs;
mod settings_file;
mod uninstall;
pub(crate) mod untrusted;

use clap::Subcommand;
use handover_hosts::HookHost;
use handover_hosts::settings::Scope;
use handover_model::Timestamp;

use self::settings_file::SettingsFile;
use super::Outcome;
use crate::app::App;
use crate::host_transcripts::modified;

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

/// What the settings of a host say about its connection.
pub(crate) enum Connection {
    /// It is connected, at least since the settings were written.
    Since(Timestamp),
    None,
    /// They cannot be read.
    Unknown,
}

/// Whether the settings of a host, of the project or of the user, connect it with hooks or with our plugin.
pub(crate) fn connection(app: &App, host: &'static dyn HookHost) -> Connection {
    let project = app.project().ok();
    let mut found = Connection::None;
    for file in Scope::ALL.into_iter().flat_map(|scope| SettingsFile::find(host, scope, project)) {
        let is_connected =
            file.registered().map(|events| !events.is_empty() || file.plugin().is_some());
        found = match (is_connected, found) {
            (Ok(true), Connection::Since(earlier)) => {
                Connection::Since(modified(&file.path).map_or(earlier, |at| at.min(earlier)))
            }
            (Ok(true), _) => Connection::Since(modified(&file.path).unwrap_or_else(|| app.now())),
            (Err(_), Connection::None) => Connection::Unknown,
            (_, found) => found,
        };
    }
    found
}

/// Lets a program call Handover in this project.
pub(crate) fn install_in_project(app: &App, host: handover_model::Host) -> Outcome {
    install::in_project(app, host)
}
