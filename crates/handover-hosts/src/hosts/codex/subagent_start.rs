//! A subagent starts.

use super::input;
use crate::event::HookEvent;

input! {
    /// `SubagentStart`
    {}
}

impl Input {
    fn into_event(self) -> HookEvent {
        HookEvent::SubagentStarted
    }
}
