//! An event of a host and our answer, in terms that are the same for every host.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use handover_model::{AgentId, Host, HostSessionId, ToolUseId};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// One hook call: which host sent it, from where, and what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// The host that sent the event.
    pub host: Host,
    /// The conversation; none if its id cannot be stored.
    pub conversation: Option<HostSessionId>,
    /// The working folder.
    pub folder: Option<PathBuf>,
    /// The transcript of the conversation.
    pub transcript: Option<PathBuf>,
    /// The subagent in which, or to which, it happened.
    pub agent: Option<Subagent>,
    /// The model, where the host names it.
    pub model: Option<String>,
    /// The tool call that it is about.
    pub tool_use: Option<ToolUseId>,
    /// The subagents that are still running, where the host lists them.
    pub running: Option<Vec<AgentId>>,
    /// What happened.
    pub event: HookEvent,
}

impl HookCall {
    /// An event without any other information.
    pub fn new(host: Host, event: HookEvent) -> Self {
        Self {
            host,
            conversation: None,
            folder: None,
            transcript: None,
            agent: None,
            model: None,
            tool_use: None,
            running: None,
            event,
        }
    }
}

/// A subagent, as its host names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Unique within the host.
    pub id: AgentId,
    /// Its type, such as `general-purpose`; empty if the host does not say.
    pub kind: String,
}

/// What happened in a host.
#[derive(Debug, Clone, PartialEq)]
pub enum HookEvent {
    /// A conversation starts, or continues with an empty window.
    SessionStarted(StartReason),
    /// A subagent is about to be spawned.
    SubagentSpawn(SubagentSpawn),
    /// The call that spawned a subagent returned: the subagent runs, or has ended.
    SubagentSpawned {
        /// The subagent, where the host names it.
        agent: Option<AgentId>,
        /// Whether it has ended.
        ended: bool,
        /// What it returns to its parent, if it has ended and a hook can change that.
        returned: Option<SubagentReturn>,
    },
    /// The call that should have spawned a subagent failed, for this reason.
    SpawnFailed(String),
    /// A subagent starts.
    SubagentStarted,
    /// A subagent gets its task, or a later message.
    SubagentPrompted {
        /// The text, as the subagent gets it.
        prompt: String,
    },
    /// A subagent is about to stop.
    SubagentStopping(SubagentStop),
    /// A subagent is about to hand in its result, in a host that does not say which one.
    SubagentEnding {
        /// The result.
        last_message: String,
    },
    /// A subagent has finished, in a host that reports nothing but its result.
    SubagentFinished(SubagentEnd),
    /// An agent read a file.
    FileRead(PathBuf),
    /// An agent wrote a file.
    FileChanged(PathBuf),
    /// A shell command succeeded.
    CommandPassed(String),
    /// A shell command failed.
    CommandFailed {
        /// The command line.
        command: String,
        /// Its output, or the error of the tool.
        error: String,
    },
    /// The conversation reached a point where its state is worth recording.
    Checkpoint {
        /// Which point.
        at: Checkpoint,
        /// The reason that the host gives.
        cause: Option<String>,
    },
    /// Nothing that we act on.
    Other,
}

impl HookEvent {
    /// A short name for logs.
    pub fn label(&self) -> &'static str {
        match self {
            Self::SessionStarted(_) => "session start",
            Self::SubagentSpawn(_) => "spawn",
            Self::SubagentSpawned { .. } => "spawned",
            Self::SpawnFailed(_) => "failed spawn",
            Self::SubagentStarted => "subagent start",
            Self::SubagentPrompted { .. } => "subagent prompt",
            Self::SubagentStopping(_) | Self::SubagentEnding { .. } => "subagent stop",
            Self::SubagentFinished(_) => "subagent end",
            Self::FileRead(_) | Self::FileChanged(_) => "file",
            Self::CommandPassed(_) | Self::CommandFailed { .. } => "command",
            Self::Checkpoint { at, .. } => at.as_str(),
            Self::Other => "event",
        }
    }
}

