//! A tool is about to run; only the one that spawns subagents matters.

use serde_json::{Map, Value};

use super::input;
use crate::event::{HookEvent, SubagentSpawn};
use crate::protocol::input::kind_or;
use crate::protocol::text;

/// The tool that spawns subagents.
const TOOL: &str = "spawn_agent";

/// The kind of a subagent when the caller does not choose one.
const DEFAULT_KIND: &str = "default";

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
        // Some versions prefix the namespace of the tool.
        if !self.tool_name.ends_with(TOOL) {
            return HookEvent::Other;
        }
        let Some(prompt) = text(&self.tool_input, "message") else { return HookEvent::Other };
        HookEvent::SubagentSpawn(SubagentSpawn {
            kind: kind_or(text(&self.tool_input, "agent_type"), DEFAULT_KIND),
            prompt: prompt.to_owned(),
            model: text(&self.tool_input, "model").map(ToOwned::to_owned),
            prompt_field: "message",
            input: self.tool_input,
        })
    }
}
