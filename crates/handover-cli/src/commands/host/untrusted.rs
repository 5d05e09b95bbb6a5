//! Programs that do not run the hooks of this project, because nobody told them to trust its folder: their subagents get no
//! briefs although the program is connected.

use std::ffi::OsString;
use std::path::Path;

use handover_files::read_text_bounded;
use handover_hosts::settings::{Scope, SettingsFolders};
use handover_hosts::{Registry, Start};
use handover_model::Host;

use super::settings_file::SettingsFile;
use crate::app::App;
use crate::env;

/// The most that is read of a program's own file.
const MAX_BYTES: u64 = 1024 * 1024;

/// Whether a program that is started with these arguments is connected, but skips our hooks: only the settings of this project
/// register them.
pub(crate) fn skips_hooks(app: &App, host: Host, args: &[OsString]) -> bool {
    let (Ok(hooks), Ok(project)) = (Registry::built_in().find(host), app.project()) else {
        return false;
    };
    let is_connected = |scope| {
        SettingsFile::find(hooks, scope, Some(project)).is_ok_and(|file| {
            file.registered().is_ok_and(|events| !events.is_empty()) || file.plugin().is_some()
        })
    };
    if is_connected(Scope::User) || !is_connected(Scope::Project) {
        return false;
    }
    let folder = fs_err::canonicalize(&project.root).unwrap_or_else(|_| project.root.clone());
    let home = env::home();
    let folders = SettingsFolders {
        project: Some(&project.root),
        home: home.as_deref(),
        variables: &env::var,
    };
    let read = |path: &Path| read_text_bounded(path, MAX_BYTES).ok().flatten();
    !hooks.runs_project_hooks(&Start { folder: &folder, args, folders, read: &read })
}

/// Says before agents are started that their subagents get no briefs.
pub(crate) fn warn(app: &App, host: Host, args: &[OsString]) {
    if skips_hooks(app, host, args) {
        app.ui.warn(format_args!(
            "subagents get no briefs here: {host} runs the hooks of a project only in folders that it trusts; \
             hooks of `handover host install {host} --scope user` always run"
        ));
    }
}
