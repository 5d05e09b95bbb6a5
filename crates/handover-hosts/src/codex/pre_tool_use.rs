//! A tool is about to run; only the one that spawns subagents is of interest.

use serde_json::{Map, Value};

use super::input;
use crate::call::{Event, Spawn, kind_or};

/// The tool that spawns subagents.
const TOOL: &str = "spawn_agent";

/// What a subagent is called when the caller does not say.
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
    fn into_event(self) -> Event {
        // The namespace of the tool stands before it in some versions.
        if !self.tool_name.ends_with(TOOL) {
            return Event::Other;
        }
        let text = |field: &str| self.tool_input.get(field).and_then(Value::as_str);
        let Some(prompt) = text("message") else { return Event::Other };
        Event::Spawn(Spawn {
            kind: kind_or(text("agent_type"), DEFAULT_KIND),
            prompt: prompt.to_owned(),
            model: text("model").map(ToOwned::to_owned),
            field: "message",
            input: self.tool_input,
        })
    }
}
