//! What the commits of a history changed.

use std::ops::RangeInclusive;

use super::{GitError, Repo};

/// A commit that is no merge, with the files that it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// Its hash.
    pub id: String,
    /// Its parent.
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
        let most = format!("--max-count={most}");
        let args =
            ["log", "--no-merges", "--no-show-signature", "--no-renames", "--name-status", "-z"];
        let format = "--format=%x02%H%x03%P%x03%B%x03";
        let args = args.into_iter().chain([format, &most, "--end-of-options", head, "--"]);
        let bytes = self.call(args).bytes()?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.split('\u{2}').filter_map(past_commit).collect())
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
