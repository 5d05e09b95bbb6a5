//! Commits made of trees, and branches moved only from where they were left.

use std::collections::BTreeSet;

use handover_model::Timestamp;

use super::{GitError, Repo};

/// A commit to be made.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// What it holds.
    pub tree: &'a str,
    /// What it follows.
    pub parents: Vec<String>,
    /// The first line.
    pub subject: String,
    /// `Name: value` lines at the end.
    pub trailers: Vec<(&'static str, String)>,
    /// When it was decided: making it again gives the same commit.
    pub at: Timestamp,
}

/// A commit that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub id: String,
    /// Its message.
    pub message: String,
    /// The commit before it.
    pub parent: Option<String>,
}

impl Commit {
    /// The value of a trailer.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        self.message.lines().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Repo {
    /// Makes a commit; no branch knows it yet.
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

    /// Moves a ref from where it is thought to be (none: not there yet); being there already is fine.
    pub fn move_ref(&self, name: &str, to: &str, from: Option<&str>) -> Result<(), GitError> {
        let message = ["update-ref", "--create-reflog", "-m", "handover"];
        let moved = self.call(message).arg(name).arg(to).arg(from.unwrap_or_default()).text();
        let Err(error @ GitError::Failed { .. }) = moved else { return moved.map(drop) };
        match self.resolve(name)? {
            Some(there) if there == to => Ok(()),
            there if there.as_deref() == from => Err(error),
            _ => Err(GitError::Moved { branch: name.trim_start_matches("refs/heads/").to_owned() }),
        }
    }

    /// Sets a ref of our own, wherever it was.
    pub fn set_ref(&self, name: &str, to: &str) -> Result<(), GitError> {
        self.text(["update-ref", "-m", "handover", name, to]).map(drop)
    }

    /// Deletes the refs of our own that begin so.
    pub fn delete_refs(&self, start: &str) -> Result<(), GitError> {
        let names = self.text(["for-each-ref", "--format=delete %(refname)", start])?;
        if names.is_empty() {
            return Ok(());
        }
        self.call(["update-ref", "--stdin"]).input(format!("{names}\n")).text().map(drop)
    }

    /// All refs but our own, by name.
    pub fn refs(&self) -> Result<BTreeSet<String>, GitError> {
        let names = self.text(["for-each-ref", "--format=%(refname)"])?;
        let is_ours = |name: &&str| {
            name.starts_with("refs/handover/") || name.starts_with("refs/heads/handover/")
        };
        Ok(names.lines().filter(|name| !is_ours(name)).map(str::to_owned).collect())
    }

    /// Deletes one ref.
    pub fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        self.text(["update-ref", "-m", "handover", "-d", name]).map(drop)
    }

    /// Moves the user's branch and checkout forward to a commit; refuses whatever is not a mere step
    /// forward.
    pub fn fast_forward(&self, to: &str) -> Result<(), GitError> {
        self.text(["merge", "--ff-only", "--quiet", to]).map(drop)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
