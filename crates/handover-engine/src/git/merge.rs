//! Merges commits as trees, without a checkout.

use super::{GitError, Repo};

/// The merge of two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merged tree, with conflict markers in files with conflicts.
    pub tree: String,
    /// The files with conflicts.
    pub conflicts: Vec<String>,
}

impl Repo {
    /// Merges two commits with their common ancestor as the base.
    pub fn merge_trees(&self, ours: &str, theirs: &str) -> Result<Merged, GitError> {
        let args = ["-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z"];
        let call = self.call(args).arg("--name-only").arg("--no-messages").arg(ours).arg(theirs);
        // Exit code 1 means conflicts.
        let answer = call.bytes_or(1)?;
        let mut parts = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let tree = parts.next().unwrap_or_default().trim().to_owned();
        let mut conflicts: Vec<String> =
            parts.map(std::borrow::Cow::into_owned).filter(|path| !path.is_empty()).collect();
        conflicts.dedup();
        Ok(Merged { tree, conflicts })
    }
}
