//! Claude Code. Its events have many more fields than are read here, and more in every version:
//! what is not known is skipped, what is missing is none.

pub mod checkpoint;
pub mod post_tool_use;
pub mod pre_tool_use;
pub mod session_start;
pub mod subagent_start;
pub mod subagent_stop;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::call::{Agent, Call, Event};

/// The fields of an event of Claude Code.
macro_rules! input {
    ($(#[$meta:meta])* { $($fields:tt)* }) => {
        $crate::call::input! {
            Claude,
            model: |_| None,
            writer: |input| $crate::claude::writer(input.transcript_path.as_deref()?);
            $(#[$meta])* { $($fields)* }
        }
    };
}
use input;

/// The subagent that writes a conversation down. Some events from inside of one say so in no other
/// way, such as that its window was made smaller.
fn writer(transcript: &Path) -> Option<Agent> {
    if transcript.parent()?.file_name()? != "subagents" {
        return None;
    }
    let name = transcript.file_name()?.to_str()?;
    crate::call::agent(name.strip_prefix("agent-")?.strip_suffix(".jsonl"), None)
}

/// What decides how the rest is read. Large fields are skipped, not kept.
#[derive(Deserialize)]
struct Name {
    hook_event_name: String,
    #[serde(default)]
    turn_id: Option<IgnoredAny>,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
}

impl Name {
    /// Codex loads plugins of Claude Code, and then calls their hooks with events of its own.
    fn is_codex(&self) -> bool {
        let file = self.transcript_path.as_deref().and_then(Path::file_name);
        let rollout = file.is_some_and(|name| name.to_string_lossy().starts_with("rollout-"));
        rollout || self.turn_id.is_some()
    }
}

pub(crate) fn read(text: &str) -> Result<Call, serde_json::Error> {
    let name: Name = serde_json::from_str(text)?;
    if name.is_codex() {
        return crate::codex::read(text);
    }
    Ok(match name.hook_event_name.as_str() {
        "SessionStart" => serde_json::from_str::<session_start::Input>(text)?.into_call(),
        "PreToolUse" => serde_json::from_str::<pre_tool_use::Input>(text)?.into_call(),
        "PostToolUse" | "PostToolUseFailure" => {
            serde_json::from_str::<post_tool_use::Input>(text)?.into_call()
        }
        "SubagentStart" => serde_json::from_str::<subagent_start::Input>(text)?.into_call(),
        "SubagentStop" => serde_json::from_str::<subagent_stop::Input>(text)?.into_call(),
        "PreCompact" | "Stop" | "SessionEnd" => {
            serde_json::from_str::<checkpoint::Input>(text)?.into_call()
        }
        _ => Call::new(handover_model::Host::Claude, Event::Other),
    })
}
