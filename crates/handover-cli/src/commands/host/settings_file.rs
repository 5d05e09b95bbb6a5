//! The settings files of hosts: found, read and written, with a backup that lets `uninstall` restore
//! them byte for byte.

use std::io::Write;
use std::path::{Path, PathBuf};

use handover_context::package_file::content_hash;
use handover_files::{Folder, Sync, read_text_bounded};
use handover_hosts::settings::{Scope, SettingsError, SettingsFolders};
use handover_hosts::{HookHost, Registry};
use handover_model::Host;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::project::Project;

/// The most that is read of a settings file or its backup.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The `--scope` flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    Project,
    User,
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Project => Self::Project,
            ScopeArg::User => Self::User,
        }
    }
}

/// The settings file of a host at one scope.
pub(crate) struct SettingsFile {
    pub(crate) host: &'static dyn HookHost,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// The project, if these are its settings: no link may lead out of it.
    project: Option<PathBuf>,
    /// The folder of the backup.
    backups: Folder,
}

/// The settings before our hooks were added; valid until somebody else changes them.
#[derive(Debug, Serialize, Deserialize)]
struct Backup {
    /// None if there was no file.
    text: Option<String>,
    /// Whether its folder was created for it.
    new_folder: bool,
    /// How many folders above that one were created, too.
    #[serde(default)]
    new_above: usize,
    /// The hash of the settings with our hooks.
    after: String,
}

impl SettingsFile {
    pub(crate) fn find(
        host: &'static dyn HookHost,
        scope: Scope,
        project: Option<&Project>,
    ) -> Result<Self, CommandError> {
        let ours = match (scope, project) {
            (Scope::Project, Some(project)) => project.folder(),
            (Scope::Project, None) => return Err(no_settings("there is no project")),
            (Scope::User, _) => {
                let folder = env::user_config_folder();
                let folder = folder.ok_or_else(|| no_settings("HOME is not set"))?;
                // The user may keep it elsewhere and link to it.
                Folder::at(fs_err::canonicalize(&folder).unwrap_or(folder))
            }
        };
        let home = env::home();
        let folders = SettingsFolders {
            project: project.map(|project| project.root.as_path()),
            home: home.as_deref(),
            variables: &env::var,
        };
        let path = host.settings().path(scope, folders).ok_or_else(|| {
            no_settings(&format!("{} has no settings at scope `{scope}`", host.name()))
        })?;
        let project = project.filter(|_| scope == Scope::Project);
        let project = project.map(|project| project.root.clone());
        Ok(Self { host, scope, path, project, backups: ours.inside("hosts") })
    }

    fn backup_name(&self) -> String {
        format!("{}.json", self.host.name())
    }

    /// The text of the file; none if it does not exist.
    pub(crate) fn read(&self) -> Result<Option<String>, CommandError> {
        self.read_file(&self.path)
    }

    fn read_file(&self, path: &Path) -> Result<Option<String>, CommandError> {
        let error = |error| CommandError { hint: None, ..CommandError::from(error) };
        self.check_inside(path)?;
        read_text_bounded(path, MAX_BYTES).map_err(error)
    }

    /// Fails if a link leads from the settings of a project to somewhere else: a checkout may bring one.
    fn check_inside(&self, path: &Path) -> Result<(), CommandError> {
        let Some(project) = &self.project else { return Ok(()) };
        let there = path.ancestors().find(|path| fs_err::symlink_metadata(path).is_ok());
        let real = |path: &Path| fs_err::canonicalize(path).ok();
        match (there.and_then(real), real(project)) {
            (Some(there), Some(project)) if there.starts_with(&project) => Ok(()),
            _ => {
                let message = format!("{} is a link that leads out of the project", path.display());
                Err(CommandError::new(Exit::Environment, "not_ours", message)
                    .hinted("Replace the link with a file, or use `--scope user`."))
            }
        }
    }

    /// The settings that enable our plugin; none if they do not, or cannot be read.
    pub(crate) fn plugin(&self) -> Option<PathBuf> {
        let path = self.host.settings().plugin_path(&self.path);
        let text = self.read_file(&path).ok()??;
        self.host.settings().plugin(&text).then_some(path)
    }

