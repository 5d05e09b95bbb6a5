//! A tool has run: files read and changed, commands passed and failed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::event::HookEvent;

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
    is_interrupt: bool,
}

/// The fields of a tool's input that we use; a file's content is skipped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    file_path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
    /// Whether the command goes on in the background.
    is_background: bool,
}

impl Fields {
    pub(super) fn into_event(self, failed: bool) -> HookEvent {
        let Self { tool_name, tool_input, error, is_interrupt } = self;
        match (tool_name.as_str(), tool_input.file_path, tool_input.command) {
            ("run_shell_command", ..) if is_interrupt || tool_input.is_background => {
                HookEvent::Other
            }
            ("run_shell_command", _, Some(command)) if failed => {
                HookEvent::CommandFailed { command, error: error.unwrap_or_default() }
            }
            ("run_shell_command", _, Some(command)) => HookEvent::CommandPassed(command),
            ("read_file", Some(path), _) if !failed => HookEvent::FileRead(path),
            ("write_file" | "edit", Some(path), _) if !failed => HookEvent::FileChanged(path),
            _ => HookEvent::Other,
        }
    }
}
