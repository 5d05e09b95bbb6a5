//! Codex. Its events are much like those of Claude Code and read as leniently.

pub mod checkpoint;
pub mod pre_tool_use;
pub mod session_start;
pub mod subagent_start;
pub mod subagent_stop;

use serde::Deserialize;

use crate::call::{Call, Event};

/// The fields of an event of Codex, which always has the model.
macro_rules! input {
    ($(#[$meta:meta])* { $($fields:tt)* }) => {
        $crate::call::input! {
            Codex,
            model: |input| input.model.clone(),
            writer: |_| None;
            $(#[$meta])* {
                /// The model.
                model: Option<String>,
                $($fields)*
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
