//! A tool is about to run; only the one that spawns subagents is of interest.

use serde_json::{Map, Value};

use super::input;
use crate::call::{Event, Spawn, kind_or};

/// What a subagent is called when the caller does not say.
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
    fn into_event(self) -> Event {
        // `Task` until 2.1.63.
        if !matches!(self.tool_name.as_str(), "Agent" | "Task") {
            return Event::Other;
        }
        let text = |field: &str| self.tool_input.get(field).and_then(Value::as_str);
        let Some(prompt) = text("prompt") else { return Event::Other };
        Event::Spawn(Spawn {
            kind: kind_or(text("subagent_type"), DEFAULT_KIND),
            prompt: prompt.to_owned(),
            model: text("model").map(ToOwned::to_owned),
            field: "prompt",
            input: self.tool_input,
        })
    }
}
