//! Copies what a project knew at some time into a store of its own, so that a brief of that time can be made again.
//!
//! Whatever was recorded later is left out, and so is what later records changed in earlier ones, as far as records
//! say when: a session that was closed later is open, a package that was replaced later is the newest. Notes from
//! documents and commits are left out altogether: they are learned from the files and the history of that time.
//! What happened to agents (receipts, runs, events) is no knowledge.

use std::collections::HashSet;

use handover_model::{NoteKind, SessionStatus, Timestamp};
use handover_store::archive::{CleanRecord, Record, Value};
use handover_store::{Store, StoreError};
use handover_text::Redactor;

/// A kind of knowledge that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Packages.
    Packages,
    /// Error patterns and their solutions.
    Errors,
    /// Strategies.
    Strategies,
}

/// What to copy.
#[derive(Debug, Clone, Copy)]
pub struct Earlier {
    /// Nothing from this time or later.
    pub before: Timestamp,
    /// Nothing of this kind.
    pub without: Option<Knowledge>,
}

/// Copies it into an empty store; returns how many records were copied.
pub fn copy_earlier(
    from: &dyn Store,
    to: &dyn Store,
    redactor: &Redactor,
    what: Earlier,
) -> Result<u64, StoreError> {
    let mut copied = 0;
    from.consistently(&mut |from| {
        // Records refer to later ones (a package to its successor), so it must be known first which of them stay.
        let mut there = Kept::default();
        from.each_record(&mut |one| {
            there.add(one.record(), what);
            Ok(())
        })?;
        let added = to.put_records(&mut |sink| {
            from.each_record(&mut |one| {
                if !there.has(one.record(), what) {
                    return Ok(());
                }
                match there.as_it_was(one.record(), what) {
                    Some(changed) => sink(CleanRecord::redacted(changed, redactor)),
                    None => sink(one),
                }
            })
        })?;
        copied = added.added;
        Ok(())
    })?;
    Ok(copied)
}

/// The records that stay, as far as others refer to them.
#[derive(Default)]
struct Kept {
    sessions: HashSet<i64>,
    packages: HashSet<i64>,
    reasoning: HashSet<i64>,
    errors: HashSet<(String, String)>,
    strategies: HashSet<String>,
}

impl Kept {
    fn add(&mut self, record: &Record, what: Earlier) {
        // Kinds that others refer to come first.
        if !self.has(record, what) {
            return;
        }
        match record.kind.name {
            "session" => drop(self.sessions.insert(int(record, "key").unwrap_or_default())),
            "package" => drop(self.packages.insert(int(record, "id").unwrap_or_default())),
            "reasoning" => drop(self.reasoning.insert(int(record, "id").unwrap_or_default())),
            "error_pattern" => drop(self.errors.insert(error(record))),
            "strategy" => drop(self.strategies.insert(word(record, "id"))),
            _ => {}
        }
    }

    /// Whether a record stays.
    fn has(&self, record: &Record, what: Earlier) -> bool {
        let before =
            |column: &str| int(record, column).is_some_and(|at| at < what.before.as_micros());
        let without = |kind| what.without == Some(kind);
        let in_session =
            || int(record, "session").is_none_or(|session| self.sessions.contains(&session));
        let of_package = || int(record, "package").is_some_and(|id| self.packages.contains(&id));
        match record.kind.name {
            "session" => before("created_at"),
            "task_group" | "reasoning" | "verdict" | "skill_output" => {
                in_session() && before("created_at")
            }
            "package" => !without(Knowledge::Packages) && in_session() && before("created_at"),
            "package_consumer" | "package_body" => of_package(),
            "group_reference" => in_session() && of_package(),
            "error_pattern" => !without(Knowledge::Errors) && before("last_seen"),
            "error_trust" => self.errors.contains(&error(record)) && before("changed_at"),
            "error_solution" => self.errors.contains(&error(record)) && before("last_used"),
            "error_incident" => {
                self.errors.contains(&error(record)) && in_session() && before("created_at")
            }
            "strategy" => !without(Knowledge::Strategies) && before("created_at"),
            "strategy_source" => {
                let reasoning = int(record, "reasoning");
                self.strategies.contains(&word(record, "strategy"))
                    && reasoning.is_some_and(|id| self.reasoning.contains(&id))
            }
            "note" => {
                let kind: Option<NoteKind> = record.text("kind").and_then(|kind| kind.parse().ok());
                !matches!(kind, Some(NoteKind::Doc | NoteKind::Commit)) && before("created_at")
            }
            _ => false,
        }
    }

