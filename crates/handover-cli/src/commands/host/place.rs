//! Where the settings of a host are, and what they were before we came.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use handover_context::package_file::content_hash;
use handover_hosts::settings::{SettingsError, registered};
use handover_model::Host;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::project::Project;

/// For whom hooks are registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Whoever works in this project.
    Project,
    /// This user, in every project.
    User,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

/// The settings of a host.
pub(crate) struct Place {
    pub(crate) host: Host,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// Where what they were before is remembered.
    memory: PathBuf,
}

/// What the settings were before, for as long as nobody else changes them.
#[derive(Debug, Serialize, Deserialize)]
struct Before {
    /// None if there was no file.
    text: Option<String>,
    /// Whether its folder was made for it.
    new_folder: bool,
    /// The hash of the settings with our hooks.
    after: String,
}

impl Place {
    pub(crate) fn of(
        host: Host,
        scope: Scope,
        project: Option<&Project>,
    ) -> Result<Self, CommandError> {
        let (name, folder) = match host {
            Host::Codex => ("hooks.json", ".codex"),
            Host::Claude | Host::Gemini | Host::Command => ("settings.json", ".claude"),
        };
        let (folder, memory) = match (scope, project) {
            (Scope::Project, Some(project)) => (project.root.join(folder), project.folder()),
            (Scope::Project, None) => return Err(no_home("there is no project")),
            (Scope::User, _) => {
                let theirs = match host {
                    Host::Codex => env::codex_folder(),
                    Host::Claude | Host::Gemini | Host::Command => env::claude_folder(),
                };
                let ours = env::user_config_folder();
                (
                    theirs.ok_or_else(|| no_home("HOME is not set"))?,
                    ours.ok_or_else(|| no_home("HOME is not set"))?,
                )
            }
        };
        let memory = memory.join("hosts").join(format!("{host}.json"));
        Ok(Self { host, scope, path: folder.join(name), memory })
    }

    /// The settings; none if there is no file.
    pub(crate) fn read(&self) -> Result<Option<String>, CommandError> {
        match fs_err::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io(&error)),
        }
    }

    /// The events at which the host calls us.
    pub(crate) fn registered(&self) -> Result<Vec<&'static str>, CommandError> {
        match self.read()? {
            Some(text) => registered(self.host, &text).map_err(|error| self.broken(&error)),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn broken(&self, error: &SettingsError) -> CommandError {
        CommandError::new(
            Exit::Usage,
            "invalid_settings",
            format!("{} cannot be changed: {error}", self.path.display()),
        )
        .hinted("Mend the file and try again; it was left as it is.")
    }

    /// What changes, as people read it.
    pub(crate) fn diff(&self, before: Option<&str>, after: Option<&str>) -> String {
        let (name, nothing) = (self.path.display().to_string(), "/dev/null".to_owned());
        let from = if before.is_some() { &name } else { &nothing };
        let to = if after.is_some() { &name } else { &nothing };
        TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
            .unified_diff()
            .header(from, to)
            .to_string()
    }

    /// Writes the settings with our hooks, and remembers what they were.
    pub(crate) fn put(&self, before: Option<&str>, after: &str) -> Result<(), CommandError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let remembered = self.remembered(before.unwrap_or_default());
        let first = Before {
            text: before.map(ToOwned::to_owned),
            new_folder: !folder.exists(),
            after: String::new(),
        };
        // Over hooks that are there already, what was before those counts.
        let memory =
            Before { after: content_hash(after.as_bytes()), ..remembered.unwrap_or(first) };
        let write = || -> std::io::Result<()> {
            let text = serde_json::to_string(&memory)?;
            fs_err::create_dir_all(self.memory.parent().unwrap_or(&self.memory))?;
            replace(&self.memory, &text)?;
            fs_err::create_dir_all(folder)?;
            replace(&self.path, after)
        };
        write().map_err(|error| io(&error))
    }

    /// What the settings were before, if nobody has changed them since.
    fn remembered(&self, now: &str) -> Option<Before> {
        let text = fs_err::read_to_string(&self.memory).ok()?;
        let before: Before = serde_json::from_str(&text).ok()?;
        (before.after == content_hash(now.as_bytes())).then_some(before)
    }

    /// The settings without our hooks: what they were, or what is left without ours.
    pub(crate) fn without(
        &self,
        now: &str,
        rest: impl FnOnce(&str) -> Result<String, SettingsError>,
    ) -> Result<Option<String>, CommandError> {
        match self.remembered(now) {
            Some(before) => Ok(before.text),
            None => rest(now).map(Some).map_err(|error| self.broken(&error)),
        }
    }

    /// Writes the settings without our hooks, and forgets what they were.
    pub(crate) fn take_out(&self, now: &str, after: Option<&str>) -> Result<(), CommandError> {
        let new_folder = self.remembered(now).is_some_and(|before| before.new_folder);
        let write = || -> std::io::Result<()> {
            match after {
                Some(text) => replace(&self.path, text)?,
                None => fs_err::remove_file(&self.path)?,
            }
            if let (true, None, Some(folder)) = (new_folder, after, self.path.parent()) {
                // Somebody else's files keep it.
                let _ = fs_err::remove_dir(folder);
            }
            let _ = fs_err::remove_file(&self.memory);
            if let Some(folder) = self.memory.parent() {
                let _ = fs_err::remove_dir(folder);
            }
            Ok(())
        };
        write().map_err(|error| io(&error))
    }
}

fn no_home(message: &str) -> CommandError {
    CommandError::new(Exit::Usage, "no_settings", message)
        .hinted("Run it inside a project, or set HOME.")
}

/// Replaces a file as a whole. A link keeps leading to it, and who may read it stays as it is.
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

/// The settings of every host that could have our hooks.
pub(crate) fn all(app: &App) -> Vec<Place> {
    let project = app.project().ok();
    let mut places = Vec::new();
    for host in [Host::Claude, Host::Codex] {
        for scope in [Scope::Project, Scope::User] {
            places.extend(Place::of(host, scope, project));
        }
    }
    places
}

/// The command that a host calls: by name where that is this program, else by its path.
pub(crate) fn command(host: Host) -> Result<String, CommandError> {
    let program = std::env::current_exe().map_err(|error| io(&error))?;
    let same =
        |found: PathBuf| fs_err::canonicalize(found).ok() == fs_err::canonicalize(&program).ok();
    if env::on_path("handover").is_some_and(same) {
        return Ok(format!("handover hook {host}"));
    }
    let program = program.display().to_string();
    Ok(format!("{} hook {host}", shell_words::quote(&program)))
}
