//! What git says became of files, symbols and commits.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::eval::places::{git, is_source};

/// Commits whose patches are compared.
const PATCHES: &str = "--max-count=8000";

/// What a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A file that was renamed.
    Rename,
    /// A file that was deleted.
    Deletion,
    /// A file that is still there, or never was.
    Other,
    /// A commit, reverted or not.
    Commit,
    /// A symbol, gone or not.
    Symbol,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rename => "renamed files",
            Self::Deletion => "deleted files",
            Self::Other => "other files",
            Self::Commit => "commits",
            Self::Symbol => "symbols",
        })
    }
}

/// What became of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    Renamed(String),
    Gone,
    /// By the commit with these first digits.
    Reverted(String),
}

/// A name and what must be said of it.
#[derive(Debug)]
pub struct Case {
    pub kind: Kind,
    pub name: String,
    pub became: Option<Became>,
}

impl Case {
    /// What an agent may have written.
    pub fn text(&self) -> String {
        let name = &self.name;
        match self.kind {
            Kind::Commit => format!("The timeout was raised in {name}, see there why."),
            Kind::Symbol => format!("Callers must not hold the lock while `{name}` runs."),
            Kind::Rename | Kind::Deletion | Kind::Other => {
                format!("The timeout is set in {name}, after the retry.")
            }
        }
    }
}

/// Every so many of a list, so that about `most` are left.
fn some<T>(all: Vec<T>, most: usize) -> impl Iterator<Item = T> {
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step)
}

