//! What is stored, where, and for how long.

use serde::{Deserialize, Serialize};

use crate::{ProjectId, RedactionMode};

/// `[project]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectConfig {
    /// The owner of error patterns and strategies. Default: the name of the project's folder.
    pub id: Option<ProjectId>,
}

/// `[store]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoreConfig {
    /// A file path (relative to the project), a `postgres://` URL or the `https://` URL of a service.
    /// Default: inside `.handover/`.
    pub location: Option<String>,
    /// Whether a token may be sent unencrypted to another machine. Only valid in the user's own
    /// configuration.
    pub allow_http: bool,
    /// Services named by projects that the token may be sent to. Only valid in the user's own configuration.
    pub services: Vec<String>,
}

/// `[packages]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackagesConfig {
    /// A larger file is registered with a warning, because agents read packages in full.
    pub warn_bytes: u64,
    /// A larger file is rejected.
    pub max_bytes: u64,
}

impl Default for PackagesConfig {
    fn default() -> Self {
        Self { warn_bytes: 50_000, max_bytes: 5_000_000 }
    }
}

/// `[redaction]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionConfig {
    /// Which detectors run.
    pub mode: RedactionMode,
    /// Exact texts that are never redacted.
    pub allow: Vec<String>,
    /// Rules added to the built-in ones.
    pub rules: Vec<ExtraRule>,
}

/// A redaction rule from the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtraRule {
    /// The rule's name in reports.
    pub name: String,
    /// A regular expression; its first group, or else the whole match, is the secret.
    pub pattern: String,
}

/// `[learning]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearningConfig {
    /// Days without a sighting after which an error pattern is no longer recalled.
    pub ttl_days: u32,
}

/// `[learn]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearnConfig {
    /// Whether notes of conversations and memories go to a shared store, instead of a file of this machine.
    pub share: bool,
    /// Whether documents are learned from.
    pub docs: bool,
    /// Whether the history of the repository is learned from.
    pub git: bool,
    /// Whether the conversations that agent programs keep of this project are learned from.
    pub transcripts: bool,
    /// Whether the memories of other tools are learned from.
    pub memories: bool,
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self { share: false, docs: true, git: true, transcripts: true, memories: true }
    }
}

/// `[forget]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForgetConfig {
    /// Days after which a package, a strategy or a note of a conversation or a memory is retired; 0 is never.
    pub after_days: u32,
    /// Days without a delivery after which they are retired; 0 is never.
    pub unused_days: u32,
    /// Days for which the log of changes and the output of ended agents are kept.
    pub keep_days: u32,
}

impl Default for ForgetConfig {
    fn default() -> Self {
        Self { after_days: 0, unused_days: 0, keep_days: 30 }
    }
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { ttl_days: crate::learn::TTL_DAYS }
    }
}
