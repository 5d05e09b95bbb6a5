//! The operation log: what was changed by hand, and what it was before, so that it can be undone.
//!
//! It holds states and the reasons for them, never the text of a record: purging a note or a session must
//! leave nothing of it behind.

use serde::{Deserialize, Serialize};

use crate::{
    Action, AmendmentDecision, ItemRef, NoteId, NoteKind, NoteState, OperationId, PackageId,
    ProjectId, RecordState, SessionId, SessionStatus, Timestamp, Trust,
};

/// One thing that somebody did by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Sorts by the time of its creation.
    pub id: OperationId,
    /// The project whose records it changed.
    pub project: ProjectId,
    /// The session that its records belong to, if it is one.
    pub session: Option<SessionId>,
    /// What was done.
    pub action: Action,
    /// What it changed.
    pub changes: Vec<Edit>,
    /// The operation that it undid.
    pub undoes: Option<OperationId>,
    /// Who did it.
    pub trust: Trust,
    /// Through what, and with whose token, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The time of the change.
    pub created_at: Timestamp,
}

/// The state of a record, and why it has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Standing<S> {
    /// The state.
    pub state: S,
    /// The reason that was given, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether a session is open, and since when it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStanding {
    /// The status.
    pub status: SessionStatus,
    /// When it was closed; in microseconds, so that undoing restores it exactly.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "micros")]
    pub ended_at: Option<Timestamp>,
}

impl SessionStanding {
    /// Whether both are the same. Times that have crossed a network have lost their microseconds.
    pub fn matches(&self, other: &Self) -> bool {
        let millis = |time: Option<Timestamp>| time.map(|time| time.as_micros().div_euclid(1_000));
        self.status == other.status && millis(self.ended_at) == millis(other.ended_at)
    }
}

/// A time as its number of microseconds.
mod micros {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::Timestamp;

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(Timestamp::as_micros).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Timestamp::from_micros))
    }
}

/// The change of one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Edit {
    /// The state of a package.
    Package {
        /// The package.
        id: PackageId,
        /// What `undo` restores.
        before: Standing<RecordState>,
        /// What it must still be, so that it can be undone.
        after: Standing<RecordState>,
    },
    /// The state of a note.
    Note {
        /// The note.
        id: NoteId,
        /// What `undo` restores.
        before: Standing<NoteState>,
        /// What it must still be, so that it can be undone.
        after: Standing<NoteState>,
    },
    /// The state of a strategy.
    Strategy {
        /// The strategy.
        id: String,
        /// What `undo` restores.
        before: Standing<RecordState>,
        /// What it must still be, so that it can be undone.
        after: Standing<RecordState>,
    },
    /// The state of an error pattern.
    Error {
        /// The hash of its signature.
        id: String,
        /// What `undo` restores.
        before: Standing<RecordState>,
        /// What it must still be, so that it can be undone.
        after: Standing<RecordState>,
    },
    /// The status of a session.
    Session {
        /// The session.
        id: SessionId,
        /// What `undo` restores.
        before: SessionStanding,
        /// What it must still be, so that it can be undone.
        after: SessionStanding,
    },
    /// A decision about a replacement.
    Decision {
        /// The statement that may have been replaced.
        earlier: ItemRef,
        /// The statement that may have replaced it.
        later: ItemRef,
        /// What `undo` restores.
        before: AmendmentDecision,
        /// What it must still be, so that it can be undone.
        after: AmendmentDecision,
    },
    /// A new version of a package.
    Version {
        /// The new version.
        id: PackageId,
        /// The version that it replaced.
        former: PackageId,
    },
}

impl Edit {
    /// The record's name in messages.
    pub fn subject(&self) -> String {
        match self {
            Self::Package { id, .. } | Self::Version { id, .. } => format!("package {id}"),
            Self::Note { id, .. } => format!("note {id}"),
            Self::Strategy { id, .. } => format!("strategy {id}"),
            Self::Error { id, .. } => format!("error {id}"),
            Self::Session { id, .. } => format!("session {id}"),
            Self::Decision { earlier, .. } => format!("{earlier}"),
        }
    }

    /// Whether both are about the same record.
    pub fn touches(&self, other: &Self) -> bool {
        let versions = |edit: &Self| match edit {
            Self::Version { id, former } => [Some(*id), Some(*former)],
            Self::Package { id, .. } => [Some(*id), None],
            Self::Note { .. }
            | Self::Strategy { .. }
            | Self::Error { .. }
            | Self::Session { .. }
            | Self::Decision { .. } => [None, None],
        };
        let mut mine = versions(self).into_iter().flatten().peekable();
        if mine.peek().is_some() {
            let theirs = versions(other);
            return mine.any(|id| theirs.contains(&Some(id)));
        }
        self.subject() == other.subject()
    }

    /// The notes that it is about.
    pub fn notes(&self) -> Vec<NoteId> {
        match self {
            Self::Note { id, .. } => vec![id.clone()],
            Self::Decision { earlier, later, .. } => {
                [earlier, later].into_iter().filter_map(ItemRef::note).collect()
            }
            Self::Package { .. }
            | Self::Strategy { .. }
            | Self::Error { .. }
            | Self::Session { .. }
            | Self::Version { .. } => Vec::new(),
        }
    }

    /// Whether it is about a note whose id says that it is private.
    pub fn is_private(&self) -> bool {
        let private = |id: &NoteId| NoteKind::of_id(id).is_some_and(NoteKind::is_private);
        self.notes().iter().any(private)
    }
}
