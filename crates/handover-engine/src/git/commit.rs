//! Creates commits from trees, and moves branches only if they are where we expect them.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use handover_model::Timestamp;

use super::{GitError, Repo};

/// How long the git of a run that was killed may take to end.
const DYING: Duration = Duration::from_millis(200);

/// A commit to create.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: &'a str,
    /// Its parents.
    pub parents: Vec<String>,
    /// The first line of its message.
    pub subject: String,
    /// `Name: value` lines at the end.
    pub trailers: Vec<(&'static str, String)>,
    /// Its time: that of the intent, so that repeating it creates the same commit.
    pub at: Timestamp,
}

/// An existing commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Its message.
    pub message: String,
    /// Its first parent.
    pub parent: Option<String>,
}

impl Commit {
    /// The value of a trailer.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        self.message.lines().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Repo {
    /// Creates a commit without moving any branch.
    pub fn commit(&self, new: &NewCommit<'_>) -> Result<String, GitError> {
        let mut message = format!("{}\n", one_line(&new.subject));
        if !new.trailers.is_empty() {
            message.push('\n');
        }
        for (name, value) in &new.trailers {
            message.push_str(&format_args!("{name}: {}\n", one_line(value)).to_string());
        }
        let date = format!("{} +0000", new.at.as_micros() / 1_000_000);
        let mut call = self
            .call(["commit-tree", new.tree, "-F", "-"])
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date);
        for parent in &new.parents {
            call = call.arg("-p").arg(parent);
        }
        call.input(message).text()
    }

    /// A commit by name.
    pub fn read_commit(&self, name: &str) -> Result<Commit, GitError> {
        let text =
            self.text(["show", "--no-patch", "--no-show-signature", "--format=%H%n%P%n%B", name])?;
        let mut lines = text.splitn(3, '\n');
        let id = lines.next().unwrap_or_default().to_owned();
        let parent = lines.next().unwrap_or_default().split(' ').next().unwrap_or_default();
        let parent = Some(parent.to_owned()).filter(|parent| !parent.is_empty());
        Ok(Commit { id, parent, message: lines.next().unwrap_or_default().to_owned() })
    }

    /// Moves a ref from its expected commit (none: it must not exist). It may already be at the target.
    pub fn move_ref(&self, name: &str, to: &str, from: Option<&str>) -> Result<(), GitError> {
        let message = ["update-ref", "--create-reflog", "-m", "handover"];
        let update = || self.call(message).arg(name).arg(to).arg(from.unwrap_or_default()).text();
        let moved = self.unlocked(name, update);
        let Err(error @ GitError::Failed { .. }) = moved else { return moved.map(drop) };
        match self.resolve(name)? {
            Some(there) if there == to => Ok(()),
            there if there.as_deref() == from => Err(error),
            _ => Err(GitError::Moved { branch: name.trim_start_matches("refs/heads/").to_owned() }),
        }
    }

    /// Sets one of our refs, whatever it pointed to.
    pub fn set_ref(&self, name: &str, to: &str) -> Result<(), GitError> {
        self.unlocked(name, || self.text(["update-ref", "-m", "handover", name, to])).map(drop)
    }

    /// Updates a ref; once more if one of ours is still locked by a git that died. Nobody else updates them.
    fn unlocked(
        &self,
        name: &str,
        update: impl Fn() -> Result<String, GitError>,
    ) -> Result<String, GitError> {
        let updated = update();
        let lock = self.common.join(format!("{name}.lock"));
        if !matches!(updated, Err(GitError::Failed { .. })) || !is_ours(name) || !lock.exists() {
            return updated;
        }
        // That of a run that was killed just now may still be about to end.
        thread::sleep(DYING);
        let _ = fs_err::remove_file(lock);
        update()
    }

    /// Deletes our refs with this prefix.
    pub fn delete_refs(&self, start: &str) -> Result<(), GitError> {
        let names = self.text(["for-each-ref", "--format=delete %(refname)", start])?;
        if names.is_empty() {
            return Ok(());
        }
        self.call(["update-ref", "--stdin"]).input(format!("{names}\n")).text().map(drop)
    }

    /// The names of all refs but ours.
    pub fn refs(&self) -> Result<BTreeSet<String>, GitError> {
        let names = self.text(["for-each-ref", "--format=%(refname)"])?;
        Ok(names.lines().filter(|name| !is_ours(name)).map(str::to_owned).collect())
    }

    /// Deletes one ref.
    pub fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        self.text(["update-ref", "-m", "handover", "-d", name]).map(drop)
    }

    /// Fast-forwards the user's branch and checkout to a commit. A sparse checkout stays sparse.
    pub fn fast_forward(&self, to: &str) -> Result<(), GitError> {
        let sparse = self.sparse.iter().flat_map(|setting| ["-c", setting]);
        self.text(sparse.chain(["merge", "--ff-only", "--quiet", to])).map(drop)
    }
}

/// Whether only we update a ref.
fn is_ours(name: &str) -> bool {
    name.starts_with("refs/handover/") || name.starts_with("refs/heads/handover/")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
