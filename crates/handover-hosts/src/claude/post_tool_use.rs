//! A tool has run: what was read, what was changed, which command failed and which did not.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::input;
use crate::call::Event;

input! {
    /// `PostToolUse` and `PostToolUseFailure`
    {
        /// The tool.
        tool_name: String,
        /// The fields of its input that are of interest.
        tool_input: ToolInput,
        /// What went wrong, after a failure.
        error: Option<String>,
        /// Whether the user stopped it.
        is_interrupt: Option<bool>,
    }
}

/// The fields of a tool's input that are of interest; a file's content is not.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolInput {
    /// The file.
    pub file_path: Option<PathBuf>,
    /// The notebook.
    pub notebook_path: Option<PathBuf>,
    /// The command.
    pub command: Option<String>,
}

impl Input {
    fn into_event(self) -> Event {
        let failed = self.hook_event_name == "PostToolUseFailure";
        let path = self.tool_input.file_path.or(self.tool_input.notebook_path);
        match (self.tool_name.as_str(), path, self.tool_input.command) {
            // Somebody lost patience: that says nothing about the command.
            ("Bash", _, _) if self.is_interrupt == Some(true) => Event::Other,
            ("Bash", _, Some(command)) if failed => {
                Event::CommandFailed { command, error: self.error.unwrap_or_default() }
            }
            ("Bash", _, Some(command)) => Event::CommandPassed(command),
            ("Read", Some(path), _) if !failed => Event::FileRead(path),
            ("Edit" | "MultiEdit" | "Write" | "NotebookEdit", Some(path), _) if !failed => {
                Event::FileChanged(path)
            }
            _ => Event::Other,
        }
    }
}
