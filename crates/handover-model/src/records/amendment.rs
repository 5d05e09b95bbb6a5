//! Replacements: which statement was amended by which, and what a person decided about it.

use serde::{Deserialize, Serialize};

use crate::{AmendedHow, AmendmentDecision, ItemKind, NoteId, NoteKind, ProjectId, Timestamp};

/// A record that says something: a note or a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemRef {
    /// The kind of record.
    pub kind: ItemKind,
    /// The record's id as text.
    pub id: String,
}

impl ItemRef {
    /// The note that it is, if it is one.
    pub fn note(&self) -> Option<NoteId> {
        (self.kind == ItemKind::Note).then(|| NoteId::new(&self.id).ok()).flatten()
    }

    /// Whether it is a private note.
    pub fn is_private(&self) -> bool {
        let kind = self.note().as_ref().and_then(NoteKind::of_id);
        kind.is_some_and(NoteKind::is_private)
    }
}

impl std::fmt::Display for ItemRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}

/// The later statement that replaced an item of a brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmendedBy {
    /// The later statement.
    #[serde(flatten)]
    pub item: ItemRef,
    /// When that was said.
    pub at: Timestamp,
    /// Why it counts as a replacement.
    pub how: AmendedHow,
    /// Whether a person confirmed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirmed: bool,
}

impl std::fmt::Display for AmendedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let date: String = self.at.to_string().chars().take(10).collect();
        let confirmed = if self.confirmed { ", confirmed" } else { "" };
        write!(f, "amended by {} of {date} ({}{confirmed})", self.item, self.how)
    }
}

/// What a person decided about a replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// The project that it belongs to.
    pub project: ProjectId,
    /// The statement that may have been replaced.
    pub earlier: ItemRef,
    /// The statement that may have replaced it.
    pub later: ItemRef,
    /// Whether it did.
    pub decision: AmendmentDecision,
    /// When that was decided.
    pub decided_at: Timestamp,
}
