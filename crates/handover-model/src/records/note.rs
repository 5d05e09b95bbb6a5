//! Notes.

use serde::{Deserialize, Serialize};

use crate::{NoteId, NoteKind, NoteState, ProjectId, Timestamp, Trust};

/// One passage of what the project already knows. Notes belong to the project and cross sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Derived from origin and content: the same on every machine that learns from the same source.
    pub id: NoteId,
    /// The project that knows it.
    pub project: ProjectId,
    /// Where it comes from.
    pub kind: NoteKind,
    /// The exact place: path and heading, commit, transcript and message, or foreign store and id.
    pub origin: String,
    /// The unit that is learned, replaced and forgotten as a whole: a path, a commit, a transcript, a foreign record.
    pub source: String,
    /// A heading, a subject line, or the beginning of the text.
    pub title: String,
    /// One passage, redacted; at most 1,600 characters.
    pub text: String,
    /// How far to believe it.
    pub trust: Trust,
    /// The paths that it mentions, or that its commit changed.
    pub paths: Vec<String>,
    /// The symbols that it mentions.
    pub symbols: Vec<String>,
    /// Whether it still counts.
    pub state: NoteState,
    /// Why it is in this state.
    pub reason: Option<String>,
    /// The hash of the text.
    pub hash: String,
    /// The time of its source: of the commit, the message, the last change of the document.
    pub created_at: Timestamp,
}

/// What a document says today where a note was learned from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionNow {
    /// What the note says.
    Same,
    /// Something else.
    Changed(String),
    /// Nothing: the section or the whole document is gone.
    Gone,
}
