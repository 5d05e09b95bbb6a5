//! Joins several commits into one.

use handover_model::Timestamp;

use super::{GitError, NewCommit, Repo};

impl Repo {
    /// A commit that descends from all of these: one of them if possible, else a merge. Idempotent.
    pub fn joined(
        &self,
        commits: &[String],
        what: &str,
        at: Timestamp,
    ) -> Result<Option<String>, GitError> {
        let mut heads: Vec<String> = Vec::new();
        for commit in commits {
            let mut is_in = false;
            for head in &heads {
                is_in |= self.is_ancestor(commit, head)?;
            }
            if is_in {
                continue;
            }
            let mut left = Vec::new();
            for head in heads {
                if !self.is_ancestor(&head, commit)? {
                    left.push(head);
                }
            }
            left.push(commit.clone());
            heads = left;
        }
        let mut heads = heads.into_iter();
        let Some(mut joined) = heads.next() else { return Ok(None) };
        for head in heads {
            let merged = self.try_text([
                "merge-tree",
                "--write-tree",
                "--no-messages",
                "--allow-unrelated-histories",
                &joined,
                &head,
            ])?;
            let Some(tree) = merged else {
                return Err(GitError::Conflict { one: joined, other: head });
            };
            joined = self.commit(&NewCommit {
                tree: tree.lines().next().unwrap_or_default(),
                parents: vec![joined, head],
                subject: format!("merge: dependencies of {what}"),
                trailers: Vec::new(),
                at,
            })?;
        }
        Ok(Some(joined))
    }
}
