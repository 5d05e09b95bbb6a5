//! A subagent starts.

use super::input;
use crate::call::Event;

input! {
    /// `SubagentStart`
    {}
}

impl Input {
    fn into_event(self) -> Event {
        Event::ChildStarts
    }
}
