//! Commits as git prints them: message, changed files, renames and deletions.

use handover_text::{Redactor, words};

use crate::reverts::{Target, targets};
use crate::{Git, GitError};

/// At most so many commits are known, the newest.
pub(super) const MAX_COMMITS: usize = 20_000;
/// A commit with more files says nothing about any of them.
const MAX_FILES: usize = 60;
/// The first commit brings in what there is: with more files than this, its message is about none of them.
const MAX_FIRST_FILES: usize = 3;
/// The most deletions of one commit that are known.
const MAX_DELETIONS: usize = 20_000;
/// How much of a message counts.
const MAX_MESSAGE: usize = 3_000;
const MAX_SUBJECT: usize = 160;

/// Names of trailers, whose lines say nothing about the work.
const TRAILERS: &[&str] = &[
    "signed-off-by:",
    "co-authored-by:",
    "reviewed-by:",
    "acked-by:",
    "tested-by:",
    "cc:",
    "change-id:",
    "git-svn-id:",
    "(cherry picked from",
    "reported-by:",
    "suggested-by:",
    "pr-url:",
    "reviewed-on:",
];

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Commit {
    pub(super) id: [u8; 20],
    /// Seconds since 1970.
    pub(super) time: u32,
    /// It has no parents, or none that are known here.
    pub(super) is_first: bool,
    pub(super) message: String,
    /// What it changed, by the names after it; none if that is too much to mean anything.
    pub(super) paths: Vec<String>,
    /// Former and new names.
    pub(super) renames: Vec<(String, String)>,
    /// What it deleted.
    pub(super) deletions: Vec<String>,
}

impl Commit {
    pub(super) fn subject(&self) -> String {
        let line = self.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim().chars().filter(|c| !c.is_control()).take(MAX_SUBJECT).collect()
    }

    /// The commit without the secrets of its message, and without paths that have one.
    pub(super) fn redacted(mut self, redactor: &Redactor) -> Self {
        let has_none = |path: &String| redactor.find(path).is_empty();
        self.message = redactor.clean(&self.message).as_str().to_owned();
        self.paths.retain(has_none);
        self.renames.retain(|(from, to)| has_none(from) && has_none(to));
        self.deletions.retain(has_none);
        self
    }

    /// The commits that it takes back.
    pub(super) fn reverts(&self) -> Vec<Target> {
        targets(&self.message)
    }

    /// The terms of the message: those of the subject, and all of them.
    pub(super) fn terms(&self) -> (Vec<String>, Vec<String>) {
        let text = without_trailers(&self.message);
        let mut end = text.len().min(MAX_MESSAGE);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        (words::terms(&self.subject()), words::terms(&text[..end]))
    }
}

/// A message without the lines at its end that tools add.
pub(super) fn without_trailers(message: &str) -> String {
    let is_trailer = |line: &&str| {
        let line = line.trim_start().to_ascii_lowercase();
        TRAILERS.iter().any(|trailer| line.starts_with(trailer))
    };
    message.lines().filter(|line| !is_trailer(line)).collect::<Vec<_>>().join("\n")
}

