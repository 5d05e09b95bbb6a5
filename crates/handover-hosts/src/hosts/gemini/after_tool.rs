//! A tool has run: files read and changed, commands passed and failed, subagents that are done.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::SPAWN_TOOL;
use crate::event::{HookEvent, SubagentEnd};

/// `AfterTool`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Fields {
    /// The tool.
    tool_name: String,
    /// The fields of its input that we use, as hooks have left it.
    tool_input: ToolInput,
    /// What it led to.
    tool_response: ToolResponse,
}

/// The fields of a tool's input that we use; a file's content is skipped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolInput {
    /// The file.
    file_path: Option<PathBuf>,
    /// The command.
    command: Option<String>,
    /// The kind of subagent.
    agent_name: Option<String>,
    /// The task of a subagent.
    prompt: Option<String>,
}

/// The result of a tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct ToolResponse {
    /// What the model reads: a text, or a list of parts.
    llm_content: Value,
    /// What went wrong.
    error: Option<Value>,
}

impl Fields {
    pub(super) fn into_event(self) -> HookEvent {
        let Self { tool_name, tool_input: input, tool_response: response } = self;
        let (failed, text) = (response.error.is_some(), text_of(&response.llm_content));
        match (tool_name.as_str(), input.file_path) {
            (SPAWN_TOOL, _) => HookEvent::SubagentFinished(SubagentEnd {
                kind: input.agent_name.unwrap_or_default(),
                prompt: input.prompt.unwrap_or_default(),
                last_message: result(&text),
            }),
            ("run_shell_command", _) => match (input.command, exit_code(&text)) {
                // It never ran.
                (None, _) => HookEvent::Other,
                (Some(_), Some(0)) if failed => HookEvent::Other,
                (Some(command), Some(0)) => HookEvent::CommandPassed(command),
                (Some(command), Some(_)) => HookEvent::CommandFailed { command, error: text },
                // A signal ended it, or the user did.
                (Some(_), None) => HookEvent::Other,
            },
            ("read_file", Some(path)) if !failed => HookEvent::FileRead(path),
            ("write_file" | "replace", Some(path)) if !failed => HookEvent::FileChanged(path),
            _ => HookEvent::Other,
        }
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// The exit code in the result of a command, which leaves out a zero.
fn exit_code(text: &str) -> Option<i64> {
    let value = |name: &str| {
        text.lines().rev().find_map(|line| line.trim_start().strip_prefix(name)).map(str::trim)
    };
    match (value("Exit Code:"), value("Signal:")) {
        (Some(code), _) => code.parse().ok(),
        (None, Some(_)) => None,
        (None, None) => Some(0),
    }
}

/// What a subagent said, in the result of its tool. Some kinds answer with an object of texts.
fn result(text: &str) -> String {
    let result = text.split_once("Result:\n").map_or(text, |(_, result)| result);
    match serde_json::from_str::<Value>(result) {
        Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => texts(&value),
        Ok(_) | Err(_) => result.to_owned(),
    }
}

/// Every text inside of a value.
pub(super) fn texts(value: &Value) -> String {
    let mut texts = Vec::new();
    collect_texts(value, &mut texts);
    texts.join("\n\n")
}

fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_a_text_or_an_object_of_texts() {
        let head = "Subagent 'x' finished.\nTermination Reason: GOAL\nResult:\n";
        assert_eq!(result(&format!("{head}all done")), "all done");
        let object =
            format!("{head}{{\"response\": \"done\\n```handover\\n```\", \"n\": [1, \"b\"]}}");
        assert_eq!(result(&object), "done\n```handover\n```\n\nb");
        assert_eq!(result(&format!("{head}\"quoted\"")), "quoted");
        assert_eq!(result("nothing known"), "nothing known");
    }

    #[test]
    fn the_exit_code_of_a_command_is_left_out_when_it_is_zero() {
        let of = |lines: &str| exit_code(&format!("<untrusted_context>\nOutput: x\n{lines}</x>"));
        assert_eq!(of("Process Group PGID: 7\n"), Some(0));
        assert_eq!(of("Exit Code: 2\nProcess Group PGID: 7\n"), Some(2));
        assert_eq!((of("Signal: 9\n"), of("Exit Code: many\n")), (None, None));
    }
}
