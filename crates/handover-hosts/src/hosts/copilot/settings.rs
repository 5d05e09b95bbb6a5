//! Settings of Copilot CLI: any number of files in a folder, of which one is ours.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::HOST;
use crate::settings::{Entry, HookSettings, Scope, SettingsError, SettingsFolders, is_our_command};

/// The name of our file.
const FILE: &str = "handover.json";

/// The entries in it. The matchers name tools as Claude Code does.
const ENTRIES: &[Entry] = &[
    Entry::new("SessionStart", None),
    Entry::new("PreToolUse", Some("Agent|Task")),
    Entry::new("PostToolUse", Some("Agent|Task|Bash|Read|Edit|Write")),
    Entry::new("SubagentStart", None),
    Entry::new("UserPromptSubmit", None),
    Entry::new("SubagentStop", None),
    Entry::new("PreCompact", None),
    Entry::new("Stop", None),
    Entry::new("SessionEnd", None),
];

/// How long Copilot waits for a hook; far longer than ours take.
const TIMEOUT_SECONDS: u64 = 15;

pub(super) struct CopilotHooks;

impl HookSettings for CopilotHooks {
    fn path(&self, scope: Scope, folders: SettingsFolders<'_>) -> Option<PathBuf> {
        let folder = match scope {
            Scope::Project => folders.project?.join(".github"),
            Scope::User => match (folders.variables)("COPILOT_HOME") {
                Some(folder) => PathBuf::from(folder),
                None => folders.home?.join(".copilot"),
            },
        };
        Some(folder.join("hooks").join(FILE))
    }

    fn events(&self) -> Vec<&'static str> {
        ENTRIES.iter().map(|entry| entry.event).collect()
    }

    fn registered(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let settings = parse(text)?;
        let has_ours = |event: &&str| {
            settings["hooks"][*event].as_array().is_some_and(|hooks| hooks.iter().any(is_ours))
        };
        Ok(self.events().into_iter().filter(has_ours).collect())
    }

    fn commands(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        let settings = parse(text)?;
        let events = settings["hooks"].as_object().into_iter().flat_map(|events| events.values());
        let ours = events.filter_map(Value::as_array).flatten().filter(|hook| is_ours(hook));
        let mut commands: Vec<String> =
            ours.filter_map(|hook| hook["command"].as_str().map(ToOwned::to_owned)).collect();
        commands.sort();
        commands.dedup();
        Ok(commands)
    }

    fn install(&self, text: &str, command: &str) -> Result<String, SettingsError> {
        let mut settings = match self.uninstall(text)? {
            Some(text) if !text.trim().is_empty() => parse(&text)?,
            _ => json!({"version": 1, "hooks": {}}),
        };
        let hooks = events_of(&mut settings)?;
        for entry in ENTRIES {
            let mut hook = json!({"type": "command"});
            if let Some(matcher) = entry.matcher {
                hook["matcher"] = matcher.into();
            }
            hook["command"] = command.into();
            hook["timeoutSec"] = TIMEOUT_SECONDS.into();
            let hooks = hooks.entry(entry.event).or_insert_with(|| json!([]));
            let path = || format!("hooks.{}", entry.event);
            let hooks = hooks.as_array_mut();
            hooks.ok_or_else(|| shape(path(), "a list"))?.push(hook);
        }
        let installed = written(&settings);
        // The same hooks in another layout are left as they are.
        let same = parse(text)? == settings;
        Ok(if same { text.to_owned() } else { installed })
    }

    fn uninstall(&self, text: &str) -> Result<Option<String>, SettingsError> {
        if self.commands(text)?.is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let mut settings = parse(text)?;
        let hooks = events_of(&mut settings)?;
        for event in hooks.values_mut() {
            if let Some(hooks) = event.as_array_mut() {
                hooks.retain(|hook| !is_ours(hook));
            }
        }
        hooks.retain(|_, event| event.as_array().is_none_or(|hooks| !hooks.is_empty()));
        let empty = settings == json!({"version": 1, "hooks": {}});
        Ok((!empty).then(|| written(&settings)))
    }

    fn install_note(&self) -> Option<&'static str> {
        Some(
            "Copilot runs the hooks of folders that it trusts; with `-p`, `--trust-folder` says so.",
        )
    }
}

