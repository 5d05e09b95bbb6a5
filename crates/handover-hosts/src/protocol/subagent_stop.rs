//! A subagent is about to stop.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::{HookEvent, SubagentStop};

/// `SubagentStop`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// The transcript of the subagent.
    agent_transcript_path: Option<PathBuf>,
    /// Its last message.
    last_assistant_message: Option<String>,
    /// Whether a hook has already held it back.
    stop_hook_active: bool,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        HookEvent::SubagentStopping(SubagentStop {
            transcript: self.agent_transcript_path,
            last_message: self.last_assistant_message,
            held_before: self.stop_hook_active,
        })
    }
}
