//! Transcripts of Gemini CLI: those of a conversation's subagents are in a folder named after it.

use std::path::{Path, PathBuf};

use handover_model::{AgentId, HostSessionId};
use serde_json::Value;

use crate::transcript::{FilePart, Lineage, Origin, TranscriptFormat};

pub(super) struct GeminiTranscript;

/// What its own kinds put around a task, each on a line by itself.
const TASK_TAGS: [&str; 3] = ["objective", "question", "task"];

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

    fn unwrapped<'a>(&self, text: &'a str) -> Option<&'a str> {
        TASK_TAGS.iter().find_map(|tag| {
            let (_, rest) = text.split_once(&format!("\n<{tag}>\n"))?;
            Some(rest.rsplit_once(&format!("\n</{tag}>"))?.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_task_in_what_a_kind_puts_around_it() {
        let unwrapped = |text| GeminiTranscript.unwrapped(text);
        let text = "Solve the following user objective:\n<objective>\nFind <task>\nit.\n</objective>\nNow.";
        assert_eq!(unwrapped(text), Some("Find <task>\nit."));
        assert_eq!(unwrapped("Your task is:\n<task>\nLook\n</task>\n\nFirst"), Some("Look"));
        assert_eq!(unwrapped("Look around"), None);
    }
}
