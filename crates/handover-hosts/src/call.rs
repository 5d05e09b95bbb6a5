//! An event of a host and our answer, in words that hold for every host.

use std::path::PathBuf;

use handover_model::{AgentId, Host, HostSessionId};
use serde_json::{Map, Value};

/// An event that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the event of {host} cannot be read: {source}")]
pub struct Unreadable {
    /// Whose event it is.
    pub host: Host,
    /// What is wrong with it.
    pub source: serde_json::Error,
}

/// One event of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The program.
    pub host: Host,
    /// Its conversation, unless its id is none that we could keep.
    pub conversation: Option<HostSessionId>,
    /// The folder that it works in.
    pub folder: Option<PathBuf>,
    /// Where it writes the conversation down.
    pub transcript: Option<PathBuf>,
    /// The subagent inside which, or to which, it happened.
    pub agent: Option<Agent>,
    /// The model, where the host says it.
    pub model: Option<String>,
    /// What happened.
    pub event: Event,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its kind, as the host calls it.
    pub kind: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A conversation starts, or goes on with an empty window.
    Opened(Source),
    /// A subagent is about to be spawned.
    Spawn(Spawn),
    /// A subagent starts.
    ChildStarts,
    /// A subagent wants to stop.
    ChildStops(ChildStop),
    /// A file was read.
    FileRead(PathBuf),
    /// A file was written.
    FileChanged(PathBuf),
    /// A command ended well.
    CommandPassed(String),
    /// A command failed.
    CommandFailed {
        /// The command.
        command: String,
        /// What it said.
        error: String,
    },
    /// The conversation came to a point where its state counts.
    Checkpoint {
        /// Which.
        moment: Moment,
        /// Why, in the host's words.
        cause: Option<String>,
    },
    /// Nothing of ours.
    Other,
}

/// Why a conversation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is new.
    Startup,
    /// It goes on.
    Resume,
    /// Its window was emptied.
    Clear,
    /// Its window was made smaller.
    Compact,
    /// Something newer than this program.
    Other,
}

impl Source {
    /// The source by the word that all hosts use.
    pub(crate) fn named(word: Option<&str>) -> Self {
        match word {
            Some("startup") | None => Self::Startup,
            Some("resume") => Self::Resume,
            Some("clear") => Self::Clear,
            Some("compact") => Self::Compact,
            Some(_) => Self::Other,
        }
    }
}

/// A point where the state of a conversation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The window is about to be made smaller.
    PreCompact,
    /// The turn is over.
    Stop,
    /// The conversation is over.
    SessionEnd,
}

impl Moment {
    /// The word that hosts use.
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
pub struct Spawn {
    /// What kind of subagent.
    pub kind: String,
    /// Its task.
    pub prompt: String,
    /// Its model, if the caller chose one.
    pub model: Option<String>,
    /// Every field of the call, known to us or not.
    pub input: Map<String, Value>,
    /// The field that holds the task.
    pub field: &'static str,
}

impl Spawn {
    /// The same call with another prompt: hosts replace the whole input, so every field is there.
    pub fn with_prompt(&self, prompt: String) -> Value {
        let mut input = self.input.clone();
        input.insert(self.field.to_owned(), Value::String(prompt));
        Value::Object(input)
    }
}

/// A subagent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildStop {
    /// Where its conversation is written down.
    pub transcript: Option<PathBuf>,
    /// Its last words.
    pub last_message: Option<String>,
    /// Whether a hook held it back before.
    pub held_before: bool,
}

/// What a host is answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What it shall do.
    pub act: Act,
    /// A line for the user.
    pub notice: Option<String>,
}

impl From<Act> for Answer {
    fn from(act: Act) -> Self {
        Self { act, notice: None }
    }
}

/// What a host shall do.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Act {
    /// Whatever it would have done.
    #[default]
    Nothing,
    /// Spawn with this input instead.
    Rewrite(Value),
    /// Not spawn, for this reason.
    Refuse(String),
    /// Let the model know this.
    Tell(String),
    /// Keep the subagent at work, with these words.
    Hold(String),
}

/// Reads an event.
pub fn read(host: Host, text: &str) -> Result<Call, Unreadable> {
    let read = match host {
        Host::Claude => crate::claude::read(text),
        Host::Codex => crate::codex::read(text),
        // They have no hooks of ours.
        Host::Gemini | Host::Command => return Ok(Call::new(host, Event::Other)),
    };
    read.map_err(|source| Unreadable { host, source })
}

/// Writes an answer; none if there is nothing to say.
pub fn write(host: Host, event: &Event, answer: &Answer) -> Option<String> {
    if answer.act == Act::Nothing && answer.notice.is_none() {
        return None;
    }
    match host {
        Host::Claude | Host::Codex => crate::output::write(event, answer),
        Host::Gemini | Host::Command => None,
    }
}

impl Call {
    /// An event about which nothing else is known.
    pub fn new(host: Host, event: Event) -> Self {
        Self {
            host,
            conversation: None,
            folder: None,
            transcript: None,
            agent: None,
            model: None,
            event,
        }
    }
}

/// A subagent by what a host says of it.
pub(crate) fn agent(id: Option<&str>, kind: Option<&str>) -> Option<Agent> {
    let id = AgentId::new(id?).ok()?;
    Some(Agent { id, kind: kind.unwrap_or_default().to_owned() })
}

/// The words that a subagent's kind may have when none is given.
pub(crate) fn kind_or(kind: Option<&str>, default: &str) -> String {
    kind.filter(|kind| !kind.is_empty()).unwrap_or(default).to_owned()
}

/// The input of one event: the fields that every event of every host has, those of this one, and how
/// a host tells its model and, if nothing else says so, the subagent that wrote.
macro_rules! input {
    (
        $host:ident, model: $model:expr, writer: $writer:expr;
        $(#[$meta:meta])* { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default)]
        pub struct Input {
            /// The name of the event.
            pub hook_event_name: String,
            /// The conversation.
            pub session_id: Option<String>,
            /// Where it is written down.
            pub transcript_path: Option<std::path::PathBuf>,
            /// The folder that it works in.
            pub cwd: Option<std::path::PathBuf>,
            /// The subagent that it is about.
            pub agent_id: Option<String>,
            /// The kind of that subagent.
            pub agent_type: Option<String>,
            $($(#[$fmeta])* pub $field: $type,)*
        }

        impl Input {
            /// The event in words that hold for every host.
            pub fn into_call(self) -> $crate::Call {
                let model: fn(&Self) -> Option<String> = $model;
                let writer: fn(&Self) -> Option<$crate::call::Agent> = $writer;
                $crate::Call {
                    conversation: self
                        .session_id
                        .as_deref()
                        .and_then(|id| handover_model::HostSessionId::new(id).ok()),
                    folder: self.cwd.clone(),
                    transcript: self.transcript_path.clone(),
                    agent: $crate::call::agent(self.agent_id.as_deref(), self.agent_type.as_deref())
                        .or_else(|| writer(&self)),
                    model: model(&self),
                    host: handover_model::Host::$host,
                    event: self.into_event(),
                }
            }
        }
    };
}
pub(crate) use input;
