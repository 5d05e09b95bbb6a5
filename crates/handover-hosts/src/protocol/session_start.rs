//! A conversation starts, or continues with an empty window.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::{HookEvent, StartReason};

/// `SessionStart`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// startup, resume, clear, compact; Claude Code also has fork.
    source: Option<String>,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        HookEvent::SessionStarted(StartReason::from_name(self.source.as_deref()))
    }
}