fn is_ours(hook: &Value) -> bool {
    hook["command"].as_str().is_some_and(|command| is_our_command(HOST, command))
}

fn parse(text: &str) -> Result<Value, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text)
        .map_err(|error| SettingsError::Syntax { format: "JSON", message: error.to_string() })
}

fn shape(path: String, expected: &'static str) -> SettingsError {
    SettingsError::Shape { path, expected }
}

fn events_of(settings: &mut Value) -> Result<&mut serde_json::Map<String, Value>, SettingsError> {
    let settings =
        settings.as_object_mut().ok_or_else(|| shape("the settings".to_owned(), "an object"))?;
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    hooks.as_object_mut().ok_or_else(|| shape("hooks".to_owned(), "an object"))
}

fn written(settings: &Value) -> String {
    format!("{settings:#}\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const COMMAND: &str = "handover hook copilot";

    #[test]
    fn the_file_is_ours_from_beginning_to_end() {
        let with = CopilotHooks.install("", COMMAND).unwrap();
        assert_eq!(CopilotHooks.registered(&with).unwrap(), CopilotHooks.events());
        assert_eq!(CopilotHooks.commands(&with).unwrap(), [COMMAND]);
        assert_eq!(CopilotHooks.install(&with, COMMAND).unwrap(), with, "twice is once");
        let moved = CopilotHooks.install(&with, "/opt/handover hook copilot").unwrap();
        assert_eq!(CopilotHooks.commands(&moved).unwrap(), ["/opt/handover hook copilot"]);
        assert_eq!(CopilotHooks.install(&moved, COMMAND).unwrap(), with);
        assert_eq!(CopilotHooks.uninstall(&with).unwrap(), None);
        assert_eq!(CopilotHooks.uninstall("").unwrap().as_deref(), Some(""));
        let compact = serde_json::from_str::<Value>(&with).unwrap().to_string();
        assert_eq!(CopilotHooks.install(&compact, COMMAND).unwrap(), compact);
    }

    #[test]
    fn hooks_that_somebody_added_to_it_stay() {
        let mut settings: Value =
            serde_json::from_str(&CopilotHooks.install("", COMMAND).unwrap()).unwrap();
        let mine = json!({"type": "command", "command": "mine"});
        settings["hooks"]["Stop"].as_array_mut().unwrap().push(mine.clone());
        let left = CopilotHooks.uninstall(&settings.to_string()).unwrap().unwrap();
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!(left, json!({"version": 1, "hooks": {"Stop": [mine]}}));
        let again = CopilotHooks.install(&left.to_string(), COMMAND).unwrap();
        assert_eq!(CopilotHooks.registered(&again).unwrap(), CopilotHooks.events());
        assert!(again.contains("\"mine\""));
    }

    #[test]
    fn rejects_a_file_that_copilot_would_not_read() {
        for (text, word) in [
            ("{", "JSON"),
            ("[]", "an object"),
            ("{\"hooks\": 3}", "`hooks`"),
            ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
        ] {
            let error = CopilotHooks.install(text, COMMAND).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn finds_the_file_at_each_scope() {
        let path = |scope, variables| {
            let (project, home) = (Some(Path::new("/project")), Some(Path::new("/home/me")));
            CopilotHooks.path(scope, SettingsFolders { project, home, variables }).unwrap()
        };
        let moved = |name: &str| (name == "COPILOT_HOME").then(|| "/elsewhere".to_owned());
        let none = |_: &str| None;
        let project = Path::new("/project/.github/hooks/handover.json");
        assert_eq!(path(Scope::Project, &moved), project);
        assert_eq!(path(Scope::User, &none), Path::new("/home/me/.copilot/hooks/handover.json"));
        assert_eq!(path(Scope::User, &moved), Path::new("/elsewhere/hooks/handover.json"));
    }
}