    /// A record as it was then; none if it is the same.
    fn as_it_was(&self, record: &Record, what: Earlier) -> Option<Record> {
        let mut earlier = record.clone();
        match record.kind.name {
            "session" => {
                let ended = int(record, "ended_at").filter(|at| *at >= what.before.as_micros());
                ended?;
                set(&mut earlier, "ended_at", Value::Null);
                set(&mut earlier, "status", Value::Text(SessionStatus::Active.to_string()));
            }
            "package" => {
                let successor =
                    int(record, "superseded_by").filter(|id| !self.packages.contains(id));
                successor?;
                set(&mut earlier, "superseded_by", Value::Null);
            }
            // Receipts are not copied.
            "verdict" => set(&mut earlier, "receipt", Value::Null),
            _ => return None,
        }
        Some(earlier)
    }
}

fn at(record: &Record, column: &str) -> Option<usize> {
    record.kind.columns.iter().position(|one| one.name == column)
}

fn int(record: &Record, column: &str) -> Option<i64> {
    match record.values.get(at(record, column)?)? {
        Value::Int(number) => Some(*number),
        Value::Null | Value::Real(_) | Value::Text(_) | Value::Bytes(_) => None,
    }
}

fn word(record: &Record, column: &str) -> String {
    record.text(column).unwrap_or_default().to_owned()
}

/// The key of the error pattern that a record is, or belongs to.
fn error(record: &Record) -> (String, String) {
    (word(record, "project"), word(record, "hash"))
}

fn set(record: &mut Record, column: &str, value: Value) {
    if let Some(place) = at(record, column).and_then(|at| record.values.get_mut(at)) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use handover_sqlite::SqliteStore;
    use handover_store::{PackageFilter, Packages, Sessions};

    use super::*;
    use crate::testing::{TestProject, at as time};

    fn earlier(project: &TestProject, before: i64, without: Option<Knowledge>) -> SqliteStore {
        let target = SqliteStore::open(&project.outside("earlier.db")).unwrap();
        let what = Earlier { before: time(before), without };
        copy_earlier(&project.store, &target, &project.redactor, what).unwrap();
        target
    }

    fn paths(store: &SqliteStore, project: &TestProject) -> Vec<String> {
        let all = store.packages(&project.session, &PackageFilter::default()).unwrap();
        all.into_iter().map(|package| package.summary).collect()
    }

    #[test]
    fn the_past_has_only_what_was_there() {
        let project = TestProject::new();
        let mut old = project.package("a.md", "old", "old");
        old.created_at = time(10);
        project.register(old);
        let mut new = project.package("a.md", "new", "new");
        new.created_at = time(20);
        project.register(new);
        project
            .store
            .set_session_status(&project.session, SessionStatus::Completed, time(30))
            .unwrap();
        let past = earlier(&project, 15, None);
        // The package is the newest again, and the session open.
        assert_eq!(paths(&past, &project), ["old"]);
        assert_eq!(past.session(&project.session).unwrap().status, SessionStatus::Active);
    }

    #[test]
    fn a_kind_can_be_left_out() {
        let project = TestProject::new();
        project.register(project.package("a.md", "old", "old"));
        assert!(
            paths(&earlier(&project, 1_000_000_000, Some(Knowledge::Packages)), &project)
                .is_empty()
        );
    }
}
