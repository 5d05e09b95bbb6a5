//! A tool is about to run; only the one that spawns subagents matters.

use serde_json::{Map, Value};

use super::input;
use crate::event::{HookEvent, SubagentSpawn};
use crate::protocol::input::kind_or;
use crate::protocol::text;

/// The kind of a subagent when the caller does not choose one.
const DEFAULT_KIND: &str = "general-purpose";

input! {
    /// `PreToolUse`
    {
        /// The tool.
        tool_name: String,
        /// Its input, with every field.
        tool_input: Map<String, Value>,
    }
}

impl Input {
    fn into_event(self) -> HookEvent {
        // `Task` until 2.1.63.
        if !matches!(self.tool_name.as_str(), "Agent" | "Task") {
            return HookEvent::Other;
        }
        let Some(prompt) = text(&self.tool_input, "prompt") else { return HookEvent::Other };
        HookEvent::SubagentSpawn(SubagentSpawn {
            kind: kind_or(text(&self.tool_input, "subagent_type"), DEFAULT_KIND),
            prompt: prompt.to_owned(),
            model: text(&self.tool_input, "model").map(ToOwned::to_owned),
            prompt_field: "prompt",
            input: self.tool_input,
        })
    }
}
