//! Codex. Its events are much like those of Claude Code and read as leniently.

pub mod checkpoint;
pub mod pre_tool_use;
pub mod session_start;
pub mod subagent_start;
pub mod subagent_stop;

use serde::Deserialize;

use crate::call::{Call, Event};

/// The fields that every event has, and those of one event.
macro_rules! input {
    ($(#[$meta:meta])* { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* }) => {
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
            /// The model.
            pub model: Option<String>,
            $($(#[$fmeta])* pub $field: $type,)*
        }

        impl Input {
            /// The event in words that hold for every host.
            pub fn into_call(self) -> $crate::Call {
                $crate::Call {
                    conversation: self
                        .session_id
                        .as_deref()
                        .and_then(|id| handover_model::HostSessionId::new(id).ok()),
                    folder: self.cwd.clone(),
                    transcript: self.transcript_path.clone(),
                    agent: $crate::call::agent(self.agent_id.as_deref(), self.agent_type.as_deref()),
                    model: self.model.clone(),
                    host: handover_model::Host::Codex,
                    event: self.into_event(),
                }
            }
        }
    };
}
use input;

/// What decides how the rest is read. Large fields are skipped, not kept.
#[derive(Deserialize)]
struct Name {
    hook_event_name: String,
}

pub(crate) fn read(text: &str) -> Result<Call, serde_json::Error> {
    let Name { hook_event_name } = serde_json::from_str(text)?;
    Ok(match hook_event_name.as_str() {
        "SessionStart" => serde_json::from_str::<session_start::Input>(text)?.into_call(),
        "PreToolUse" => serde_json::from_str::<pre_tool_use::Input>(text)?.into_call(),
        // `PostToolUse` does not say whether a command failed, and files are read by commands.
        "SubagentStart" => serde_json::from_str::<subagent_start::Input>(text)?.into_call(),
        "SubagentStop" => serde_json::from_str::<subagent_stop::Input>(text)?.into_call(),
        "PreCompact" | "Stop" | "SessionEnd" => {
            serde_json::from_str::<checkpoint::Input>(text)?.into_call()
        }
        _ => Call::new(handover_model::Host::Codex, Event::Other),
    })
}
