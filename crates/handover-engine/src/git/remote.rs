//! Pushes and fetches our own refs through one of the user's remotes.

use super::command::Call;
use super::{GitError, Repo};

/// The protocols that these calls may use; all other calls may use none.
const PROTOCOLS: (&str, &str) = ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");

impl Repo {
    /// Force-pushes refs (`from:to`).
    pub fn push(&self, remote: &str, refs: &[String]) -> Result<(), GitError> {
        let call = self.reach(&["push", "--quiet", "--force", "--", remote]);
        refs.iter().fold(call, |call, name| call.arg(name)).text().map(drop)
    }

    /// Force-fetches refs (`from` or `from:to`).
    pub fn fetch(&self, remote: &str, refs: &[String]) -> Result<(), GitError> {
        let how =
            ["fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--", remote];
        let call = self.reach(&how);
        refs.iter().fold(call, |call, name| call.arg(name)).text().map(drop)
    }

    /// The refs of a remote with this prefix.
    pub fn remote_refs(&self, remote: &str, start: &str) -> Result<Vec<String>, GitError> {
        let listed = self.reach(&["ls-remote", "--refs", "--", remote]).text()?;
        let names = listed.lines().filter_map(|line| line.split('\t').nth(1));
        Ok(names.filter(|name| name.starts_with(start)).map(str::to_owned).collect())
    }

    fn reach(&self, args: &[&str]) -> Call {
        let call = self.call(args).env(PROTOCOLS.0, PROTOCOLS.1);
        self.transport.iter().fold(call, |call, (name, value)| call.env(name, value))
    }

    /// The local refs with this prefix.
    pub fn refs_below(&self, start: &str) -> Result<Vec<String>, GitError> {
        let names = self.text(["for-each-ref", "--format=%(refname)", start])?;
        Ok(names.lines().map(str::to_owned).collect())
    }
}
