//! Error patterns.

use serde::{Deserialize, Serialize};

use crate::learn::{Signature, Trust};
use crate::{GroupId, ProjectId, Role, SessionId, Timestamp};

/// An error that the project has met, and what solved it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorPattern {
    /// The project that it belongs to.
    pub project: ProjectId,
    /// Hash of the signature; unique within the project.
    pub hash: String,
    /// What makes two errors the same.
    pub signature: Signature,
    /// What solved it most often; none until it has been solved.
    pub solution: Option<String>,
    /// How far the solution can be trusted.
    pub confidence: Trust,
    /// How often it was seen.
    pub occurrences: u64,
    /// The programming language, if known.
    pub language: Option<String>,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// Days without a sighting after which it is no longer recalled.
    pub ttl_days: u32,
}

/// One sighting of an error, with the circumstances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorIncident {
    /// The pattern that it belongs to.
    pub hash: String,
    /// Where it happened.
    pub session: Option<SessionId>,
    /// In which group.
    pub group: Option<GroupId>,
    /// Who met it.
    pub role: Option<Role>,
    /// The command that failed.
    pub command: Option<String>,
    /// When.
    pub created_at: Timestamp,
}