/// Why a conversation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartReason {
    /// It is new.
    Startup,
    /// An earlier conversation is resumed.
    Resume,
    /// The user emptied its window.
    Clear,
    /// Its window was compacted.
    Compact,
    /// A reason unknown to this version.
    Other,
}

impl StartReason {
    /// The reason by its common name; a missing one means startup.
    pub fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("startup") | None => Self::Startup,
            Some("resume") => Self::Resume,
            Some("clear") => Self::Clear,
            Some("compact") => Self::Compact,
            Some(_) => Self::Other,
        }
    }
}

/// A point where the state of a conversation is worth recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// The window is about to be compacted.
    PreCompact,
    /// A turn is over.
    Stop,
    /// The conversation is over.
    SessionEnd,
}

impl Checkpoint {
    /// The name in stored events, the same as the hosts use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreCompact => "PreCompact",
            Self::Stop => "Stop",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

/// A subagent that is about to be spawned.
#[derive(Debug, Clone, PartialEq)]
pub struct SubagentSpawn {
    /// The kind of subagent.
    pub kind: String,
    /// Its task, as the caller wrote it.
    pub prompt: String,
    /// Its model, if the caller chose one.
    pub model: Option<String>,
    /// Every field of the tool call, known to us or not.
    pub input: Map<String, Value>,
    /// The field of `input` that holds the task.
    pub prompt_field: &'static str,
    /// The field of `input` that holds the name that the caller gives the subagent.
    pub name_field: &'static str,
    /// Whether the host seals the task, so that a hook must not change it.
    pub sealed: bool,
}

impl SubagentSpawn {
    /// The name that the caller gave the subagent.
    pub fn name(&self) -> Option<&str> {
        self.input.get(self.name_field).and_then(Value::as_str).filter(|name| !name.is_empty())
    }

    /// The same call with another prompt. Hosts replace the whole input, so every field is included.
    pub fn with_prompt(&self, prompt: String) -> Value {
        let mut input = self.input.clone();
        input.insert(self.prompt_field.to_owned(), Value::String(prompt));
        Value::Object(input)
    }
}

/// A subagent that is about to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentStop {
    /// The transcript of its own conversation.
    pub transcript: Option<PathBuf>,
    /// Its last message, where the host passes it on.
    pub last_message: Option<String>,
    /// Whether a hook (ours or another) has already held it back.
    pub held_before: bool,
}

/// What a subagent returns to its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct SubagentReturn {
    /// Its task, as hooks have left it.
    pub prompt: String,
    /// The text that its parent reads.
    pub text: String,
    /// The whole result of the call, known to us or not.
    pub result: Value,
}

/// A subagent that has finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentEnd {
    /// The kind of subagent.
    pub kind: String,
    /// Its task, as hooks have left it.
    pub prompt: String,
    /// What its parent gets.
    pub last_message: String,
}

/// The answer to an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What the host should do.
    pub action: Action,
    /// A line for the user.
    pub notice: Option<String>,
}

impl Answer {
    /// Whether there is nothing to send to the host.
    pub fn is_empty(&self) -> bool {
        self.action == Action::Proceed && self.notice.is_none()
    }
}

impl From<Action> for Answer {
    fn from(action: Action) -> Self {
        Self { action, notice: None }
    }
}

/// What a host should do.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Action {
    /// Continue as it would have anyway.
    #[default]
    Proceed,
    /// Spawn the subagent with this input instead.
    Rewrite(Value),
    /// Refuse to spawn the subagent, for this reason.
    Refuse(String),
    /// Add this to the context of the model.
    Inject(String),
    /// Keep the subagent working, with this message.
    HoldBack(String),
    /// Let the parent of a subagent read this instead of what it returned.
    Shorten(String),
}

