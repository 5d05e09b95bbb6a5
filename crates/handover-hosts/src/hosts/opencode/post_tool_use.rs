//! A tool has run: files read and changed, commands passed and failed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::HookEvent;

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
}

/// The fields of a tool's input that we use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    file_path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        let Self { tool_name, tool_input, exit_code, error } = self;
        match (tool_name.as_str(), tool_input.file_path, tool_input.command) {
            ("bash", _, Some(command)) => match exit_code {
                Some(0) => HookEvent::CommandPassed(command),
                Some(_) => HookEvent::CommandFailed { command, error: error.unwrap_or_default() },
                None => HookEvent::Other,
            },
            ("read", Some(path), _) => HookEvent::FileRead(path),
            ("write" | "edit", Some(path), _) => HookEvent::FileChanged(path),
            _ => HookEvent::Other,
        }
    }
}
