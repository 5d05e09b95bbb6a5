//! Context packages.

use serde::{Deserialize, Serialize};

use crate::{
    GroupId, PackageId, PackageKind, Priority, ReceiptId, ReceiptState, Role, Scope, SessionId,
    Timestamp,
};

/// A Markdown file that carries knowledge to other roles, as registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Unique within a store.
    pub id: PackageId,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The group that it came from, if any.
    pub group: Option<GroupId>,
    /// Whether only its group or every group gets it.
    pub scope: Scope,
    /// What it carries.
    pub kind: PackageKind,
    /// Where the file is: relative to the project, or absolute if it lies in another worktree of it.
    pub path: String,
    /// The first heading of the file.
    pub title: Option<String>,
    /// At most 400 characters; what other agents see.
    pub summary: String,
    /// Paths that it is about.
    pub files: Vec<String>,
    /// Who wrote it.
    pub producer: Role,
    /// Whom it is for; empty means everyone.
    pub consumers: Vec<Role>,
    /// How much it matters.
    pub priority: Priority,
    /// The attempt that it came from.
    pub iteration: Option<u32>,
    /// 1, 2, 3 … along a chain of supersession.
    pub version: u32,
    /// The version before this one.
    pub supersedes: Option<PackageId>,
    /// The version after this one; a package that has one leaves every retrieval.
    pub superseded_by: Option<PackageId>,
    /// Size of the file when it was registered.
    pub size_bytes: u64,
    /// What reading the file costs.
    pub tokens: u64,
    /// BLAKE3 of the file's bytes when it was registered.
    pub content_hash: String,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// One delivery of a package to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The receipt that proves it.
    pub receipt: ReceiptId,
    /// The group of the agent that got it.
    pub group: Option<GroupId>,
    /// Who got it.
    pub role: Role,
    /// In which attempt.
    pub iteration: u32,
    /// Which version.
    pub version: u32,
    /// How far the receipt has come.
    pub state: ReceiptState,
    /// When the agent was seen opening the file.
    pub read_at: Option<Timestamp>,
    /// When the text was handed over.
    pub delivered_at: Timestamp,
}
