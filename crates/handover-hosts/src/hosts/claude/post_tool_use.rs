//! A tool has run: files read and changed, commands passed and failed, subagents spawned.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use handover_model::AgentId;

use crate::event::{HookEvent, SubagentReturn};

/// `PostToolUse` and `PostToolUseFailure`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// The tool.
    tool_name: String,
    /// The fields of its input that we use.
    tool_input: ToolInput,
    /// What went wrong, after a failure.
    error: Option<String>,
    /// Whether the user interrupted it.
    is_interrupt: Option<bool>,
}

/// The fields of a tool's input that we use; a file's content is skipped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    file_path: Option<PathBuf>,
    /// The notebook.
    notebook_path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
}

/// What the tool that spawns subagents returned; other tools return other things.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spawned {
    tool_input: SpawnInput,
    tool_response: Value,
}

/// The fields of its input that we use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpawnInput {
    prompt: String,
}

impl Fields {
    pub(super) fn tool(&self) -> &str {
        &self.tool_name
    }

    /// The event of the tool that spawns subagents.
    pub(super) fn into_spawn(self, failed: bool, text: &str) -> HookEvent {
        if failed {
            return HookEvent::SpawnFailed(self.error.unwrap_or_default());
        }
        let Spawned { tool_input, tool_response } = serde_json::from_str(text).unwrap_or_default();
        // `async_launched` for one that runs in the background.
        let ended = tool_response["status"] == "completed";
        HookEvent::SubagentSpawned {
            agent: tool_response["agentId"].as_str().and_then(|id| AgentId::new(id).ok()),
            ended,
            returned: ended.then(|| SubagentReturn {
                prompt: tool_input.prompt,
                text: text_of(&tool_response["content"]),
                result: tool_response,
            }),
        }
    }

    pub(super) fn into_event(self, failed: bool) -> HookEvent {
        let path = self.tool_input.file_path.or(self.tool_input.notebook_path);
        match (self.tool_name.as_str(), path, self.tool_input.command) {
            // The user interrupted it, which says nothing about the command.
            ("Bash", _, _) if self.is_interrupt == Some(true) => HookEvent::Other,
            ("Bash", _, Some(command)) if failed => {
                HookEvent::CommandFailed { command, error: self.error.unwrap_or_default() }
            }
            ("Bash", _, Some(command)) => HookEvent::CommandPassed(command),
            ("Read", Some(path), _) if !failed => HookEvent::FileRead(path),
            ("Edit" | "MultiEdit" | "Write" | "NotebookEdit", Some(path), _) if !failed => {
                HookEvent::FileChanged(path)
            }
            _ => HookEvent::Other,
        }
    }
}

/// The texts of a result, one below the other.
fn text_of(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
