//! A note before it is stored: its text is raw, and it has no id, because an id is derived from redacted text.

use handover_model::{InvalidId, NoteId, NoteKind, NoteState, Timestamp, Trust};
use handover_text::cut::{cut, one_line};

/// The longest text of a note.
pub const MAX_TEXT_CHARS: usize = 1_600;

/// The longest title of a note.
const MAX_TITLE_CHARS: usize = 120;

/// A passage that is worth a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Where it comes from.
    pub kind: NoteKind,
    /// The exact place: `docs/auth.md#Tokens > Rotation`, a commit, `claude:<conversation>#<message>`. Never an
    /// absolute path.
    pub origin: String,
    /// The unit that it was read from.
    pub source: String,
    /// A heading, a subject line, or the beginning of the text. Raw.
    pub title: String,
    /// One passage of at most [`MAX_TEXT_CHARS`]. Raw.
    pub text: String,
    /// How far to believe it.
    pub trust: Trust,
    /// The paths that it mentions, or that its commit changed.
    pub paths: Vec<String>,
    /// The symbols that it mentions.
    pub symbols: Vec<String>,
    /// Whether it still counts: a reverted commit is amended.
    pub state: NoteState,
    /// Why it is in this state.
    pub reason: Option<String>,
    /// The time of its source.
    pub created_at: Timestamp,
}

impl Draft {
    /// The same draft, with a title and a text of bounded length.
    pub(crate) fn bounded(mut self) -> Self {
        self.text = cut(self.text.trim(), MAX_TEXT_CHARS);
        self.title = cut(&one_line(&self.title), MAX_TITLE_CHARS);
        self
    }
}

/// The id of a note: the same wherever the same passage of the same place is learned.
///
/// `text` is the redacted text.
pub fn note_id(kind: NoteKind, origin: &str, text: &str) -> Result<NoteId, InvalidId> {
    let mut hash = blake3::Hasher::new();
    for part in [kind.as_str(), origin, text] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let hex = hash.finalize().to_hex();
    NoteId::new(format!("{}-{}", kind.as_str(), &hex[..24]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_follows_kind_origin_and_text() {
        let id = |kind, origin, text| note_id(kind, origin, text).unwrap();
        let first = id(NoteKind::Doc, "README.md", "text");
        assert!(first.as_str().starts_with("doc-"), "{first}");
        assert_eq!(first, id(NoteKind::Doc, "README.md", "text"));
        assert_ne!(first, id(NoteKind::Doc, "README.mdt", "ext"));
        assert_ne!(first, id(NoteKind::Commit, "README.md", "text"));
    }
}
