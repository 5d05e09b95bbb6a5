//! What goes to other machines and comes from them: refs of our own, through a remote of the user.

use super::{GitError, Repo};

/// Everywhere else nothing of git may reach out. What a repository itself could name stays closed.
const OPEN: [&str; 4] = ["-c", "protocol.allow=always", "-c", "protocol.ext.allow=never"];

impl Repo {
    /// Sends refs (`from:to`), wherever they were.
    pub fn push(&self, remote: &str, refs: &[String]) -> Result<(), GitError> {
        let call = self.call(OPEN.into_iter().chain(["push", "--quiet", "--force", "--", remote]));
        refs.iter().fold(call, |call, name| call.arg(name)).text().map(drop)
    }

    /// Gets refs (`from`, or `from:to`), wherever they were.
    pub fn fetch(&self, remote: &str, refs: &[String]) -> Result<(), GitError> {
        let how = ["fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--", remote];
        let call = self.call(OPEN.into_iter().chain(how));
        refs.iter().fold(call, |call, name| call.arg(name)).text().map(drop)
    }

    /// The refs of a remote that begin so.
    pub fn remote_refs(&self, remote: &str, start: &str) -> Result<Vec<String>, GitError> {
        let listed = self.text(OPEN.into_iter().chain(["ls-remote", "--refs", "--", remote]))?;
        let names = listed.lines().filter_map(|line| line.split('\t').nth(1));
        Ok(names.filter(|name| name.starts_with(start)).map(str::to_owned).collect())
    }

    /// The refs here that begin so.
    pub fn refs(&self, start: &str) -> Result<Vec<String>, GitError> {
        let names = self.text(["for-each-ref", "--format=%(refname)", start])?;
        Ok(names.lines().map(str::to_owned).collect())
    }
}
