//! A subagent starts. Neither its prompt nor its transcript is known yet.

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
