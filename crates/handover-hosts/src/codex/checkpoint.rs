//! Points where the state of a conversation counts: before its window is made smaller, when a turn
//! is over, when it ends.

use super::input;
use crate::call::{Event, Moment};

input! {
    /// `PreCompact`, `Stop` and `SessionEnd`
    {
        /// Who wants the window to be made smaller: manual or auto.
        trigger: Option<String>,
        /// Why the conversation ends.
        reason: Option<String>,
    }
}

impl Input {
    fn into_event(self) -> Event {
        let moment = match self.hook_event_name.as_str() {
            "PreCompact" => Moment::PreCompact,
            "Stop" => Moment::Stop,
            _ => Moment::SessionEnd,
        };
        Event::Checkpoint { moment, cause: self.trigger.or(self.reason) }
    }
}
