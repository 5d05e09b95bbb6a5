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
    /// Whether it did not exist before.
    pub is_new: bool,
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
            let is_new = words.next() == Some("000000");
            let mode = words.next().unwrap_or_default().to_owned();
            let blob = words.nth(1).unwrap_or_default().to_owned();
            let there = mode != "000000";
            changes.push(Change {
                path: path.into_owned(),
                mode: there.then_some(mode),
                blob: there.then_some(blob),
                is_new,
            });
        }
        Ok(changes)
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

    /// The paths of all submodules in a tree.
    pub fn submodules(&self, tree: &str) -> Result<Vec<String>, GitError> {
        // Without this file there are none, and large trees need not be listed.
        if self.call(["cat-file", "-e", &format!("{tree}:.gitmodules")]).text().is_err() {
            return Ok(Vec::new());
        }
        self.listed(tree, "160000 ")
    }

    /// The paths of all regular files in a tree.
    pub fn files(&self, tree: &str) -> Result<Vec<String>, GitError> {
        self.listed(tree, "100")
    }

    /// The paths of everything in a tree whose mode begins like this.
    fn listed(&self, tree: &str, mode: &str) -> Result<Vec<String>, GitError> {
        let all = self.call(["ls-tree", "-r", "-z", "--full-tree", tree]).bytes()?;
        let entries = all.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let path = |entry: std::borrow::Cow<'_, str>| {
            let (head, path) = entry.split_once('\t')?;
            head.starts_with(mode).then(|| path.to_owned())
        };
        Ok(entries.filter_map(path).collect())
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
