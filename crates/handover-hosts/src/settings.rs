//! Our hooks in the settings of a host: put in and taken out without touching anything else.

use handover_model::Host;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use serde_json::Value;

/// Settings that cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// They are no JSON.
    #[error("it is not valid JSON: {0}")]
    Json(String),
    /// A part of them is not what the host expects.
    #[error("`{place}` is not {expected}")]
    Shape {
        /// Where.
        place: String,
        /// What is expected there.
        expected: &'static str,
    },
}

/// One entry: at which event, for which tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: &'static str,
    /// The tools, where the event is about tools.
    pub matcher: Option<&'static str>,
}

const fn entry(event: &'static str, matcher: Option<&'static str>) -> Entry {
    Entry { event, matcher }
}

const CLAUDE: &[Entry] = &[
    entry("SessionStart", None),
    entry("PreToolUse", Some("Agent|Task")),
    entry("PostToolUse", Some("Bash|Read|Edit|MultiEdit|Write|NotebookEdit")),
    entry("PostToolUseFailure", Some("Bash")),
    entry("SubagentStart", None),
    entry("SubagentStop", None),
    entry("PreCompact", None),
    entry("Stop", None),
    entry("SessionEnd", None),
];

const CODEX: &[Entry] = &[
    entry("SessionStart", None),
    entry("PreToolUse", Some("spawn_agent")),
    entry("SubagentStart", None),
    entry("SubagentStop", None),
    entry("PreCompact", None),
    entry("Stop", None),
    entry("SessionEnd", None),
];

/// Seconds after which the host gives up on a hook: far more than ours ever take.
const TIMEOUT: usize = 15;

/// Every entry that a host gets.
pub fn entries(host: Host) -> &'static [Entry] {
    match host {
        Host::Claude => CLAUDE,
        Host::Codex => CODEX,
        Host::Gemini | Host::Command => &[],
    }
}

/// Whether a command is ours: `handover hook HOST`, wherever the program is.
pub fn is_ours(host: Host, command: &str) -> bool {
    let Ok(words) = shell_words::split(command) else { return false };
    let [program, hook, name] = words.as_slice() else { return false };
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    program.trim_end_matches(".exe") == "handover" && hook == "hook" && name == host.as_str()
}

/// The events at which a host calls us.
pub fn registered(host: Host, text: &str) -> Result<Vec<&'static str>, SettingsError> {
    let settings: Value = parse(text)?;
    let registered = entries(host).iter().filter(|entry| {
        let groups = settings.pointer(&format!("/hooks/{}", entry.event)).and_then(Value::as_array);
        let hooks = groups.into_iter().flatten().filter_map(|group| group["hooks"].as_array());
        hooks.flatten().any(|hook| hook["command"].as_str().is_some_and(|c| is_ours(host, c)))
    });
    Ok(registered.map(|entry| entry.event).collect())
}

/// The commands by which a host calls us.
pub fn commands(host: Host, text: &str) -> Result<Vec<String>, SettingsError> {
    let settings: Value = parse(text)?;
    let events = settings["hooks"].as_object().into_iter().flat_map(|events| events.values());
    let groups = events.filter_map(Value::as_array).flatten();
    let hooks = groups.filter_map(|group| group["hooks"].as_array()).flatten();
    let mut commands: Vec<String> = hooks
        .filter_map(|hook| hook["command"].as_str())
        .filter(|command| is_ours(host, command))
        .map(ToOwned::to_owned)
        .collect();
    commands.sort();
    commands.dedup();
    Ok(commands)
}

/// The settings with our hooks in them, each once; everything else stays byte for byte.
pub fn install(host: Host, text: &str, command: &str) -> Result<String, SettingsError> {
    if is_installed(host, text, command)? {
        return Ok(text.to_owned());
    }
    let text = uninstall(host, text)?;
    let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text };
    let root = tree(&text)?;
    let hooks = object(root.object_value_or_create(), "the settings")?;
    let hooks = object(hooks.object_value_or_create("hooks"), "hooks")?;
    for entry in entries(host) {
        let place = format!("hooks.{}", entry.event);
        let groups = hooks.array_value_or_create(entry.event);
        let groups = groups.ok_or(SettingsError::Shape { place, expected: "a list" })?;
        groups.append(group(*entry, command));
    }
    Ok(root.to_string())
}

/// Whether every entry is there, with this command.
fn is_installed(host: Host, text: &str, command: &str) -> Result<bool, SettingsError> {
    let settings: Value = parse(text)?;
    Ok(entries(host).iter().all(|entry| {
        let groups = settings.pointer(&format!("/hooks/{}", entry.event)).and_then(Value::as_array);
        groups.into_iter().flatten().any(|group| {
            let hooks = group["hooks"].as_array().into_iter().flatten();
            group["matcher"].as_str() == entry.matcher
                && hooks.into_iter().any(|hook| hook["command"].as_str() == Some(command))
        })
    }))
}

