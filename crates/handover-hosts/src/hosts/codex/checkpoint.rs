//! Checkpoints: before the window is compacted, when a turn is over, when the conversation ends.

use super::input;
use crate::event::{Checkpoint, HookEvent};

input! {
    /// `PreCompact`, `Stop` and `SessionEnd`
    {
        /// Why the window is compacted: manual or auto.
        trigger: Option<String>,
        /// Why the conversation ends.
        reason: Option<String>,
    }
}

impl Input {
    fn into_event(self) -> HookEvent {
        let at = match self.hook_event_name.as_str() {
            "PreCompact" => Checkpoint::PreCompact,
            "Stop" => Checkpoint::Stop,
            _ => Checkpoint::SessionEnd,
        };
        HookEvent::Checkpoint { at, cause: self.trigger.or(self.reason) }
    }
}
