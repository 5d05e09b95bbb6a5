//! What an agent does while it runs, in terms that are the same for every program.

use crate::{Identity, Used};

/// One event of a running agent. Texts are what the agent printed: untrusted, not redacted, and bounded only
/// by the maximum line length.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The process has started. Always the first event; record it to find the process after a crash.
    Spawned(Identity),
    /// The program introduced itself.
    Started {
        /// The conversation id, for resuming.
        session: Option<String>,
        /// The model in use.
        model: Option<String>,
    },
    /// Text of the agent.
    Text(String),
    /// A tool call starts.
    ToolStarted(Tool),
    /// A tool call has ended.
    ToolEnded {
        /// The program's own id of the call.
        id: String,
        /// Whether it failed.
        failed: bool,
        /// What it showed the agent, cut; empty if the program does not say.
        shown: String,
    },
    /// The program retries a request to the model.
    Retry {
        /// Which attempt failed.
        attempt: u32,
        /// The reason given by the program.
        reason: String,
    },
    /// What was used so far.
    Usage(Used),
    /// A warning, or an error that did not end the run.
    Notice(String),
    /// Activity without content: thinking, housekeeping, a plan.
    Activity,
    /// The final answer, or the final error.
    Result {
        /// The answer.
        text: String,
        /// Whether the program calls it an error.
        failed: bool,
    },
    /// A line that the adapter cannot parse.
    Raw(String),
    /// A line on standard error.
    Stderr(String),
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The program's own id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// A short description: a command, a path, a pattern.
    pub about: String,
    /// What it was called with: JSON, or a command; cut.
    pub input: String,
}

/// The most that is kept of what a tool was called with, and of what it showed, in bytes.
const KEPT: usize = 16 << 10;

/// The beginning of a text.
pub(crate) fn kept(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(KEPT));
    text
}

/// The text of a tool's result: itself, or that of its parts.
pub(crate) fn text_of(result: &serde_json::Value) -> String {
    use serde_json::Value;
    match result {
        Value::String(text) => kept(text.clone()),
        Value::Array(parts) => kept(parts.iter().map(text_of).collect::<Vec<_>>().join("\n")),
        Value::Object(fields) => {
            let text = ["text", "content", "output"].iter().find_map(|name| fields.get(*name));
            text.map(text_of).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

impl Tool {
    /// The longest `about`, in characters.
    pub(crate) const ABOUT: usize = 200;

    /// A tool call described by its most informative argument.
    pub(crate) fn new(id: String, name: String, input: &serde_json::Value) -> Self {
        const TELLING: [&str; 9] = [
            "command",
            "cmd",
            "file_path",
            "path",
            "pattern",
            "query",
            "url",
            "description",
            "prompt",
        ];
        let about = TELLING.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default();
        let input = if input.is_null() { String::new() } else { kept(input.to_string()) };
        Self { id, name, about: shortened(about), input }
    }
}

/// The first line, shortened if necessary.
pub(crate) fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(Tool::ABOUT).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_described_by_its_most_telling_argument() {
        let about = |input| Tool::new("1".to_owned(), "x".to_owned(), &input).about;
        assert_eq!(about(json!({"description": "why", "command": "make"})), "make");
        assert_eq!(about(json!({"path": "b", "file_path": "a"})), "a");
        assert_eq!(about(json!({"command": ["ls"], "query": "q"})), "q", "a list is no text");
        assert_eq!(about(json!({"other": "x"})), "");
        assert_eq!(about(json!("text")), "");
    }

    #[test]
    fn what_a_tool_showed_is_its_text() {
        assert_eq!(text_of(&json!("a")), "a");
        assert_eq!(text_of(&json!([{"type": "text", "text": "a"}, {"content": "b"}, 3])), "a\nb\n");
        assert_eq!(text_of(&json!(null)), "");
        assert!(text_of(&json!("ü".repeat(2 * KEPT))).len() <= KEPT);
        let tool = Tool::new("1".to_owned(), "x".to_owned(), &json!({"command": "ls"}));
        assert_eq!(tool.input, r#"{"command":"ls"}"#);
    }

    #[test]
    fn descriptions_are_one_bounded_line() {
        assert_eq!(shortened("one\ntwo"), "one");
        assert_eq!(shortened(&"ü".repeat(500)).chars().count(), Tool::ABOUT);
        assert_eq!(shortened(""), "");
    }
}
