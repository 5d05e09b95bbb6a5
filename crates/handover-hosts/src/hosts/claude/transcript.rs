//! Transcripts of Claude Code: each line has the version, and a subagent has its own file.

use std::path::{Path, PathBuf};

use handover_model::AgentId;
use serde_json::Value;

use crate::transcript::{FilePart, TranscriptFormat};

pub(super) struct ClaudeTranscript;

impl TranscriptFormat for ClaudeTranscript {
    fn of_subagent(&self, conversation: &Path, agent: &AgentId) -> Option<PathBuf> {
        Some(conversation.with_extension("").join(format!("subagents/agent-{agent}.jsonl")))
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
