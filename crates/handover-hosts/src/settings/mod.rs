//! The interface for the settings of hook hosts: where they are, and how our entries are added and removed
//! without touching anything else.
//!
//! [`JsonHooks`] covers every host whose settings have the form of Claude Code's. A host with
//! another format (TOML, a plugin file that is entirely ours) implements [`HookSettings`] itself.

mod json;

use std::fmt;
use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Serialize;

pub(crate) use json::without_comments;
pub use json::{Entry, FolderVariable, JsonHooks};

/// Looks up an environment variable; an empty one counts as missing.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Settings that cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not in the format of the host.
    #[error("it is not valid {format}: {message}")]
    Syntax {
        /// The format, such as `JSON`.
        format: &'static str,
        /// The parser's message.
        message: String,
    },
    /// A value has another type than the host expects.
    #[error("`{path}` is not {expected}")]
    Shape {
        /// The path of the value, such as `hooks.Stop`.
        path: String,
        /// The expected type.
        expected: &'static str,
    },
    /// A file of our name is somebody else's.
    #[error("it is there already, and Handover did not write it")]
    Foreign,
}

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Everyone who works in a project.
    Project,
    /// One user, in every project.
    User,
}

impl Scope {
    /// Both scopes, the narrower one first.
    pub const ALL: [Self; 2] = [Self::Project, Self::User];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

/// The folders from which settings are found.
#[derive(Clone, Copy)]
pub struct SettingsFolders<'a> {
    /// The root of the project.
    pub project: Option<&'a Path>,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// The environment: many hosts let a variable move their folder.
    pub variables: Variables<'a>,
}

/// The settings of one host. Texts in, texts out: reading and writing files is up to the caller.
pub trait HookSettings: Sync {
    /// The settings file at a scope; none if the host has no settings there or the folder is unknown.
    fn path(&self, scope: Scope, folders: SettingsFolders<'_>) -> Option<PathBuf>;

    /// Every event at which the host should call us.
    fn events(&self) -> Vec<&'static str>;

    /// The events at which the host calls us according to these settings.
    fn registered(&self, text: &str) -> Result<Vec<&'static str>, SettingsError>;

    /// The commands by which the host calls us according to these settings, each once.
    fn commands(&self, text: &str) -> Result<Vec<String>, SettingsError>;

    /// The settings with our hooks, each once; everything else stays byte for byte. An empty text
    /// stands for a missing file.
    fn install(&self, text: &str, command: &str) -> Result<String, SettingsError>;

    /// The settings without our hooks; none if the file would be empty.
    fn uninstall(&self, text: &str) -> Result<Option<String>, SettingsError>;

    /// The file that enables plugins, given the one with the hooks.
    fn plugin_path(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether the text of that file enables our plugin, which brings hooks of its own.
    fn plugin(&self, _text: &str) -> bool {
        false
    }

    /// What the user should know after an installation.
    fn install_note(&self) -> Option<&'static str> {
        None
    }
}

/// Whether a command is ours: `handover hook HOST`, wherever the program is installed.
pub fn is_our_command(host: Host, command: &str) -> bool {
    let Ok(words) = shell_words::split(command) else { return false };
    let [program, hook, name] = words.as_slice() else { return false };
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    program.trim_end_matches(".exe") == "handover" && hook == "hook" && name == host.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_our_command_in_any_location() {
        for ours in [
            "handover hook claude",
            "/opt/bin/handover hook claude",
            "'/opt/my tools/handover' hook claude",
            r"'C:\tools\handover.exe' hook claude",
        ] {
            assert!(is_our_command(Host::CLAUDE, ours), "{ours}");
            assert!(!is_our_command(Host::CODEX, ours), "{ours}");
        }
        for other in [
            "handover hook codex",
            "handover hooks claude",
            "my-handover hook claude",
            "handover hook claude --verbose",
            "handover hook",
            "'",
            "",
        ] {
            assert!(!is_our_command(Host::CLAUDE, other), "{other}");
        }
    }
}
