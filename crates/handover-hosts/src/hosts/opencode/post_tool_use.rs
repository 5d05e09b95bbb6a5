//! A tool has run: files read and changed, commands passed and failed, what subagents return.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::event::{HookEvent, SubagentReturn};

/// `PostToolUse`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// The tool.
    tool_name: String,
    /// The fields of its input that we use.
    tool_input: ToolInput,
    /// The exit code of a command.
    exit_code: Option<i64>,
    /// The output of a command that failed.
    error: Option<String>,
    /// What a subagent returned.
    tool_response: Option<String>,
}

/// The fields of a tool's input that we use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    file_path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
    /// The task of a subagent.
    prompt: Option<String>,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        let Self { tool_name, tool_input, exit_code, error, tool_response } = self;
        match (tool_name.as_str(), tool_input.file_path, tool_input.command) {
            ("bash", _, Some(command)) => match exit_code {
                Some(0) => HookEvent::CommandPassed(command),
                Some(_) => HookEvent::CommandFailed { command, error: error.unwrap_or_default() },
                None => HookEvent::Other,
            },
            ("task", ..) => HookEvent::SubagentSpawned {
                agent: None,
                ended: true,
                returned: tool_response.map(|text| SubagentReturn {
                    prompt: tool_input.prompt.unwrap_or_default(),
                    text,
                    result: Value::Null,
                }),
            },
            ("read", Some(path), _) => HookEvent::FileRead(path),
            ("write" | "edit", Some(path), _) => HookEvent::FileChanged(path),
            _ => HookEvent::Other,
        }
    }
}
