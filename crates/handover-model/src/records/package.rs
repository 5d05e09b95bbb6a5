//! Context packages.

use serde::{Deserialize, Serialize};

use crate::{
    GroupId, PackageId, PackageKind, Priority, ReceiptId, ReceiptState, RecordState, Role, Scope,
    SessionId, Timestamp, Trust,
};

/// A registered Markdown file that carries knowledge to other roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Unique within a store.
    pub id: PackageId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The group it came from, if any.
    pub group: Option<GroupId>,
    /// Whether only its group or every group receives it.
    pub scope: Scope,
    /// What it contains.
    pub kind: PackageKind,
    /// The path of the file: relative to the project, or absolute in another worktree.
    pub path: String,
    /// The first heading of the file.
    pub title: Option<String>,
    /// At most 400 characters; what other agents see.
    pub summary: String,
    /// Paths it is about.
    pub files: Vec<String>,
    /// The role that wrote it.
    pub producer: Role,
    /// The roles it is for; empty means everyone.
    pub consumers: Vec<Role>,
    /// How important it is.
    pub priority: Priority,
    /// The attempt it came from.
    pub iteration: Option<u32>,
    /// 1, 2, 3 … along a chain of supersession.
    pub version: u32,
    /// The previous version.
    pub supersedes: Option<PackageId>,
    /// The next version; a superseded package is never retrieved.
    pub superseded_by: Option<PackageId>,
    /// Size of the file when it was registered.
    pub size_bytes: u64,
    /// The token cost of reading the file.
    pub tokens: u64,
    /// BLAKE3 of the file's bytes when it was registered.
    pub content_hash: String,
    /// When it was registered.
    pub created_at: Timestamp,
    /// How far to believe it.
    pub trust: Trust,
    /// Whether it is used.
    #[serde(default)]
    pub state: RecordState,
    /// Why it is retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One delivery of a package to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The receipt that records it.
    pub receipt: ReceiptId,
    /// The recipient's group.
    pub group: Option<GroupId>,
    /// The recipient's role.
    pub role: Role,
    /// The recipient's attempt.
    pub iteration: u32,
    /// The delivered version.
    pub version: u32,
    /// The state of the receipt.
    pub state: ReceiptState,
    /// When the agent was observed opening the file.
    pub read_at: Option<Timestamp>,
    /// When the text was passed to the agent program.
    pub delivered_at: Timestamp,
}