    /// The events at which the host calls us.
    pub(crate) fn registered(&self) -> Result<Vec<&'static str>, CommandError> {
        match self.read()? {
            Some(text) => {
                self.host.settings().registered(&text).map_err(|error| self.invalid(&error))
            }
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn invalid(&self, error: &SettingsError) -> CommandError {
        CommandError::new(
            Exit::Usage,
            "invalid_settings",
            format!("{} cannot be changed: {error}", self.path.display()),
        )
        .hinted("Fix the file and try again; it was not changed.")
    }

    /// The change as a unified diff.
    pub(crate) fn diff(&self, before: Option<&str>, after: Option<&str>) -> String {
        let (name, nothing) = (self.path.display().to_string(), "/dev/null".to_owned());
        let from = if before.is_some() { &name } else { &nothing };
        let to = if after.is_some() { &name } else { &nothing };
        TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
            .unified_diff()
            .header(from, to)
            .to_string()
    }

    /// Writes the settings with our hooks, and a backup of what they were.
    pub(crate) fn put(&self, before: Option<&str>, after: &str) -> Result<(), CommandError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let earlier = self.backup_for(before.unwrap_or_default());
        let missing = folder.ancestors().take_while(|folder| !folder.exists()).count();
        let first = Backup {
            text: before.map(ToOwned::to_owned),
            new_folder: missing > 0,
            new_above: missing.saturating_sub(1),
            after: String::new(),
        };
        // When hooks are replaced, the settings before the first ones count.
        let backup = Backup { after: content_hash(after.as_bytes()), ..earlier.unwrap_or(first) };
        let write = || -> std::io::Result<()> {
            let text = serde_json::to_vec(&backup)?;
            if let Some(above) = self.backups.path().parent() {
                fs_err::create_dir_all(above)?;
            }
            self.backups.replace(&self.backup_name(), &text, Sync::No)?;
            fs_err::create_dir_all(folder)?;
            replace(&self.path, after)
        };
        write().map_err(|error| io(&error))
    }

    /// The backup, if nobody else has changed the settings since.
    fn backup_for(&self, now: &str) -> Option<Backup> {
        let text = self.backups.read(&self.backup_name(), MAX_BYTES).ok()??;
        let backup: Backup = serde_json::from_slice(&text).ok()?;
        (backup.after == content_hash(now.as_bytes())).then_some(backup)
    }

    /// The settings without our hooks: the backup, or what is left after removing our entries.
    pub(crate) fn without_hooks(&self, now: &str) -> Result<Option<String>, CommandError> {
        match self.backup_for(now) {
            Some(backup) => Ok(backup.text),
            None => self.host.settings().uninstall(now).map_err(|error| self.invalid(&error)),
        }
    }

    /// Writes the settings without our hooks, and deletes the backup.
    pub(crate) fn remove(&self, now: &str, after: Option<&str>) -> Result<(), CommandError> {
        let new = |backup: Backup| usize::from(backup.new_folder) + backup.new_above;
        let new_folders = self.backup_for(now).map_or(0, new);
        let write = || -> std::io::Result<()> {
            match after {
                Some(text) => replace(&self.path, text)?,
                None => fs_err::remove_file(&self.path)?,
            }
            if after.is_none() {
                for folder in self.path.ancestors().skip(1).take(new_folders) {
                    // Fails, as it should, if there are other files.
                    let _ = fs_err::remove_dir(folder);
                }
            }
            let _ = self.backups.remove(&self.backup_name());
            self.backups.remove_if_empty();
            Ok(())
        };
        write().map_err(|error| io(&error))
    }
}

fn no_settings(message: &str) -> CommandError {
    CommandError::new(Exit::Usage, "no_settings", message)
        .hinted("Run it inside a project, or set HOME.")
}

/// Replaces a file atomically. Symlinks are followed and permissions kept.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(&path))?;
    file.write_all(text.as_bytes())?;
    match fs_err::metadata(&path) {
        Ok(data) => file.as_file().set_permissions(data.permissions())?,
        Err(_) => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
            }
        }
    }
    file.persist(&path)?;
    Ok(())
}

/// The settings files of all hosts, at every scope that they have.
pub(crate) fn all(app: &App) -> Vec<SettingsFile> {
    let project = app.project().ok();
    let find = |host| {
        Scope::ALL.into_iter().flat_map(move |scope| SettingsFile::find(host, scope, project))
    };
    Registry::built_in().iter().flat_map(find).collect()
}

/// The host of that name, which the command line has checked.
pub(crate) fn hook_host(name: Host) -> Result<&'static dyn HookHost, CommandError> {
    let unknown = |error| CommandError::new(Exit::Usage, "usage", error);
    Registry::built_in().find(name).map_err(unknown)
}
