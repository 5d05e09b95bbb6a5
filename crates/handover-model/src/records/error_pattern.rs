//! Error patterns.

use serde::{Deserialize, Serialize};

use crate::learn::{self, Signature};
use crate::{GroupId, ProjectId, RecordState, Role, SessionId, Timestamp, Trust};

/// An error the project has seen, and its solution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorPattern {
    /// The project that saw it.
    pub project: ProjectId,
    /// The hash of the signature; unique within the project.
    pub hash: String,
    /// The normalized error, by which errors are compared.
    pub signature: Signature,
    /// The error message as last seen.
    #[serde(default)]
    pub example: Option<String>,
    /// The most frequent solution; `None` until it was solved once.
    pub solution: Option<String>,
    /// How far the solution can be trusted.
    pub confidence: learn::Trust,
    /// How many times it was seen.
    pub occurrences: u64,
    /// The programming language, if known.
    pub language: Option<String>,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// Days without a sighting after which it is no longer recalled.
    pub ttl_days: u32,
    /// How far to believe it.
    pub trust: Trust,
    /// Whether it is used.
    #[serde(default)]
    pub state: RecordState,
    /// Why it is retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ErrorPattern {
    /// The error in words a person has seen: the last message, else the signature.
    pub fn said(&self) -> String {
        if let Some(example) = &self.example {
            return example.clone();
        }
        let Signature { kind, message, .. } = &self.signature;
        if kind == "error" { message.clone() } else { format!("{kind}: {message}") }
    }
}

/// One occurrence of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorIncident {
    /// The hash of its pattern.
    pub hash: String,
    /// The session in which it occurred.
    pub session: Option<SessionId>,
    /// The group in which it occurred.
    pub group: Option<GroupId>,
    /// The role that encountered it.
    pub role: Option<Role>,
    /// The command that failed.
    pub command: Option<String>,
    /// When it occurred.
    pub created_at: Timestamp,
}
