//! A tool is about to run; only the one that spawns subagents matters.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::dialect::SpawnTool;
use crate::event::{HookEvent, SubagentSpawn};

/// `PreToolUse`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// The tool.
    tool_name: String,
    /// Its input, with every field.
    tool_input: Map<String, Value>,
}

impl Fields {
    pub(super) fn into_event(self, spawn: &SpawnTool) -> HookEvent {
        if !(spawn.is)(&self.tool_name) {
            return HookEvent::Other;
        }
        let text = |field| self.tool_input.get(field).and_then(Value::as_str);
        let Some(prompt) = text(spawn.prompt_field) else { return HookEvent::Other };
        let kind = text(spawn.kind_field).filter(|kind| !kind.is_empty());
        HookEvent::SubagentSpawn(SubagentSpawn {
            kind: kind.unwrap_or(spawn.default_kind).to_owned(),
            prompt: prompt.to_owned(),
            model: text("model").map(ToOwned::to_owned),
            prompt_field: spawn.prompt_field,
            name_field: spawn.name_field,
            sealed: false,
            input: self.tool_input,
        })
    }
}
