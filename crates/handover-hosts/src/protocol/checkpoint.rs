//! Checkpoints: before the window is compacted, when a turn is over, when the conversation ends.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::{Checkpoint, HookEvent};

/// `PreCompact`, `Stop` and `SessionEnd`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// Why the window is compacted: manual or auto.
    trigger: Option<String>,
    /// Why the conversation ends.
    reason: Option<String>,
}

impl Fields {
    pub(super) fn into_event(self, at: Checkpoint) -> HookEvent {
        HookEvent::Checkpoint { at, cause: self.trigger.or(self.reason) }
    }
}