fn tree(root: &Path, commit: &str) -> Result<BTreeSet<String>> {
    let listed = git(root, &["ls-tree", "-r", "-z", "--name-only", commit])?;
    Ok(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Files of one commit and what became of them at another: every change along the first parents, with renames found
/// without a limit.
pub fn files(root: &Path, then: &str, now: &str, most: usize) -> Result<Vec<Case>> {
    let (before, after) = (tree(root, then)?, tree(root, now)?);
    // By the name of today, the names of then.
    let mut names: HashMap<String, Vec<String>> =
        before.iter().map(|path| (path.clone(), vec![path.clone()])).collect();
    let range = format!("{then}..{now}");
    let log = git(
        root,
        &[
            "log",
            "-z",
            "--reverse",
            "--first-parent",
            "--diff-merges=first-parent",
            "-M",
            "-l0",
            "--name-status",
            "--format=%x01",
            &range,
        ],
    )?;
    for step in log.split('\u{1}').skip(1) {
        let mut fields = step.split('\0').filter(|field| !field.trim().is_empty());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        while let Some(status) = fields.next() {
            let path = fields.next().unwrap_or_default();
            match status.trim_start().chars().next() {
                Some('D') => removed.push(path.to_owned()),
                Some('R') => {
                    added.push((path.to_owned(), fields.next().unwrap_or_default().to_owned()));
                }
                Some('C') => {
                    fields.next();
                }
                _ => {}
            }
        }
        // Files can change places in one commit.
        let moved: Vec<_> =
            added.into_iter().filter_map(|(from, to)| Some((to, names.remove(&from)?))).collect();
        for path in removed {
            names.remove(&path);
        }
        names.extend(moved);
    }
    let mut today: BTreeMap<String, String> = BTreeMap::new();
    for (name, former) in names {
        for path in former {
            today.insert(path, name.clone());
        }
    }
    let (mut renames, mut deletions, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for path in &before {
        if after.contains(path) {
            others.push(Case { kind: Kind::Other, name: path.clone(), became: None });
            continue;
        }
        match today.get(path).filter(|name| after.contains(*name)) {
            Some(to) => renames.push(Case {
                kind: Kind::Rename,
                name: path.clone(),
                became: Some(Became::Renamed(to.clone())),
            }),
            None => deletions.push(Case {
                kind: Kind::Deletion,
                name: path.clone(),
                became: Some(Became::Gone),
            }),
        }
    }
    let never = some(before.iter().collect(), most / 2).filter_map(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let (stem, end) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        let name = format!("{folder}/{stem}_imagined.{end}").trim_start_matches("./").to_owned();
        Some(Case { kind: Kind::Other, name, became: None })
    });
    let mut cases: Vec<Case> = never.collect();
    cases.extend(some(renames, most));
    cases.extend(some(deletions, most));
    cases.extend(some(others, most));
    Ok(cases)
}

/// Symbols that were defined then, and whether any source file has the word now.
pub fn symbols(root: &Path, then: &str, now: &str, most: usize) -> Result<Vec<Case>> {
    let words_now = words(root, now, |_, word| Some(word.to_owned()))?;
    let defined = words(root, then, |before, word| {
        let keyword = before.trim_end().rsplit([' ', '\t', '(', '\n']).next().unwrap_or_default();
        let defines = ["fn", "struct", "enum", "trait", "def", "class", "function", "func", "type"];
        (defines.contains(&keyword) && word.len() >= 6).then(|| word.to_owned())
    })?;
    let case = |name: String, became| Case { kind: Kind::Symbol, name, became };
    let (alive, gone): (Vec<String>, Vec<String>) =
        defined.into_iter().partition(|name| words_now.contains(name));
    let mut cases: Vec<Case> =
        some(gone, most).map(|name| case(name, Some(Became::Gone))).collect();
    cases.extend(some(alive, most).map(|name| case(name, None)));
    Ok(cases)
}

/// What `pick` takes of the words in all source files of a commit; it sees the line before each word.
fn words(
    root: &Path,
    commit: &str,
    pick: impl Fn(&str, &str) -> Option<String>,
) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let sources: Vec<String> =
        tree(root, commit)?.into_iter().filter(|path| is_source(path)).collect();
    let input: String = sources.iter().map(|path| format!("{commit}:{path}\n")).collect();
    let text = piped(root, &["cat-file", "--batch"], input.into_bytes())?;
    for line in String::from_utf8_lossy(&text).lines() {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let mut at = 0;
        for word in line.split(|c| !part(c)) {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            at = at.max(start);
            if word.len() > 1 {
                found.extend(pick(&line[..start], word));
            }
        }
    }
    Ok(found)
}

/// Commits and which others took them back: a newer one says so and undoes exactly what the older one did, or names
/// it in git's own words.
pub fn reverts(root: &Path, head: &str, most: usize) -> Result<Vec<Case>> {
    let log = git(root, &["log", "-z", PATCHES, "--no-merges", "--format=%H%x01%B", head])?;
    let commits: Vec<(&str, &str)> =
        log.split('\0').filter_map(|record| record.trim_start().split_once('\u{1}')).collect();
    let (forward, backward) = (patches(root, head, &[])?, patches(root, head, &["-R"])?);
    let mut undoes: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (id, _)) in commits.iter().enumerate() {
        if let Some(patch) = backward.get(*id) {
            undoes.entry(patch).or_default().push(at);
        }
    }
    let says = |message: &str| {
        let first = message.lines().next().unwrap_or_default().to_lowercase();
        ["revert", "reapply", "back out", "backed out", "undo"]
            .iter()
            .any(|word| first.contains(word))
    };
    // Newest first; by the place of the older, the place of the newer one.
    let mut by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, (id, message)) in commits.iter().enumerate() {
        let mut named: Vec<usize> = message
            .split("This reverts commit ")
            .skip(1)
            .filter_map(|rest| rest.get(..40))
            .filter_map(|id| commits.iter().position(|(other, _)| *other == id))
            .collect();
        if named.is_empty() && says(message) {
            let same = forward.get(*id).and_then(|patch| undoes.get(patch.as_str()));
            named.extend(same.into_iter().flatten().find(|other| **other > at));
        }
        for older in named {
            by.entry(older).or_default().push(at);
        }
    }
    let mut counts: HashSet<usize> = HashSet::new();
    // A revert counts unless one that counts reverted it.
    for at in 0..commits.len() {
        if !by.get(&at).is_some_and(|reverts| reverts.iter().any(|newer| counts.contains(newer))) {
            counts.insert(at);
        }
    }
    let short = |at: usize| commits[at].0[..12].to_owned();
    let (mut reverted, mut others) = (Vec::new(), Vec::new());
    for at in 0..commits.len() {
        let newer =
            by.get(&at).and_then(|reverts| reverts.iter().find(|newer| counts.contains(newer)));
        let became = newer.map(|newer| Became::Reverted(short(*newer)));
        let list = if became.is_some() { &mut reverted } else { &mut others };
        list.push(Case { kind: Kind::Commit, name: short(at), became });
    }
    let mut cases: Vec<Case> = some(reverted, most).collect();
    cases.extend(some(others, most));
    Ok(cases)
}

/// What each commit changes, as an id that is the same for the same change.
fn patches(root: &Path, head: &str, how: &[&str]) -> Result<HashMap<String, String>> {
    let mut args = vec!["log", "-p", PATCHES, "--no-merges", "--no-color", "--no-renames"];
    args.extend(how);
    args.push(head);
    let mut log = Command::new("git")
        .current_dir(root)
        .args(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let input = log.stdout.take().context("no output")?;
    let ids = Command::new("git")
        .current_dir(root)
        .args(["patch-id", "--stable"])
        .stdin(input)
        .output()?;
    log.wait()?;
    let text = String::from_utf8_lossy(&ids.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs.map(|(patch, commit)| (commit.to_owned(), patch.to_owned())).collect())
}

fn piped(root: &Path, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>> {
    let mut child = Command::new("git")
        .current_dir(root)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    if writer.join().is_err() || !output.status.success() {
        bail!("git {} failed", args.join(" "));
    }
    Ok(output.stdout)
}
