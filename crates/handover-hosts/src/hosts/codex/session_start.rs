//! A conversation starts, or continues with an empty window.

use super::input;
use crate::event::{HookEvent, StartReason};

input! {
    /// `SessionStart`
    {
        /// startup, resume, clear, compact.
        source: Option<String>,
    }
}

impl Input {
    fn into_event(self) -> HookEvent {
        HookEvent::SessionStarted(StartReason::from_name(self.source.as_deref()))
    }
}
