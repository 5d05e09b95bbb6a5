//! The history: a note per commit whose message says something.

mod authors;
mod message;

use handover_model::{NoteKind, NoteState, SourceName, Timestamp, Trust};

use crate::mentions::mentions;
use crate::passage::passages;
use crate::reverts::Reverts;
use crate::source::Unit;
use crate::{Draft, Found, Git, Learned, Source, SourceContext, SourceError};
use authors::is_by_agent;
use message::Message;

/// As far back as the history is read.
const MAX_COMMITS: &str = "--max-count=20000";

/// Changes when commits are read differently, so that they are read anew.
const VERSION: &str = "3";

/// How much of the id of a commit is shown; the same length in every clone.
const SHOWN: usize = 12;

/// The most passages of one message.
const MAX_PASSAGES: usize = 4;

/// The most files of a commit that its notes name.
const MAX_PATHS: usize = 32;

/// The history of the commit that is checked out.
pub(super) struct History;

impl Source for History {
    fn name(&self) -> SourceName {
        SourceName::Git
    }

    fn stamp(&self, context: &SourceContext<'_>) -> Result<Option<String>, SourceError> {
        let git = context.git.ok_or(SourceError::NoRepository)?;
        Ok(git.head()?.map(|head| format!("{VERSION}:{head}")))
    }

    fn discover(&self, context: &SourceContext<'_>) -> Result<Found, SourceError> {
        let git = context.git.ok_or(SourceError::NoRepository)?;
        let mut found = Found::default();
        if git.head()?.is_none() {
            return Ok(found);
        }
        let mut reverts = Reverts::default();
        let since = context.since.map(|since| format!("--since-as-filter={since}"));
        let mut args = vec!["log", "-z", "--encoding=UTF-8", MAX_COMMITS, "--format=%H%x00%B"];
        args.extend(since.as_deref());
        args.push("--");
        let asked = below(context);
        args.extend(asked.iter().map(String::as_str));
        if asked.is_empty() && !git.prefix().is_empty() {
            args.push(".");
        }
        let mut id = None;
        git.records(&args, &[], 0, context.stop, &mut |record| {
            let text = String::from_utf8_lossy(record);
            let Some(id) = id.take() else {
                id = Some(text.trim().to_owned());
                return true;
            };
            reverts.see_message(&id, &text);
            if Message::read(&text).is_some() {
                found.units.push(Unit { fingerprint: String::new(), source: id, place: None });
            }
            true
        })?;
        let reverted = reverts.resolve();
        for unit in &mut found.units {
            let by = reverted.get(&unit.source).map_or("-", |by| shown(by));
            unit.fingerprint = format!("{VERSION}:{by}");
        }
        Ok(found)
    }

    fn read(
        &self,
        context: &SourceContext<'_>,
        units: &[Unit],
        learned: &mut dyn FnMut(Learned),
    ) -> Result<(), SourceError> {
        let git = context.git.ok_or(SourceError::NoRepository)?;
        if units.is_empty() {
            return Ok(());
        }
        let numbers: std::collections::HashMap<&str, usize> =
            units.iter().enumerate().map(|(at, unit)| (unit.source.as_str(), at)).collect();
        commits(git, units, context, &mut |commit| {
            if let Some(unit) = numbers.get(commit.id.as_str()) {
                let drafts = commit.drafts(reverted_by(&units[*unit]));
                learned(Learned { unit: *unit, drafts, skipped: Vec::new() });
            }
        })
    }
}

/// The paths that were asked for, relative to the root.
fn below(context: &SourceContext<'_>) -> Vec<String> {
    let relative = |path: &std::path::PathBuf| {
        let path = path.strip_prefix(context.root).ok()?.to_str()?;
        Some(if path.is_empty() { ".".to_owned() } else { path.to_owned() })
    };
    context.paths.iter().filter_map(relative).collect()
}

fn reverted_by(unit: &Unit) -> Option<&str> {
    unit.fingerprint.rsplit(':').next().filter(|by| *by != "-")
}

