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

impl Fields {
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
