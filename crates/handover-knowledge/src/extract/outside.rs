//! What an agent has read from outside: what it says afterwards is no longer its own alone.

use handover_model::{Timestamp, reads_outside};

use crate::transcripts::{Conversation, ToolUse};

/// Whether a tool brings text from elsewhere.
pub(super) fn is_outside(tool: &ToolUse) -> bool {
    reads_outside(&tool.name, &tool.input)
}

/// The first tool with which the agent of a conversation read something from outside, and when, if the program says.
pub fn first_outside(conversation: &Conversation) -> Option<(&str, Option<Timestamp>)> {
    conversation.messages.iter().find_map(|message| {
        let tool = message.tools.iter().find(|tool| is_outside(tool))?;
        Some((tool.name.as_str(), message.time))
    })
}