fn group(entry: Entry, command: &str) -> CstInputValue {
    let hooks = json!([{ "type": "command", "command": command, "timeout": TIMEOUT }]);
    match entry.matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": hooks }),
        None => json!({ "hooks": hooks }),
    }
}

/// The settings without our hooks, and without what is empty because of that.
pub fn uninstall(host: Host, text: &str) -> Result<String, SettingsError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = tree(text)?;
    let Some(settings) = root.object_value() else {
        let place = "the settings".to_owned();
        return Err(SettingsError::Shape { place, expected: "an object" });
    };
    let Some(hooks) = settings.object_value("hooks") else { return Ok(text.to_owned()) };
    let mut removed = false;
    for event in hooks.properties() {
        let Some(groups) = event.array_value() else { continue };
        let ours = groups.elements().iter().filter(|group| remove_ours(host, group)).count();
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

/// Takes our command out of a group, and the group away if nothing else is in it.
fn remove_ours(host: Host, group: &CstNode) -> bool {
    let Some(hooks) = group.as_object().and_then(|group| group.array_value("hooks")) else {
        return false;
    };
    let ours = our_commands(host, &hooks);
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

fn our_commands(host: Host, hooks: &CstArray) -> Vec<CstNode> {
    let is_ours = |node: &CstNode| {
        let command = node.as_object().and_then(|hook| hook.get("command")?.value());
        let command = command.and_then(|value| value.as_string_lit()?.decoded_value().ok());
        command.is_some_and(|command| is_ours(host, &command))
    };
    hooks.elements().into_iter().filter(is_ours).collect()
}

fn object(value: Option<CstObject>, place: &str) -> Result<CstObject, SettingsError> {
    value.ok_or_else(|| SettingsError::Shape { place: place.to_owned(), expected: "an object" })
}

fn parse(text: &str) -> Result<Value, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| SettingsError::Json(error.to_string()))
}

/// The settings as a tree that keeps every byte. The host reads them as plain JSON, so what is
/// none is refused and not mended.
fn tree(text: &str) -> Result<CstRootNode, SettingsError> {
    parse(text)?;
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| SettingsError::Json(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "handover hook claude";

    #[test]
    fn everything_else_stays_as_it_is() {
        let odd = "{\n\t\"permissions\": {\"allow\": [ \"Bash(ls:*)\" ]},\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"mine\"}] }\n\t\t],\n\t\t\"Notification\": []\n\t},\n\t\"model\": \"opus\"\n}";
        for text in [
            odd,
            "{}",
            "{}\n",
            "{ \"a\": 1 }",
            "{\n  \"a\": [1,2,   3],\n  \"b\": {\"c\": null}\n}\n",
            "{\r\n  \"a\": 1\r\n}\r\n",
        ] {
            let with = install(Host::Claude, text, COMMAND).unwrap();
            assert_eq!(registered(Host::Claude, &with).unwrap().len(), CLAUDE.len(), "{with}");
            assert_eq!(install(Host::Claude, &with, COMMAND).unwrap(), with, "twice is once");
            let before: Value = serde_json::from_str(text).unwrap();
            let without = uninstall(Host::Claude, &with).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&without).unwrap(), before);
            // What stands on one line has to be opened up; what does not keeps its lines.
            for line in text.lines().filter(|line| line.trim().len() > 2 && *line != text) {
                assert!(with.contains(line.trim_end_matches(',')), "{line} in {with}");
            }
        }
        let with = install(Host::Claude, odd, COMMAND).unwrap();
        assert_eq!(uninstall(Host::Claude, &with).unwrap(), odd);
    }

    #[test]
    fn only_ours_is_taken_out() {
        let with = install(Host::Claude, "", COMMAND).unwrap();
        let mixed = with.replacen(
            "\"command\": \"handover hook claude\"",
            "\"command\": \"/opt/bin/handover hook claude\"",
            1,
        );
        assert_eq!(registered(Host::Claude, &mixed).unwrap().len(), CLAUDE.len());
        assert_eq!(registered(Host::Codex, &mixed).unwrap().len(), 0);
        assert_eq!(uninstall(Host::Codex, &mixed).unwrap(), mixed);
        assert_eq!(uninstall(Host::Claude, &mixed).unwrap().trim(), "{}");
        for other in
            ["handover hook codex", "handover hooks claude", "my-handover hook claude", "'"]
        {
            assert!(!is_ours(Host::Claude, other), "{other}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, word) in [
            ("{\"a\": }", "JSON"),
            ("{// no\n}", "JSON"),
            ("[]", "an object"),
            ("{\"hooks\": 3}", "`hooks`"),
            ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
        ] {
            let error = install(Host::Claude, text, COMMAND).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
