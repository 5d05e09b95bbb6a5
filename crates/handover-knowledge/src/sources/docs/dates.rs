//! When documents were last changed: by the history, because the times of files differ between checkouts.

use std::collections::HashMap;

use handover_model::Timestamp;

use crate::{Git, GitError, SourceContext};

/// As many documents are asked for by name; with more of them the whole history is read.
const BY_NAME: usize = 200;

/// As far back as the history is read.
const MAX_COMMITS: &str = "--max-count=20000";

/// The last change of each document, and of the project for those that the history does not know.
pub(super) struct Dates {
    changes: HashMap<String, Timestamp>,
    head: Timestamp,
}

impl Dates {
    pub(super) fn of(&self, path: &str) -> Timestamp {
        self.changes.get(path).copied().unwrap_or(self.head)
    }
}

/// The last changes of these documents.
pub(super) fn last_changes(
    git: &Git,
    paths: &[&str],
    context: &SourceContext<'_>,
) -> Result<Dates, GitError> {
    let mut dates = Dates { changes: HashMap::new(), head: Timestamp::from_micros(0) };
    if paths.is_empty() || git.head()?.is_none() {
        return Ok(dates);
    }
    let format = "--format=%x01%ct";
    let mut args =
        vec!["log", "-z", "--name-only", "--no-renames", "--relative", format, MAX_COMMITS];
    args.push("--");
    if paths.len() <= BY_NAME {
        args.extend(paths);
    } else if !git.prefix().is_empty() {
        args.push(".");
    }
    dates.head = time(git.text(&["log", "-1", "--format=%ct"])?.as_bytes()).unwrap_or(dates.head);
    let mut current = dates.head;
    let wanted: std::collections::HashSet<&str> = paths.iter().copied().collect();
    let read = git.records(&args, &[], 0, context.stop, &mut |record| {
        if let Some(seconds) = record.strip_prefix(b"\x01") {
            current = time(seconds).unwrap_or(current);
        } else if let Ok(path) = std::str::from_utf8(record.strip_prefix(b"\n").unwrap_or(record))
            && wanted.contains(path)
            && !dates.changes.contains_key(path)
        {
            dates.changes.insert(path.to_owned(), current);
        }
        dates.changes.len() < wanted.len()
    });
    match read {
        // Everything was found before the history ended.
        Err(GitError::Stopped) if dates.changes.len() == wanted.len() => Ok(dates),
        read => read.map(|()| dates),
    }
}

fn time(seconds: &[u8]) -> Option<Timestamp> {
    let seconds: i64 = std::str::from_utf8(seconds).ok()?.trim().parse().ok()?;
    Some(Timestamp::from_micros(seconds.saturating_mul(1_000_000)))
}
