//! A subagent wants to stop.

use std::path::PathBuf;

use super::input;
use crate::call::{ChildStop, Event};

input! {
    /// `SubagentStop`
    {
        /// Where the subagent's conversation is written down.
        agent_transcript_path: Option<PathBuf>,
        /// Its last words.
        last_assistant_message: Option<String>,
        /// Whether a hook held it back before.
        stop_hook_active: bool,
    }
}

impl Input {
    fn into_event(self) -> Event {
        Event::ChildStops(ChildStop {
            transcript: self.agent_transcript_path,
            last_message: self.last_assistant_message,
            held_before: self.stop_hook_active,
        })
    }
}
