//! What the commits of a history changed.

use std::ops::RangeInclusive;

use super::{GitError, Repo};

/// A commit with the files that it changed; a merge with those that it brought to its first parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// Its hash.
    pub id: String,
    /// Its first parent.
    pub parent: String,
    /// Its message.
    pub message: String,
    /// Files that it added or changed.
    pub files: Vec<String>,
    /// Files that it removed.
    pub removed: Vec<String>,
}

impl Repo {
    /// The last commits before and at `head` that are no merges, newest first.
    pub fn history(&self, head: &str, most: usize) -> Result<Vec<PastCommit>, GitError> {
        self.log(&["--no-merges"], head, most)
    }

    /// The last merges on the line of first parents that leads to `head`, newest first.
    pub fn merges(&self, head: &str, most: usize) -> Result<Vec<PastCommit>, GitError> {
        self.log(&["--merges", "--first-parent", "-m"], head, most)
    }

    fn log(&self, which: &[&str], head: &str, most: usize) -> Result<Vec<PastCommit>, GitError> {
        let most = format!("--max-count={most}");
        let args = ["log", "--no-show-signature", "--no-renames", "--name-status", "-z"];
        let format = "--format=%x02%H%x03%P%x03%B%x03";
        let args = args.into_iter().chain(which.iter().copied());
        let args = args.chain([format, &most, "--end-of-options", head, "--"]);
        let bytes = self.call(args).bytes()?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.split('\u{2}').filter_map(past_commit).collect())
    }

    /// The commits that `to` has and `from` has not.
    pub fn commits_between(&self, from: &str, to: &str) -> Result<Vec<String>, GitError> {
        let range = format!("{from}..{to}");
        let text = self.call(["rev-list", "--end-of-options", &range, "--"]).text()?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The files of a commit that contain a text.
    pub fn files_with(&self, commit: &str, text: &str) -> Result<Vec<String>, GitError> {
        let args = ["grep", "--fixed-strings", "--name-only", "-I", "-z", "-e", text, commit, "--"];
        // It exits with 1 if there is none.
        let bytes = self.call(args).bytes_or(1)?;
        let all = String::from_utf8_lossy(&bytes);
        let start = format!("{commit}:");
        Ok(all
            .split('\0')
            .filter_map(|name| name.strip_prefix(&start))
            .map(str::to_owned)
            .collect())
    }

    /// Whether a file of a commit has a word.
    pub fn has_word(&self, commit: &str, word: &str) -> Result<bool, GitError> {
        let args = [
            "grep",
            "--fixed-strings",
            "--word-regexp",
            "--name-only",
            "-I",
            "-e",
            word,
            commit,
            "--",
        ];
        Ok(!self.call(args).bytes_or(1)?.is_empty())
    }

    /// The lines of a file that one commit has and another had not, from 1.
    pub fn added_lines(
        &self,
        from: &str,
        to: &str,
        path: &str,
    ) -> Result<Vec<RangeInclusive<usize>>, GitError> {
        let args = [
            "diff",
            "-U0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            from,
            to,
            "--",
        ];
        let call = self.call(args).env("GIT_LITERAL_PATHSPECS", "1").arg(path);
        let bytes = call.bytes()?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().filter_map(added).collect())
    }
}

/// Reads one commit: hash, parents and message, then pairs of a status and a path.
fn past_commit(text: &str) -> Option<PastCommit> {
    let mut parts = text.splitn(4, '\u{3}');
    let (id, parents, message) = (parts.next()?, parts.next()?, parts.next()?);
    // A first commit has no state to start from.
    let parent = parents.split(' ').next().filter(|parent| !parent.is_empty())?;
    let (mut files, mut removed) = (Vec::new(), Vec::new());
    let mut changes = parts.next()?.split('\0').map(|part| part.trim_matches('\n'));
    let mut changes = changes.by_ref().filter(|part| !part.is_empty());
    while let (Some(status), Some(path)) = (changes.next(), changes.next()) {
        match status {
            "D" => removed.push(path.to_owned()),
            _ => files.push(path.to_owned()),
        }
    }
    let (id, parent, message) = (id.to_owned(), parent.to_owned(), message.trim_end().to_owned());
    Some(PastCommit { id, parent, message, files, removed })
}

/// The new lines of `@@ -1,2 +3,4 @@`.
fn added(line: &str) -> Option<RangeInclusive<usize>> {
    let new = line.strip_prefix("@@ -")?.split(" +").nth(1)?.split(' ').next()?;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
    (count > 0).then(|| start..=start + count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_without_new_lines_add_nothing() {
        assert_eq!(added("@@ -3 +3 @@ fn x"), Some(3..=3));
        assert_eq!(added("@@ -3,2 +2,0 @@"), None);
        assert_eq!(added("+added"), None);
    }
}