impl Action {
    /// A short name for logs.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Rewrite(_) => "rewrite",
            Self::Refuse(_) => "refuse",
            Self::Inject(_) => "inject",
            Self::HoldBack(_) => "hold back",
            Self::Shorten(_) => "shorten",
        }
    }
}

/// The top-level fields of an event: enough to identify it and its sender. Long texts and nested values are
/// skipped, not copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventHead {
    fields: BTreeMap<String, Option<String>>,
}

impl EventHead {
    /// The longest text that is kept; paths and ids are far shorter.
    const MAX_TEXT: usize = 4_096;

    /// Whether the event has a field, whatever its value.
    pub fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    /// The value of a field that is a short text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_deref()
    }
}

impl<'de> Deserialize<'de> for EventHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = EventHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event as a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventHead, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let ShortText(text) = map.next_value()?;
            fields.insert(name, text);
        }
        Ok(EventHead { fields })
    }
}

/// A text of bounded length; anything else is none.
struct ShortText(Option<String>);

impl<'de> Deserialize<'de> for ShortText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShortTextVisitor)
    }
}

struct ShortTextVisitor;

impl<'de> Visitor<'de> for ShortTextVisitor {
    type Value = ShortText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<ShortText, E> {
        Ok(ShortText((text.len() <= EventHead::MAX_TEXT).then(|| text.to_owned())))
    }

    fn visit_bool<E>(self, _: bool) -> Result<ShortText, E> {
        Ok(ShortText(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<ShortText, E> {
        Ok(ShortText(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<ShortText, E> {
        Ok(ShortText(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<ShortText, E> {
        Ok(ShortText(None))
    }

    fn visit_unit<E>(self) -> Result<ShortText, E> {
        Ok(ShortText(None))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<ShortText, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ShortText(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ShortText, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ShortText(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_keeps_short_texts_and_the_names_of_the_rest() {
        let long = "x".repeat(EventHead::MAX_TEXT + 1);
        let text = serde_json::json!({
            "name": "Stop", "id": 3, "minus": -1, "part": 0.5, "on": true, "none": null,
            "list": [1, {"a": []}], "map": {"name": "inner"}, "long": long,
        });
        let head: EventHead = serde_json::from_str(&text.to_string()).unwrap();
        assert_eq!(head.text("name"), Some("Stop"));
        for field in ["id", "minus", "part", "on", "none", "list", "map", "long"] {
            assert!(head.has(field) && head.text(field).is_none(), "{field}");
        }
        assert!(!head.has("other"));
        for text in ["", "[]", "3", "\"x\"", "{\"a\""] {
            assert!(serde_json::from_str::<EventHead>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn start_reasons_by_name() {
        let names =
            [None, Some("startup"), Some("resume"), Some("clear"), Some("compact"), Some("fork")];
        let reasons = names.map(StartReason::from_name);
        use StartReason::{Clear, Compact, Other, Resume, Startup};
        assert_eq!(reasons, [Startup, Startup, Resume, Clear, Compact, Other]);
    }

    #[test]
    fn a_rewritten_spawn_keeps_every_field() {
        let input = serde_json::json!({"prompt": "old", "model": "opus", "new": [1]});
        let spawn = SubagentSpawn {
            kind: "general-purpose".to_owned(),
            prompt: "old".to_owned(),
            model: None,
            input: input.as_object().unwrap().clone(),
            prompt_field: "prompt",
            name_field: "name",
            sealed: false,
        };
        let rewritten = spawn.with_prompt("new".to_owned());
        assert_eq!(rewritten, serde_json::json!({"prompt": "new", "model": "opus", "new": [1]}));
    }

    #[test]
    fn only_an_answer_without_action_and_notice_is_empty() {
        assert!(Answer::default().is_empty());
        assert!(!Answer::from(Action::Refuse(String::new())).is_empty());
        assert!(!Answer { notice: Some(String::new()), ..Answer::default() }.is_empty());
    }
}