fn shown(id: &str) -> &str {
    id.get(..SHOWN).unwrap_or(id)
}

/// A commit, with its files.
struct Commit {
    id: String,
    time: Timestamp,
    author: String,
    message: String,
    paths: Vec<String>,
}

impl Commit {
    fn drafts(&self, reverted_by: Option<&str>) -> Vec<Draft> {
        let Some(message) = Message::read(&self.message) else { return Vec::new() };
        let named = mentions(&message.text(), &[]);
        let mut paths = self.paths.clone();
        paths.extend(named.paths.into_iter().filter(|path| !self.paths.contains(path)));
        paths.truncate(MAX_PATHS);
        let by_agent = is_by_agent(&self.author, &self.message);
        let trust = if by_agent { Trust::Agent } else { Trust::Project };
        let passages = passages(&message.text()).into_iter().take(MAX_PASSAGES);
        let draft = |text| Draft {
            kind: NoteKind::Commit,
            origin: format!("commit {}", shown(&self.id)),
            source: self.id.clone(),
            title: message.subject.clone(),
            text,
            trust,
            paths: paths.clone(),
            symbols: named.symbols.clone(),
            state: if reverted_by.is_some() { NoteState::Amended } else { NoteState::Live },
            reason: reverted_by.map(|by| format!("reverted by commit {by}")),
            created_at: self.time,
        };
        passages.map(|text| draft(text).bounded()).collect()
    }
}

/// Calls `each` with every one of these commits.
fn commits(
    git: &Git,
    units: &[Unit],
    context: &SourceContext<'_>,
    each: &mut dyn FnMut(&Commit),
) -> Result<(), SourceError> {
    let format = "--format=%x01%H%x00%ct%x00%an <%ae>%x00%B";
    let args = [
        "log",
        "--stdin",
        "--no-walk=unsorted",
        "-z",
        "--encoding=UTF-8",
        "--name-only",
        "--no-renames",
        "--relative",
        format,
    ];
    let mut input = String::new();
    for unit in units {
        input.push_str(&unit.source);
        input.push('\n');
    }
    let mut commit: Option<Commit> = None;
    let mut expected = Field::Path;
    git.records(&args, input.as_bytes(), 0, context.stop, &mut |record| {
        let text = || String::from_utf8_lossy(record);
        match (expected, &mut commit) {
            (Field::Time, Some(commit)) => {
                let seconds: i64 = text().trim().parse().unwrap_or_default();
                commit.time = Timestamp::from_micros(seconds.saturating_mul(1_000_000));
                expected = Field::Author;
            }
            (Field::Author, Some(commit)) => {
                commit.author = text().trim().to_owned();
                expected = Field::Message;
            }
            (Field::Message, Some(commit)) => {
                commit.message = text().into_owned();
                expected = Field::Path;
            }
            (Field::Path | Field::Time | Field::Author | Field::Message, current) => {
                if let Some(id) = record.strip_prefix(b"\x01") {
                    let id = String::from_utf8_lossy(id).into_owned();
                    let time = Timestamp::from_micros(0);
                    let (author, message) = (String::new(), String::new());
                    let next = Commit { id, time, author, message, paths: Vec::new() };
                    if let Some(done) = current.replace(next) {
                        each(&done);
                    }
                    expected = Field::Time;
                } else if let Some(commit) = current
                    && commit.paths.len() < MAX_PATHS
                    && let Ok(path) =
                        std::str::from_utf8(record.strip_prefix(b"\n").unwrap_or(record))
                    && !path.is_empty()
                {
                    commit.paths.push(path.to_owned());
                }
            }
        }
        true
    })?;
    if let Some(last) = &commit {
        each(last);
    }
    Ok(())
}

/// What the next record is.
#[derive(Clone, Copy)]
enum Field {
    Time,
    Author,
    Message,
    /// A path, or the id of the next commit.
    Path,
}

#[cfg(test)]
mod tests;
