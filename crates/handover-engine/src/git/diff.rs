//! What changed between two trees.

use std::collections::BTreeSet;

use super::{GitError, Repo};

/// A file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path from the root of the repository.
    pub path: String,
    /// Its new mode; none if it was deleted.
    pub mode: Option<String>,
    /// Its new blob; none if it was deleted.
    pub blob: Option<String>,
}

impl Change {
    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.mode.as_deref().is_some_and(|mode| mode.starts_with("100"))
    }

    /// Whether it is a nested repository.
    pub fn is_repository(&self) -> bool {
        self.mode.as_deref() == Some("160000")
    }
}

impl Repo {
    /// The files that differ, by path.
    pub fn changes(&self, from: &str, to: &str) -> Result<Vec<Change>, GitError> {
        let raw =
            self.call(["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to]).bytes()?;
        let mut parts = raw.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut changes = Vec::new();
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            // `:100644 100644 <old> <new> M`
            let mut words = head.trim_start_matches(':').split(' ');
            let mode = words.nth(1).unwrap_or_default().to_owned();
            let blob = words.nth(1).unwrap_or_default().to_owned();
            let there = mode != "000000";
            changes.push(Change {
                path: path.into_owned(),
                mode: there.then_some(mode),
                blob: there.then_some(blob),
            });
        }
        Ok(changes)
    }

    /// The changes as a patch of limited size, without some paths.
    pub fn patch(
        &self,
        from: &str,
        to: &str,
        without: &[String],
        cap: u64,
    ) -> Result<String, GitError> {
        let mut call = self.call([
            "diff-tree",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "-M",
            from,
            to,
            "--",
            ".",
        ]);
        for path in without {
            call = call.arg(format!(":(exclude,top,literal){path}"));
        }
        Ok(String::from_utf8_lossy(&call.bytes_up_to(cap)?).into_owned())
    }

    /// The given paths that have a filter by a tree's attributes, with its name.
    pub fn filtered(&self, tree: &str, paths: &[&str]) -> Result<Vec<(String, String)>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let source = format!("--source={tree}");
        let asked = self.call(["check-attr", "--stdin", "-z", &source, "filter"]);
        let answer = asked.input(paths.join("\0") + "\0").bytes()?;
        let mut parts = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut filtered = Vec::new();
        while let (Some(path), Some(_), Some(filter)) = (parts.next(), parts.next(), parts.next()) {
            if !matches!(&*filter, "unspecified" | "unset") {
                filtered.push((path.into_owned(), filter.into_owned()));
            }
        }
        Ok(filtered)
    }

    /// The names of the filters in the attributes of a tree.
    pub fn filters(&self, tree: &str) -> Result<BTreeSet<String>, GitError> {
        let found = self
            .call(["grep", "-h", "-I", "-o", "-E", "[[:space:]]filter=[^[:space:]]+", tree, "--"])
            .arg(":(top,glob)**/.gitattributes")
            .bytes_or(1)?;
        let found = String::from_utf8_lossy(&found).into_owned();
        let names = found.lines().filter_map(|line| line.trim().strip_prefix("filter="));
        Ok(names.map(str::to_owned).collect())
    }

    /// The size of each blob.
    pub fn blob_sizes(&self, blobs: &[&str]) -> Result<Vec<u64>, GitError> {
        let answer = self
            .call(["cat-file", "--batch-check=%(objectsize)"])
            .input(blobs.join("\n"))
            .text()?;
        Ok(answer.lines().map(|line| line.trim().parse().unwrap_or(0)).collect())
    }

    /// The content of a blob.
    pub fn blob(&self, blob: &str) -> Result<Vec<u8>, GitError> {
        self.call(["cat-file", "blob", blob]).bytes()
    }
}
