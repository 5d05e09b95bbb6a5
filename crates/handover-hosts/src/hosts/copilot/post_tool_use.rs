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
    /// What it led to.
    tool_result: ToolResult,
}

/// The fields of a tool's input that we use; a file's content is skipped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
    /// The task of a subagent.
    prompt: Option<String>,
}

/// The result of a tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolResult {
    /// What the model reads. The last line of a command's output tells its exit code.
    text_result_for_llm: String,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        let Self { tool_name, tool_input, tool_result } = self;
        match (tool_name.as_str(), tool_input.path, tool_input.command) {
            ("Bash", _, Some(command)) => match exit_code(&tool_result.text_result_for_llm) {
                Some((_, 0)) => HookEvent::CommandPassed(command),
                Some((output, _)) => HookEvent::CommandFailed { command, error: output.to_owned() },
                // It is still running, in the background.
                None => HookEvent::Other,
            },
            // One that runs in the background returns only that it does.
            ("Agent" | "Task", ..) => HookEvent::SubagentSpawned {
                agent: None,
                ended: true,
                returned: Some(SubagentReturn {
                    prompt: tool_input.prompt.unwrap_or_default(),
                    text: tool_result.text_result_for_llm,
                    result: Value::Null,
                }),
            },
            ("Read", Some(path), _) => HookEvent::FileRead(path),
            ("Edit" | "Write", Some(path), _) => HookEvent::FileChanged(path),
            _ => HookEvent::Other,
        }
    }
}

/// The output of a command and its exit code, from a text that ends with
/// `<shellId: 0 completed with exit code 2>`.
fn exit_code(text: &str) -> Option<(&str, i64)> {
    let (output, end) = text.trim_end().rsplit_once("<shellId: ")?;
    let code = end.split_once("completed with exit code ")?.1.strip_suffix('>')?;
    Some((output, code.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_tells_the_exit_code() {
        let end = "<shellId: 3 completed with exit code";
        assert_eq!(exit_code(&format!("hi\n{end} 0>")), Some(("hi\n", 0)));
        assert_eq!(exit_code(&format!("{end} 127>\n")), Some(("", 127)));
        for other in ["hi", "", "<shellId: 3 is still running>", &format!("{end} many>")] {
            assert_eq!(exit_code(other), None, "{other}");
        }
    }
}
