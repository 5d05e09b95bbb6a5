//! Transcripts of Codex: the version is in the first line.

use serde_json::Value;

use crate::transcript::{FilePart, TranscriptFormat};

pub(super) struct CodexTranscript;

impl TranscriptFormat for CodexTranscript {
    fn message<'a>(&self, line: &'a Value) -> Option<&'a Value> {
        line.get("payload")
    }

    fn version_part(&self) -> FilePart {
        FilePart::Head
    }

    fn version<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.pointer("/payload/cli_version")?.as_str()
    }
}
