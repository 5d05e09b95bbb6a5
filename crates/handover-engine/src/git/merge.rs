//! Two lines of work made one, as trees: no checkout is touched.

use super::{GitError, Repo};

/// What two commits make together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The tree; files with conflicts hold both sides with marks between them.
    pub tree: String,
    /// The files with conflicts.
    pub conflicts: Vec<String>,
}

impl Repo {
    /// What two commits make together, with respect to where they parted.
    pub fn merge_trees(&self, ours: &str, theirs: &str) -> Result<Merged, GitError> {
        let args = ["-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree", "-z"];
        let call = self.call(args).arg("--name-only").arg("--no-messages").arg(ours).arg(theirs);
        // 1 means conflicts.
        let answer = call.bytes_or(1)?;
        let mut parts = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let tree = parts.next().unwrap_or_default().trim().to_owned();
        let mut conflicts: Vec<String> =
            parts.map(std::borrow::Cow::into_owned).filter(|path| !path.is_empty()).collect();
        conflicts.dedup();
        Ok(Merged { tree, conflicts })
    }
}
