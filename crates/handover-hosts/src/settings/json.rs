//! Settings in the JSON form of Claude Code: `hooks.<Event>[].hooks[].command`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use handover_model::Host;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use serde_json::Value;

use super::{HookSettings, Scope, SettingsError, SettingsFolders, Variables, is_our_command};

/// One entry: an event, and the tools it is limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The name of the event.
    pub event: &'static str,
    /// A pattern for tool names, if the event is about tools.
    pub matcher: Option<&'static str>,
    /// The longest timeout that the host accepts for it, if that is shorter than usual.
    pub timeout: Option<usize>,
}

impl Entry {
    /// An entry, in a constant.
    pub const fn new(event: &'static str, matcher: Option<&'static str>) -> Self {
        Self { event, matcher, timeout: None }
    }

    /// The same with a shorter timeout.
    #[must_use]
    pub const fn within(self, timeout: usize) -> Self {
        Self { timeout: Some(timeout), ..self }
    }
}

/// A variable that moves a host's folder, and what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderVariable {
    /// The folder itself.
    Folder(&'static str),
    /// The home that it is in.
    Home(&'static str),
}

impl FolderVariable {
    fn folder(self, name: &str, variables: Variables<'_>) -> Option<PathBuf> {
        match self {
            Self::Folder(variable) => variables(variable).map(PathBuf::from),
            Self::Home(variable) => Some(PathBuf::from(variables(variable)?).join(name)),
        }
    }
}

/// The settings of a host that uses this form.
#[derive(Debug)]
pub struct JsonHooks {
    /// The host whose command is registered.
    pub host: Host,
    /// Its folder, below the project's root or the user's home.
    pub folder: &'static str,
    /// The variable that moves the folder in the user's home.
    pub folder_variable: FolderVariable,
    /// The file in that folder.
    pub file: &'static str,
    /// The entries that it gets.
    pub entries: &'static [Entry],
    /// The file in TOML beside it that enables plugins, if that is not the same.
    pub plugins: Option<&'static str>,
    /// Whether the host reads comments.
    pub comments: bool,
    /// The host's own timeout for a hook, in the host's unit; far longer than ours take.
    pub timeout: usize,
    /// What the user should know after an installation.
    pub install_note: Option<&'static str>,
}

impl HookSettings for JsonHooks {
    fn path(&self, scope: Scope, folders: SettingsFolders<'_>) -> Option<PathBuf> {
        let folder = match scope {
            Scope::Project => folders.project?.join(self.folder),
            Scope::User => self
                .folder_variable
                .folder(self.folder, folders.variables)
                .or_else(|| Some(folders.home?.join(self.folder)))?,
        };
        Some(folder.join(self.file))
    }

    fn events(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.event).collect()
    }

    fn registered(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let settings = self.parse(text)?;
        let is_ours = |hook: &Value| {
            hook["command"].as_str().is_some_and(|command| is_our_command(self.host, command))
        };
        let has_ours = |event: &&str| {
            let mut hooks = groups(&settings, event).flat_map(hooks_of);
            hooks.any(is_ours)
        };
        Ok(self.events().into_iter().filter(has_ours).collect())
    }

    fn commands(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        let settings = self.parse(text)?;
        let events = settings["hooks"].as_object().into_iter().flat_map(|events| events.values());
        let groups = events.filter_map(Value::as_array).flatten();
        let mut commands: Vec<String> = groups
            .flat_map(hooks_of)
            .filter_map(|hook| hook["command"].as_str())
            .filter(|command| is_our_command(self.host, command))
            .map(ToOwned::to_owned)
            .collect();
        commands.sort();
        commands.dedup();
        Ok(commands)
    }

    fn plugin_path(&self, path: &Path) -> PathBuf {
        self.plugins.map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
    }

    fn plugin(&self, text: &str) -> bool {
        // Whatever the marketplace is called.
        let is_ours = |name: &str| name.split('@').next() == Some("handover");
        if self.plugins.is_some() {
            let Ok(settings) = text.parse::<toml::Table>() else { return false };
            let plugins = settings.get("plugins").and_then(toml::Value::as_table);
            return plugins.into_iter().flatten().any(|(name, plugin)| {
                let on = plugin.get("enabled").and_then(toml::Value::as_bool);
                is_ours(name) && on != Some(false)
            });
        }
        let Ok(settings) = self.parse(text) else { return false };
        let plugins = settings["enabledPlugins"].as_object();
        plugins.into_iter().flatten().any(|(name, on)| is_ours(name) && *on != Value::Bool(false))
    }

    fn install(&self, text: &str, command: &str) -> Result<String, SettingsError> {
        let (mark, text) = byte_order_mark(text);
        if self.is_installed(text, command)? {
            return Ok(format!("{mark}{text}"));
        }
        let text = self.removed_from(text)?;
        let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text };
        let root = self.tree(&text)?;
        let settings = object(root.object_value_or_create(), "the settings")?;
        let hooks = object(settings.object_value_or_create("hooks"), "hooks")?;
        for entry in self.entries {
            let groups = hooks.array_value_or_create(entry.event);
            let path = || format!("hooks.{}", entry.event);
            let groups =
                groups.ok_or_else(|| SettingsError::Shape { path: path(), expected: "a list" })?;
            groups.append(self.group(*entry, command));
        }
        Ok(format!("{mark}{root}"))
    }

    fn uninstall(&self, text: &str) -> Result<Option<String>, SettingsError> {
        let (mark, text) = byte_order_mark(text);
        Ok(Some(format!("{mark}{}", self.removed_from(text)?)))
    }

    fn install_note(&self) -> Option<&'static str> {
        self.install_note
    }
}