/// Twenty bytes of an id in hexadecimal digits.
pub(super) fn id(text: &[u8]) -> Option<[u8; 20]> {
    let mut id = [0; 20];
    for (byte, pair) in id.iter_mut().zip(text.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    (text.len() >= 40).then_some(id)
}

/// Reads commits, newest first, until `each` returns false. `range` are arguments of `git log`.
pub(super) fn read(
    git: &Git,
    range: &[&str],
    stop: &(dyn Fn() -> bool + Sync),
    each: &mut dyn FnMut(Commit) -> bool,
) -> Result<(), GitError> {
    let mut args = vec![
        "log",
        "-z",
        "--no-merges",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-show-signature",
        "-M",
        "-l200",
        "--name-status",
        "--encoding=UTF-8",
        "--format=%x01%H%x00%ct %P%x00%B",
    ];
    if !git.prefix().is_empty() {
        args.push("--relative");
    }
    args.extend_from_slice(range);
    let mut fields = Fields::default();
    git.records(&args, &[], 0, stop, &mut |field| fields.push(field).is_none_or(&mut *each))?;
    if let Some(last) = fields.commit.take() {
        each(last);
    }
    Ok(())
}

/// Puts the fields of `git log -z` together.
#[derive(Default)]
struct Fields {
    commit: Option<Commit>,
    next: Next,
}

#[derive(Default)]
enum Next {
    #[default]
    Commit,
    Time,
    Message,
    /// A status, or the next commit.
    Status,
    Path {
        deleted: bool,
    },
    /// The name before and the name after.
    From(bool),
    To {
        from: String,
        renamed: bool,
    },
}

impl Fields {
    /// Takes a field; returns the commit before if a new one starts.
    fn push(&mut self, field: &[u8]) -> Option<Commit> {
        if let (Next::Commit | Next::Status, [1, hash @ ..]) = (&self.next, field)
            && let Some(id) = id(hash)
        {
            self.next = Next::Time;
            return self.commit.replace(Commit { id, ..Commit::default() });
        }
        let commit = self.commit.as_mut()?;
        let text = || String::from_utf8_lossy(field).into_owned();
        self.next = match std::mem::take(&mut self.next) {
            Next::Commit => Next::Commit,
            Next::Time => {
                let text = text();
                let (time, parents) = text.split_once(' ').unwrap_or((&text, ""));
                commit.time = time.parse().unwrap_or(0);
                commit.is_first = parents.is_empty();
                Next::Message
            }
            Next::Message => {
                commit.message = text();
                Next::Status
            }
            Next::Status => match field.trim_ascii_start().first() {
                Some(b'R') => Next::From(true),
                Some(b'C') => Next::From(false),
                Some(status) => Next::Path { deleted: *status == b'D' },
                None => Next::Status,
            },
            Next::Path { deleted } => {
                let path = text();
                if deleted && commit.deletions.len() < MAX_DELETIONS {
                    commit.deletions.push(path.clone());
                }
                add(&mut commit.paths, path);
                Next::Status
            }
            Next::From(renamed) => Next::To { from: text(), renamed },
            Next::To { from, renamed } => {
                let to = text();
                if renamed {
                    commit.renames.push((from, to.clone()));
                }
                add(&mut commit.paths, to);
                Next::Status
            }
        };
        None
    }
}

fn add(paths: &mut Vec<String>, path: String) {
    // One above the limit says that it was exceeded; the caller drops them all.
    if paths.len() <= MAX_FILES {
        paths.push(path);
    }
}

impl Commit {
    /// Whether it changed few enough files to say something about them.
    pub(super) fn is_telling(&self) -> bool {
        let most = if self.is_first { MAX_FIRST_FILES } else { MAX_FILES };
        self.paths.len() <= most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Repository;

    fn all(repository: &Repository, range: &[&str]) -> Vec<Commit> {
        let mut commits = Vec::new();
        let keep = &mut |commit| {
            commits.push(commit);
            true
        };
        read(&repository.open(), range, &|| false, keep).unwrap();
        commits
    }

    #[test]
    fn reads_messages_files_and_renames() {
        let repository = Repository::new();
        let text = "fn long_enough() {}\n".repeat(20);
        repository.commit(
            "a b.rs",
            &text,
            "First\n\nBody line.\n\nSigned-off-by: X <x@example.com>",
        );
        repository.git(&["mv", "a b.rs", "ä.rs"]);
        repository.commit("new\n.rs", "1", "Second");
        repository.git(&["commit", "-q", "--allow-empty", "-m", "Empty"]);
        let commits = all(&repository, &["HEAD"]);
        let seen: Vec<_> = commits.iter().map(|c| (c.subject(), c.paths.clone())).collect();
        let text = |s: &str| s.to_owned();
        assert_eq!(
            seen,
            [
                (text("Empty"), vec![]),
                (text("Second"), vec![text("new\n.rs"), text("ä.rs")]),
                (text("First"), vec![text("a b.rs")]),
            ]
        );
        assert_eq!(commits[1].renames, [(text("a b.rs"), text("ä.rs"))]);
        assert_eq!(commits[2].terms().1, ["first", "bodi", "line"]);
        assert!(commits[0].time > 1_700_000_000);
        assert_eq!(all(&repository, &["HEAD", "--skip=1", "--max-count=1"]).len(), 1);
    }

    #[test]
    fn a_commit_of_very_many_files_is_cut() {
        let repository = Repository::new();
        for n in 0..90 {
            repository.write(&format!("{n}.txt"), "x");
        }
        repository.commit("last.txt", "x", "Everything");
        repository.commit("last.txt", "y", "The last one");
        for n in 0..4 {
            repository.write(&format!("{n}.txt"), "y");
        }
        repository.commit("last.txt", "z", "A few");
        let telling: Vec<bool> =
            all(&repository, &["HEAD"]).iter().map(Commit::is_telling).collect();
        assert_eq!(telling, [true, true, false]);
    }

    /// It is about the project, not about any of them.
    #[test]
    fn the_first_commit_tells_of_few_files_only() {
        let repository = Repository::new();
        for n in 0..4 {
            repository.write(&format!("{n}.txt"), "x");
        }
        repository.commit("last.txt", "x", "Shop: api and web");
        let [first] = all(&repository, &["HEAD"]).try_into().unwrap();
        assert!(first.is_first && !first.is_telling());
        assert!(Commit { is_first: false, ..first }.is_telling());
    }

    proptest! {
        #[test]
        fn any_fields_are_survived(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20)) {
            let mut reader = Fields::default();
            for field in &fields {
                let _ = reader.push(field);
            }
            for field in &fields {
                let _ = reader.push(&[&[1], &[b'a'; 40][..]].concat());
                let _ = reader.push(field);
            }
        }
    }
}
