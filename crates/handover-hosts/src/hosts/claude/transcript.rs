//! Transcripts of Claude Code: each line has the version, and a subagent has its own file.

use std::path::{Path, PathBuf};

use handover_model::{AgentId, HostSessionId, ToolUseId};
use serde_json::Value;

use crate::transcript::{FilePart, Origin, TranscriptFormat, agent_file, described_origin};

pub(super) struct ClaudeTranscript;

/// What it starts agents for by itself. Their ids are `a<chore>-<16 hexadecimal digits>`; those of named subagents
/// look the same, but have a file about their origin.
const CHORES: [&str; 10] = [
    "agent_summary",
    "auto_dream",
    "away_summary",
    "compact",
    "extract_memories",
    "prompt_suggestion",
    "rename",
    "session_memory",
    "side_question",
    "speculation",
];

impl TranscriptFormat for ClaudeTranscript {
    fn of_subagent(&self, conversation: &Path, agent: &AgentId) -> Option<PathBuf> {
        Some(conversation.with_extension("").join(format!("subagents/agent-{agent}.jsonl")))
    }

    fn of_subagents(&self, conversation: &Path) -> Option<PathBuf> {
        Some(conversation.with_extension("").join("subagents"))
    }

    fn sibling(&self, conversation: &Path, other: &HostSessionId) -> Option<PathBuf> {
        Some(conversation.with_file_name(format!("{other}.jsonl")))
    }

    fn subagent(&self, file: &Path) -> Option<(AgentId, PathBuf)> {
        agent_file(file)
    }

    fn origin_file(&self, transcript: &Path) -> Option<PathBuf> {
        Some(transcript.with_extension("meta.json"))
    }

    fn origin(&self, text: &str) -> Option<Origin> {
        described_origin(text)
    }

    fn undescribed_origin(&self, agent: &AgentId) -> Origin {
        let chore = agent.as_str().strip_prefix('a').and_then(|rest| rest.rsplit_once('-'));
        let chore = chore.filter(|(_, digits)| digits.len() == 16).map(|(chore, _)| chore);
        let chore = chore.filter(|chore| CHORES.contains(chore)).map(ToOwned::to_owned);
        Origin { chore, ..Origin::default() }
    }

    fn results(&self, line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        let blocks = blocks(line).filter(|block| block["type"] == "tool_result");
        let result = |block: &Value| {
            let error = (block["is_error"] == true).then(|| text_of(&block["content"]));
            Some((ToolUseId::new(block["tool_use_id"].as_str()?).ok()?, error))
        };
        blocks.filter_map(result).collect()
    }

    fn spawns(&self, line: &Value) -> Vec<(ToolUseId, String)> {
        let blocks = blocks(line).filter(|block| block["type"] == "tool_use");
        let spawn = |block: &Value| {
            if !matches!(block["name"].as_str()?, "Agent" | "Task") {
                return None;
            }
            let kind = block["input"]["subagent_type"].as_str().unwrap_or("general-purpose");
            Some((ToolUseId::new(block["id"].as_str()?).ok()?, kind.to_owned()))
        };
        blocks.filter_map(spawn).collect()
    }

    /// A teammate gets its task in a message.
    fn unwrapped<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (_, inner) = text.strip_prefix("<teammate-message ")?.split_once('>')?;
        inner.trim_end().strip_suffix("</teammate-message>")
    }

    fn message<'a>(&self, line: &'a Value) -> Option<&'a Value> {
        line.get("message")
    }

    /// A conversation may be continued by a newer version, so the last line counts.
    fn version_part(&self) -> FilePart {
        FilePart::Tail
    }

    fn version<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.get("version")?.as_str()
    }
}

/// The content blocks of the message in a line.
fn blocks(line: &Value) -> impl Iterator<Item = &Value> {
    line["message"]["content"].as_array().into_iter().flatten()
}

/// The text of a result: a text, or blocks of it.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_nobody_asked_for_says_so_in_its_id() {
        let chore =
            |id: &str| ClaudeTranscript.undescribed_origin(&AgentId::new(id).unwrap()).chore;
        assert_eq!(chore("acompact-0123456789abcdef").as_deref(), Some("compact"));
        let suggested = chore("aprompt_suggestion-0123456789abcdef");
        assert_eq!(suggested.as_deref(), Some("prompt_suggestion"));
        for other in ["a0123456789abcdef", "atests-0123456789abcdef", "acompact-1", "acompact"] {
            assert_eq!(chore(other), None, "{other}");
        }
    }
}