impl JsonHooks {
    /// Whether our hooks are these entries with this command, and no others.
    fn is_installed(&self, text: &str, command: &str) -> Result<bool, SettingsError> {
        let settings = self.parse(text)?;
        let mut found = Vec::new();
        for (event, listed) in settings["hooks"].as_object().into_iter().flatten() {
            for group in listed.as_array().into_iter().flatten() {
                for hook in hooks_of(group) {
                    let Some(called) = hook["command"].as_str() else { continue };
                    if is_our_command(self.host, called) {
                        let matcher = group["matcher"].as_str();
                        found.push((event.as_str(), matcher, hook["timeout"].as_u64(), called));
                    }
                }
            }
        }
        let expected = |entry: &Entry| {
            let timeout = entry.timeout.unwrap_or(self.timeout) as u64;
            (entry.event, entry.matcher, Some(timeout), command)
        };
        let mut expected: Vec<_> = self.entries.iter().map(expected).collect();
        found.sort_unstable();
        expected.sort_unstable();
        Ok(found == expected)
    }

    fn parse(&self, text: &str) -> Result<Value, SettingsError> {
        let (_, text) = byte_order_mark(text);
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        let text = if self.comments { without_comments(text).into() } else { Cow::Borrowed(text) };
        serde_json::from_str(&text).map_err(not_json)
    }

    /// The settings as a tree that keeps every byte. What the host would not read is rejected instead of
    /// repaired.
    fn tree(&self, text: &str) -> Result<CstRootNode, SettingsError> {
        self.parse(text)?;
        CstRootNode::parse(text, &ParseOptions::default()).map_err(not_json)
    }

    fn group(&self, entry: Entry, command: &str) -> CstInputValue {
        let timeout = entry.timeout.unwrap_or(self.timeout);
        let hooks = json!([{ "type": "command", "command": command, "timeout": timeout }]);
        match entry.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": hooks }),
            None => json!({ "hooks": hooks }),
        }
    }

    /// The settings without our hooks, and without anything that became empty when they were removed.
    fn removed_from(&self, text: &str) -> Result<String, SettingsError> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        let root = self.tree(text)?;
        let settings = object(root.object_value(), "the settings")?;
        let Some(hooks) = settings.object_value("hooks") else { return Ok(text.to_owned()) };
        let mut removed = false;
        for event in hooks.properties() {
            let Some(groups) = event.array_value() else { continue };
            let ours = groups.elements().iter().filter(|group| self.remove_from(group)).count();
            removed |= ours > 0;
            if ours > 0 && groups.elements().is_empty() {
                event.remove();
            }
        }
        if !removed {
            return Ok(text.to_owned());
        }
        if hooks.properties().is_empty()
            && let Some(hooks) = settings.get("hooks")
        {
            hooks.remove();
        }
        Ok(root.to_string())
    }

    /// Removes our command from a group, and the group if nothing else is in it.
    fn remove_from(&self, group: &CstNode) -> bool {
        let Some(hooks) = group.as_object().and_then(|group| group.array_value("hooks")) else {
            return false;
        };
        let ours = self.commands_in(&hooks);
        if ours.is_empty() {
            return false;
        }
        if ours.len() == hooks.elements().len() {
            group.clone().remove();
        } else {
            ours.into_iter().for_each(CstNode::remove);
        }
        true
    }

    fn commands_in(&self, hooks: &CstArray) -> Vec<CstNode> {
        let is_ours = |node: &CstNode| {
            let command = node.as_object().and_then(|hook| hook.get("command")?.value());
            let command = command.and_then(|value| value.as_string_lit()?.decoded_value().ok());
            command.is_some_and(|command| is_our_command(self.host, &command))
        };
        hooks.elements().into_iter().filter(is_ours).collect()
    }
}

