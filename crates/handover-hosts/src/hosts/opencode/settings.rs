//! Settings of opencode: it loads every plugin in a folder, and one of them is ours.

use std::path::PathBuf;

use super::HOST;
use crate::settings::{HookSettings, Scope, SettingsError, SettingsFolders, is_our_command};

/// The plugin, with the command that it calls by default.
const PLUGIN: &str = include_str!("plugin.js");

/// What comes before the command.
const BEFORE: &str = "const COMMAND = ";

/// What the plugin reports.
const EVENTS: &[&str] = &[
    "SessionStart",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SubagentStop",
    "PreCompact",
    "Stop",
];

pub(super) struct OpencodePlugin;

impl HookSettings for OpencodePlugin {
    fn path(&self, scope: Scope, folders: SettingsFolders<'_>) -> Option<PathBuf> {
        let variable = |name| (folders.variables)(name).map(PathBuf::from);
        let folder = match scope {
            Scope::Project => folders.project?.join(".opencode"),
            Scope::User => variable("OPENCODE_CONFIG_DIR")
                .or_else(|| Some(variable("XDG_CONFIG_HOME")?.join("opencode")))
                .or_else(|| Some(folders.home?.join(".config/opencode")))?,
        };
        Some(folder.join("plugin/handover.js"))
    }

    fn events(&self) -> Vec<&'static str> {
        EVENTS.to_vec()
    }

    fn registered(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        if command_in(text).is_none() {
            return Ok(Vec::new());
        }
        let reports = |event: &&str| text.contains(&format!("\"{event}\""));
        Ok(self.events().into_iter().filter(reports).collect())
    }

    fn commands(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        Ok(command_in(text).into_iter().collect())
    }

    fn install(&self, text: &str, command: &str) -> Result<String, SettingsError> {
        if !text.trim().is_empty() && command_in(text).is_none() {
            return Err(SettingsError::Foreign);
        }
        let default = serde_json::Value::from(format!("handover hook {HOST}")).to_string();
        let command = serde_json::Value::from(command).to_string();
        Ok(PLUGIN.replacen(&format!("{BEFORE}{default}"), &format!("{BEFORE}{command}"), 1))
    }

    fn uninstall(&self, text: &str) -> Result<Option<String>, SettingsError> {
        Ok(command_in(text).is_none().then(|| text.to_owned()))
    }

    fn install_note(&self) -> Option<&'static str> {
        Some("opencode loads its package for plugins from npm when it starts for the first time.")
    }
}

/// The command that a plugin of ours calls.
fn command_in(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(BEFORE))?;
    let command: String = serde_json::from_str(line.trim()).ok()?;
    is_our_command(HOST, &command).then_some(command)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const COMMAND: &str = "'/opt/my \"tools\"/handover' hook opencode";

    #[test]
    fn the_plugin_calls_the_command_that_it_was_installed_with() {
        assert_eq!(command_in(PLUGIN).as_deref(), Some("handover hook opencode"));
        let with = OpencodePlugin.install("", COMMAND).unwrap();
        assert_eq!(OpencodePlugin.commands(&with).unwrap(), [COMMAND]);
        assert_eq!(OpencodePlugin.registered(&with).unwrap(), EVENTS);
        assert_eq!(OpencodePlugin.uninstall(&with).unwrap(), None);
        let outdated = with.replace("\"PreCompact\"", "\"Compact\"");
        assert_eq!(OpencodePlugin.registered(&outdated).unwrap().len(), EVENTS.len() - 1);
        assert_eq!(OpencodePlugin.install(&outdated, COMMAND).unwrap(), with);
    }

    #[test]
    fn a_plugin_of_somebody_else_is_left_alone() {
        let other = "export const Mine = async () => ({})\n";
        assert!(matches!(OpencodePlugin.install(other, COMMAND), Err(SettingsError::Foreign)));
        assert_eq!(OpencodePlugin.uninstall(other).unwrap().as_deref(), Some(other));
        assert!(OpencodePlugin.registered(other).unwrap().is_empty());
    }

    #[test]
    fn finds_the_file_at_each_scope() {
        let path = |scope, variables| {
            let (project, home) = (Some(Path::new("/project")), Some(Path::new("/home/me")));
            OpencodePlugin.path(scope, SettingsFolders { project, home, variables }).unwrap()
        };
        let moved = |name: &str| (name == "OPENCODE_CONFIG_DIR").then(|| "/else".to_owned());
        let xdg = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/xdg".to_owned());
        let none = |_: &str| None;
        let project = Path::new("/project/.opencode/plugin/handover.js");
        assert_eq!(path(Scope::Project, &moved), project);
        let home = Path::new("/home/me/.config/opencode/plugin/handover.js");
        assert_eq!(path(Scope::User, &none), home);
        assert_eq!(path(Scope::User, &xdg), Path::new("/xdg/opencode/plugin/handover.js"));
        assert_eq!(path(Scope::User, &moved), Path::new("/else/plugin/handover.js"));
    }
}
