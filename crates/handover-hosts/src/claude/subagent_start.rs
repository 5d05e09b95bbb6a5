//! A subagent starts. Neither its prompt nor its transcript is known at this moment.

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