/// The groups of entries at one event.
fn groups<'a>(settings: &'a Value, event: &str) -> impl Iterator<Item = &'a Value> {
    let groups = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
    groups.into_iter().flatten()
}

fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group["hooks"].as_array().into_iter().flatten()
}

fn object(value: Option<CstObject>, path: &str) -> Result<CstObject, SettingsError> {
    value.ok_or_else(|| SettingsError::Shape { path: path.to_owned(), expected: "an object" })
}

fn not_json(error: impl std::fmt::Display) -> SettingsError {
    SettingsError::Syntax { format: "JSON", message: error.to_string() }
}

/// Splits off the mark that some editors put at the beginning of a file; hosts ignore it.
fn byte_order_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// The same text with spaces for comments.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let (end, is_comment) = if from.starts_with("//") {
            (from.find('\n').unwrap_or(from.len()), true)
        } else if let Some(inside) = from.strip_prefix("/*") {
            (inside.find("*/").map_or(from.len(), |end| end + 4), true)
        } else if from.starts_with('"') {
            (string_end(from), false)
        } else {
            (1, false)
        };
        let (part, after) = from.split_at(end);
        if is_comment {
            plain.push(' ');
        } else {
            plain.push_str(part);
        }
        rest = after;
    }
    plain + rest
}

