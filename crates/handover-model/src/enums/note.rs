//! Notes: what the project already knows, where it comes from, and how far to believe it.

words! {
    /// Where a note comes from.
    NoteKind, "note kind" {
        /// A section of a tracked document.
        Doc => "doc",
        /// A commit message.
        Commit => "commit",
        /// A conversation with an agent program.
        Conversation => "conversation",
        /// The memory of another tool.
        Memory => "memory",
        /// Written by hand.
        Manual => "manual",
    }
}

impl NoteKind {
    /// Whether the text may be private, so it stays on this machine unless `learn.share` opts in.
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Conversation | Self::Memory)
    }

    /// The kind that begins the id of a note that was learned.
    pub fn of_id(id: &crate::NoteId) -> Option<Self> {
        id.as_str().split_once('-')?.0.parse().ok()
    }
}

words! {
    /// Whether a note still counts.
    NoteState, "note state" {
        /// It is used.
        Live => "live",
        /// Its source has changed or is gone.
        Stale => "stale",
        /// A later statement replaced it.
        Amended => "amended",
        /// A person took it out of use.
        Retired => "retired",
    }
}

words! {
    /// Why a later statement counts as the replacement of an earlier one.
    AmendedHow, "replacement" {
        /// A person or an agent said so when it was stored.
        Declared => "declared",
        /// It changes something that the earlier one names.
        NamesOld => "names what it replaces",
        /// It has another value of the same.
        OtherValue => "another value",
        /// It says something else about the same thing.
        Otherwise => "says otherwise",
        /// It is about the same thing, and later. Whether it changes anything is open.
        SameSubject => "the same subject",
    }
}

impl AmendedHow {
    /// Whether the earlier statement is marked where it is shown.
    pub fn is_marked(self) -> bool {
        self != Self::SameSubject
    }
}

words! {
    /// What a person decided about a replacement that was found.
    AmendmentDecision, "decision" {
        /// It is one: the earlier statement no longer counts.
        Confirmed => "confirmed",
        /// It is none: both count.
        Rejected => "rejected",
        /// A decision was undone: the rule counts.
        Open => "open",
    }
}

words! {
    /// Where notes are learned from.
    SourceName, "source" {
        /// Tracked documents.
        Docs => "docs",
        /// The git history.
        Git => "git",
        /// Conversations with agent programs.
        Transcripts => "transcripts",
        /// The memories of other tools.
        Memories => "memories",
    }
}
