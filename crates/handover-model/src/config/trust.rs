//! What the user's own file allows the files of projects, and what the user has agreed to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// `[trust]`, which only works in the user's own configuration: limits that no project can exceed, even if it
/// is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustConfig {
    /// The only programs that a project's file may name. Default: any, once it is trusted.
    pub programs: Option<Vec<String>>,
    /// The only stores that a project's file may name: folders, files and URLs. Default: any, once it is
    /// trusted.
    pub stores: Option<Vec<String>>,
    /// The only collectors that a project's file may name. Default: any, once it is trusted.
    pub collectors: Option<Vec<String>>,
}

/// How much of what a checkout's files want the user has agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Everything, whatever it is.
    Everything,
    /// These fingerprints.
    To(BTreeSet<String>),
}

impl Default for Agreement {
    fn default() -> Self {
        Self::To(BTreeSet::new())
    }
}

impl Agreement {
    /// Whether it covers a value of a key, or the text of a file.
    pub fn covers(&self, key: &str, value: &[u8]) -> bool {
        match self {
            Self::Everything => true,
            Self::To(fingerprints) => {
                !fingerprints.is_empty() && fingerprints.contains(&fingerprint(key, value))
            }
        }
    }
}

/// What is stored for a value: it changes if the key or any byte of the value does.
pub fn fingerprint(key: &str, value: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key.as_bytes());
    hasher.update(value);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agreement_covers_exact_values_of_exact_keys() {
        let agreed = Agreement::To([fingerprint("runs.command", b"make")].into());
        assert!(agreed.covers("runs.command", b"make"));
        assert!(!agreed.covers("runs.command", b"make "));
        assert!(!agreed.covers("runs.commandm", b"ake"));
        assert!(!agreed.covers("agents.programs", b"make"));
        assert!(!Agreement::default().covers("runs.command", b"make"));
        assert!(Agreement::Everything.covers("anything", b"at all"));
    }
}