/// Where a text that starts with a quote has the closing one.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{HookHost, Registry};

    const COMMAND: &str = "handover hook claude";

    fn of(host: Host) -> &'static dyn HookSettings {
        Registry::built_in().find(host).map(HookHost::settings).unwrap()
    }

    fn claude() -> &'static dyn HookSettings {
        of(Host::CLAUDE)
    }

    fn parsed(text: &str) -> Value {
        serde_json::from_str(byte_order_mark(text).1).unwrap()
    }

    fn uninstalled(text: &str) -> String {
        claude().uninstall(text).unwrap().unwrap()
    }

    #[test]
    fn sees_the_plugin_where_it_is_enabled() {
        let plugin = |text: &str| claude().plugin(text);
        assert!(plugin(r#"{"enabledPlugins": {"handover@somewhere": true}}"#));
        for other in [
            r#"{"enabledPlugins": {"handover@somewhere": false, "other@handover": true}}"#,
            r#"{"enabledPlugins": []}"#,
            "{}",
            "",
            "{",
        ] {
            assert!(!plugin(other), "{other}");
        }
    }

    #[test]
    fn leaves_everything_else_as_it_is() {
        let odd = "{\n\t\"permissions\": {\"allow\": [ \"Bash(ls:*)\" ]},\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"mine\"}] }\n\t\t],\n\t\t\"Notification\": []\n\t},\n\t\"model\": \"opus\"\n}";
        for text in [
            odd,
            "{}",
            "{}\n",
            "{ \"a\": 1 }",
            "{\n  \"a\": [1,2,   3],\n  \"b\": {\"c\": null}\n}\n",
            "{\r\n  \"a\": 1\r\n}\r\n",
            "\u{feff}{\n  \"a\": 1\n}\n",
        ] {
            let with = claude().install(text, COMMAND).unwrap();
            assert_eq!(claude().registered(&with).unwrap(), claude().events(), "{with}");
            assert_eq!(claude().commands(&with).unwrap(), [COMMAND]);
            assert_eq!(claude().install(&with, COMMAND).unwrap(), with, "twice is once");
            let before = parsed(text);
            let without = uninstalled(&with);
            assert_eq!(parsed(&without), before);
            // A single line has to be split; others keep their lines.
            for line in text.lines().filter(|line| line.trim().len() > 2 && *line != text) {
                assert!(with.contains(line.trim_end_matches(',')), "{line} in {with}");
            }
        }
        let with = claude().install(odd, COMMAND).unwrap();
        assert_eq!(uninstalled(&with), odd);
    }

    #[test]
    fn removes_only_our_entries() {
        let with = claude().install("", COMMAND).unwrap();
        let mixed = with.replacen(
            "\"command\": \"handover hook claude\"",
            "\"command\": \"/opt/bin/handover hook claude\"",
            1,
        );
        assert_eq!(claude().registered(&mixed).unwrap(), claude().events());
        assert_eq!(claude().commands(&mixed).unwrap(), ["/opt/bin/handover hook claude", COMMAND]);
        let codex = of(Host::CODEX);
        assert_eq!(codex.registered(&mixed).unwrap().len(), 0);
        assert_eq!(codex.uninstall(&mixed).unwrap().unwrap(), mixed);
        assert_eq!(uninstalled(&mixed).trim(), "{}");
        assert_eq!(uninstalled(""), "");
        assert_eq!(uninstalled("{\"hooks\": {\"Stop\": 3}}"), "{\"hooks\": {\"Stop\": 3}}");
    }

    #[test]
    fn keeps_other_commands_of_a_shared_group() {
        let shared = r#"{"hooks": {"Stop": [{"hooks": [{"command": "mine"}, {"command": "handover hook claude"}]}]}}"#;
        let without: Value = serde_json::from_str(&uninstalled(shared)).unwrap();
        let expected = serde_json::json!({"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}});
        assert_eq!(without, expected);
    }

    #[test]
    fn replaces_entries_with_an_outdated_command_or_matcher() {
        let old = claude().install("", "/old/handover hook claude").unwrap();
        let new = claude().install(&old, COMMAND).unwrap();
        assert_eq!(claude().commands(&new).unwrap(), [COMMAND]);
        let narrow = new.replacen("Agent|Task", "Task", 1);
        assert_eq!(claude().install(&narrow, COMMAND).unwrap(), new);
        // Another timeout, and an event that an older version registered as well.
        let slow = new.replacen("\"timeout\": ", "\"timeout\": 1", 1);
        assert_ne!(slow, new);
        assert_eq!(claude().install(&slow, COMMAND).unwrap(), new);
        let more = new.replacen("\"Stop\"", "\"Former\"", 1);
        let more = claude().install(&more.replace(COMMAND, "mine"), COMMAND).unwrap();
        let more = more.replace("\"mine\"", &format!("\"{COMMAND}\""));
        assert!(claude().commands(&more).unwrap() == [COMMAND] && more.contains("Former"));
        assert_eq!(claude().install(&more, COMMAND).unwrap(), new);
    }

    #[test]
    fn rejects_settings_that_the_host_would_not_read() {
        for (text, word) in [
            ("{\"a\": }", "JSON"),
            ("{// no\n}", "JSON"),
            ("[]", "an object"),
            ("{\"hooks\": 3}", "`hooks`"),
            ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
        ] {
            let error = claude().install(text, COMMAND).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn comments_stay_where_the_host_reads_them() {
        let text = "{\n  // why \\\"so\\\"\n  \"url\": \"https://x/*y*/\", /* and */\n  \"hooks\": {\"AfterAgent\": [] // mine\n  }\n}\n";
        let (gemini, command) = (of(Host::GEMINI), "handover hook gemini");
        let with = gemini.install(text, command).unwrap();
        assert_eq!(gemini.registered(&with).unwrap(), gemini.events(), "{with}");
        assert_eq!(gemini.install(&with, command).unwrap(), with);
        for comment in ["// why", "/* and */", "// mine", "https://x/*y*/"] {
            assert!(with.contains(comment), "{comment} in {with}");
        }
        let without = gemini.uninstall(&with).unwrap().unwrap();
        assert!(without.contains("// why") && !without.contains("handover"), "{without}");
        for broken in ["{\"a\": /* 1}", "{\"a\": \"// }"] {
            assert!(gemini.install(broken, command).is_err(), "{broken}");
        }
    }

    #[test]
    fn finds_the_file_at_each_scope() {
        let (project, home) = (Path::new("/project"), Path::new("/home/me"));
        let path = |scope, variables| {
            let folders = SettingsFolders { project: Some(project), home: Some(home), variables };
            claude().path(scope, folders).unwrap()
        };
        let moved = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| "/elsewhere".to_owned());
        let none = |_: &str| None;
        assert_eq!(path(Scope::Project, &none), Path::new("/project/.claude/settings.json"));
        assert_eq!(path(Scope::Project, &moved), Path::new("/project/.claude/settings.json"));
        assert_eq!(path(Scope::User, &none), Path::new("/home/me/.claude/settings.json"));
        assert_eq!(path(Scope::User, &moved), Path::new("/elsewhere/settings.json"));
        let home = |name: &str| (name == "GEMINI_CLI_HOME").then(|| "/else".to_owned());
        let folders = SettingsFolders { project: None, home: None, variables: &home };
        let moved = of(Host::GEMINI).path(Scope::User, folders).unwrap();
        assert_eq!(moved, Path::new("/else/.gemini/settings.json"));
        let nowhere = SettingsFolders { project: None, home: None, variables: &none };
        assert_eq!(Scope::ALL.map(|scope| claude().path(scope, nowhere)), [None, None]);
    }
}
