//! Transcripts of Gemini CLI: those of a conversation's subagents are in a folder named after it.

use std::path::{Path, PathBuf};

use handover_model::{AgentId, HostSessionId};
use serde_json::Value;

use crate::transcript::{FilePart, Lineage, Origin, TranscriptFormat};

pub(super) struct GeminiTranscript;

impl TranscriptFormat for GeminiTranscript {
    fn folder_of_subagents(&self, transcript: &Path, id: &HostSessionId) -> Option<PathBuf> {
        Some(transcript.parent()?.join(id.as_str()))
    }

    fn conversation(&self, first: &Value) -> Option<HostSessionId> {
        HostSessionId::new(first.get("sessionId")?.as_str()?).ok()
    }

    /// Nothing in the file says what kind of subagent it is, and which call started it.
    fn lineage(&self, file: &Path, first: &Value) -> Option<Lineage> {
        (first["kind"] == "subagent").then_some(())?;
        Some(Lineage {
            conversation: HostSessionId::new(file.parent()?.file_name()?.to_str()?).ok()?,
            agent: AgentId::new(first["sessionId"].as_str()?).ok()?,
            origin: Origin::default(),
        })
    }

    /// What a subagent said is the result of its tool.
    fn message<'a>(&self, _line: &'a Value) -> Option<&'a Value> {
        None
    }

    fn version_part(&self) -> FilePart {
        FilePart::Head
    }

    /// It is not recorded.
    fn version<'a>(&self, _line: &'a Value) -> Option<&'a str> {
        None
    }
}
