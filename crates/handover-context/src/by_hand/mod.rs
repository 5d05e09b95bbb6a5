//! What people and agents change by hand: retiring and restoring records, writing notes, closing sessions. Every
//! change is logged with what was there before, so that it can be undone (`undo.rs`); `expire.rs` retires what is
//! old or unused. The same for the command line, MCP and the service.

mod error;
mod expire;
mod forgotten;
mod undo;

use handover_model::{
    Action, Amendment, AmendmentDecision, Edit, ErrorPattern, Note, NoteState, Operation,
    OperationId, Package, PackageId, ProjectId, RecordState, Session, SessionId, SessionStanding,
    SessionStatus, Standing, Strategy, Timestamp, Trust,
};
use handover_store::{
    ErrorFilter, NewOperation, NewPackage, RecordKind, Registered, Store, StoreError,
    StrategyFilter, Supersede,
};
use handover_text::{Clean, Redactor};

pub use error::ByHandError;
pub use expire::{Expiring, expired};
pub use forgotten::{Forgotten, delete, forgotten};

use crate::amendments;
use crate::notes::{self, Decision, Written};
use crate::package_file::MAX_SUMMARY_CHARS;

type Result<T, E = ByHandError> = std::result::Result<T, E>;

/// The shortest part of an id that names a record.
const SHORTEST_PART: usize = 4;
/// Why a record is out of use whose addition was undone.
const UNDONE: &str = "its addition was undone";

/// One change by hand: where, by whom, and the id under which it is logged.
#[derive(Clone)]
pub struct ByHand<'a> {
    /// The records.
    pub store: &'a dyn Store,
    /// Removes secrets from reasons.
    pub redactor: &'a Redactor,
    /// The project that is changed.
    pub project: &'a ProjectId,
    /// The id of the entry in the log.
    pub id: OperationId,
    /// Who does it.
    pub trust: Trust,
    /// Through what, and with whose token, if that is known.
    pub author: Option<String>,
    /// The time of the change.
    pub now: Timestamp,
}

impl std::fmt::Debug for ByHand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByHand").field("id", &self.id).finish_non_exhaustive()
    }
}

impl ByHand<'_> {
    /// Retires a package, or takes it back into use.
    pub fn set_package(
        &self,
        id: PackageId,
        state: RecordState,
        why: Option<&str>,
    ) -> Result<Package> {
        let reason = self.reason(state, why);
        self.change(state_action(state), |store| {
            let before = store.package(id)?;
            let after = one(store.set_package_state(&[id], state, reason.as_ref())?)?;
            let edit = Edit::Package { id, before: standing(&before), after: standing(&after) };
            Ok((Some(after.session.clone()), vec![edit], after))
        })
    }

    /// Retires a strategy, or takes it back into use. `name` is its id or a part of it.
    pub fn set_strategy(
        &self,
        name: &str,
        state: RecordState,
        why: Option<&str>,
    ) -> Result<Strategy> {
        let reason = self.reason(state, why);
        self.change(state_action(state), |store| {
            let before = self.strategy(store, name)?;
            let after =
                store.set_strategy_state(self.project, &before.id, state, reason.as_ref())?;
            let id = before.id.clone();
            let edit = Edit::Strategy { id, before: standing(&before), after: standing(&after) };
            Ok((None, vec![edit], after))
        })
    }

    /// Retires an error pattern, or takes it back into use. `hash` may be a unique prefix.
    pub fn set_error(
        &self,
        hash: &str,
        state: RecordState,
        why: Option<&str>,
    ) -> Result<ErrorPattern> {
        let reason = self.reason(state, why);
        self.change(state_action(state), |store| {
            let all = store.errors(self.project, &ErrorFilter::default())?;
            let after = store.set_error_state(self.project, hash, state, reason.as_ref())?;
            let before = all
                .into_iter()
                .find(|pattern| pattern.hash == after.hash)
                .ok_or(StoreError::Aborted)?;
            let id = after.hash.clone();
            let edit = Edit::Error { id, before: standing(&before), after: standing(&after) };
            Ok((None, vec![edit], after))
        })
    }

    /// Retires a note, takes it back into use, or decides about its replacement.
    pub fn decide(&self, note: &Note, decision: Decision<'_>) -> Result<Note> {
        let action = match decision {
            Decision::Retire { .. } => Action::Retire,
            Decision::Restore => Action::Restore,
            Decision::Confirm { .. } => Action::Confirm,
            Decision::Reject { .. } => Action::Reject,
        };
        self.change(action, |store| {
            let note = &store.note(self.project, &note.id)?;
            let decided = store.amendments(self.project)?;
            let after =
                notes::decide(store, self.project, self.redactor, note, decision, self.now)?;
            let mut edits = decisions(&decided, store.amendments(self.project)?);
            edits.push(Edit::Note {
                id: note.id.clone(),
                before: note_standing(note),
                after: note_standing(&after),
            });
            Ok((None, edits, after))
        })
    }

    /// Decides about the replacement of a package: by the one that is named, or by the one that is found.
    pub fn decide_package(
        &self,
        id: PackageId,
        by: Option<PackageId>,
        decision: AmendmentDecision,
    ) -> Result<Amendment> {
        let action = match decision {
            AmendmentDecision::Confirmed => Action::Confirm,
            AmendmentDecision::Rejected | AmendmentDecision::Open => Action::Reject,
        };
        self.change(action, |store| {
            let decided = store.amendments(self.project)?;
            let session = store.package(id)?.session;
            let made = amendments::decide_package(store, self.project, id, by, decision, self.now)?;
            let edits = decisions(&decided, store.amendments(self.project)?);
            Ok((Some(session), edits, made))
        })
    }

    /// Writes a note. The same text again is the same note.
    pub fn write_note(&self, note: &Written<'_>) -> Result<Note> {
        self.change(Action::Add, |store| {
            let (written, is_new) =
                notes::write(store, self.project, self.redactor, note, self.now)?;
            let before = Standing { state: NoteState::Retired, reason: Some(UNDONE.to_owned()) };
            let edit =
                Edit::Note { id: written.id.clone(), before, after: note_standing(&written) };
            Ok((None, is_new.then_some(edit).into_iter().collect(), written))
        })
    }

    /// Closes or reopens a session.
    pub fn set_session(&self, id: &SessionId, status: SessionStatus) -> Result<Session> {
        let action = match status {
            SessionStatus::Active => Action::Reopen,
            SessionStatus::Completed | SessionStatus::Failed => Action::Close,
        };
        self.change(action, |store| {
            let before = store.session(id)?;
            // Closing it again would only move its end.
            let after = match before.status == status {
                true => before.clone(),
                false => store.set_session_status(id, status, self.now)?,
            };
            let edit = Edit::Session {
                id: id.clone(),
                before: session_standing(&before),
                after: session_standing(&after),
            };
            Ok((Some(id.clone()), vec![edit], after))
        })
    }

    /// Registers a package.
    pub fn register(&self, new: &NewPackage) -> Result<Registered> {
        transaction(self.store, |store| {
            let registered = one(store.register_packages(std::slice::from_ref(new))?)?;
            let Registered { package, created } = &registered;
            let (action, edit) = match package.supersedes {
                Some(former) => (Action::Supersede, Edit::Version { id: package.id, former }),
                None => {
                    let state = RecordState::Retired;
                    let before = Standing { state, reason: Some(UNDONE.to_owned()) };
                    let (id, after) = (package.id, standing(package));
                    (Action::Add, Edit::Package { id, before, after })
                }
            };
            let edits = created.then_some(edit).into_iter().collect();
            self.log(store, action, Some(package.session.clone()), edits, None)?;
            Ok(registered)
        })
    }

    /// Gives a package another summary: a new version, with the same text. It is believed no more than who does it.
    pub fn set_summary(&self, id: PackageId, summary: &str) -> Result<Registered> {
        let refused = |problem| Err(ByHandError::Summary { problem });
        let summary = self.redactor.clean(summary).one_line().cut(MAX_SUMMARY_CHARS);
        if summary.as_str().trim().is_empty() {
            return refused("the summary is empty");
        }
        let old = self.store.package(id)?;
        if old.superseded_by.is_some() {
            return refused("the package has a newer version");
        }
        if old.state == RecordState::Retired {
            return refused("the package is retired");
        }
        let body = self.store.package_body(id)?;
        let trust = old.trust.min(self.trust);
        self.register(&NewPackage { summary, trust, ..self.again(&old, &body, id) })
    }

    /// A package with the text of an old one.
    fn again(&self, old: &Package, body: &str, supersedes: PackageId) -> NewPackage {
        let clean = |text: &str| self.redactor.clean(text);
        NewPackage {
            session: old.session.clone(),
            group: old.group.clone(),
            scope: old.scope,
            kind: old.kind,
            path: old.path.clone(),
            title: old.title.as_deref().map(clean),
            summary: clean(&old.summary),
            files: old.files.iter().map(|file| clean(file)).collect(),
            body: clean(body),
            producer: old.producer.clone(),
            consumers: old.consumers.clone(),
            priority: old.priority,
            iteration: old.iteration,
            size_bytes: old.size_bytes,
            tokens: old.tokens,
            content_hash: old.content_hash.clone(),
            supersede: Supersede::Package(supersedes),
            created_at: self.now,
            trust: old.trust,
        }
    }

    /// The strategy of this id, or the only one whose id starts or ends with it.
    fn strategy(&self, store: &dyn Store, name: &str) -> Result<Strategy> {
        let all = store.strategies(self.project, &StrategyFilter::default())?;
        named(RecordKind::Strategy, name, all, |strategy| &strategy.id)
    }

    /// Why something is retired, without secrets; nothing for what is taken back into use.
    fn reason(&self, state: RecordState, why: Option<&str>) -> Option<Clean> {
        let why = why.map(str::trim).filter(|why| !why.is_empty());
        why.filter(|_| state == RecordState::Retired).map(|why| self.redactor.clean(why))
    }

    /// Does something and logs what it changed, or neither. Nothing is logged if nothing changed.
    fn change<T>(
        &self,
        action: Action,
        work: impl FnOnce(&dyn Store) -> Result<(Option<SessionId>, Vec<Edit>, T)>,
    ) -> Result<T> {
        transaction(self.store, |store| {
            let (session, mut edits, value) = work(store)?;
            edits.retain(changes_something);
            self.log(store, action, session, edits, None)?;
            Ok(value)
        })
    }

    fn log(
        &self,
        store: &dyn Store,
        action: Action,
        session: Option<SessionId>,
        edits: Vec<Edit>,
        undoes: Option<OperationId>,
    ) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        let changes = serde_json::to_value(&edits).unwrap_or_default();
        store.log_operation(&NewOperation {
            id: self.id.clone(),
            project: self.project.clone(),
            session,
            action,
            changes: self.redactor.clean_json(changes),
            undoes,
            trust: self.trust,
            author: self.author.as_deref().map(|author| self.redactor.clean(author)),
            now: self.now,
        })?;
        Ok(())
    }
}

/// A record that can be retired.
trait Retirable {
    fn state(&self) -> (RecordState, Option<&String>);
}

impl Retirable for Package {
    fn state(&self) -> (RecordState, Option<&String>) {
        (self.state, self.reason.as_ref())
    }
}

impl Retirable for Strategy {
    fn state(&self) -> (RecordState, Option<&String>) {
        (self.state, self.reason.as_ref())
    }
}

impl Retirable for ErrorPattern {
    fn state(&self) -> (RecordState, Option<&String>) {
        (self.state, self.reason.as_ref())
    }
}

fn standing(record: &impl Retirable) -> Standing<RecordState> {
    let (state, reason) = record.state();
    Standing { state, reason: reason.cloned() }
}

fn note_standing(note: &Note) -> Standing<NoteState> {
    Standing { state: note.state, reason: note.reason.clone() }
}

fn session_standing(session: &Session) -> SessionStanding {
    SessionStanding { status: session.status, ended_at: session.ended_at }
}

fn state_action(state: RecordState) -> Action {
    match state {
        RecordState::Live => Action::Restore,
        RecordState::Retired => Action::Retire,
    }
}

/// The decisions that are not what they were.
fn decisions(before: &[Amendment], after: Vec<Amendment>) -> Vec<Edit> {
    let changed = after.into_iter().filter_map(|one| {
        let same =
            |other: &&Amendment| (&other.earlier, &other.later) == (&one.earlier, &one.later);
        let before = before.iter().find(same).map_or(AmendmentDecision::Open, |one| one.decision);
        let Amendment { earlier, later, decision: after, .. } = one;
        (before != after).then_some(Edit::Decision { earlier, later, before, after })
    });
    changed.collect()
}

fn changes_something(edit: &Edit) -> bool {
    match edit {
        Edit::Package { before, after, .. }
        | Edit::Strategy { before, after, .. }
        | Edit::Error { before, after, .. } => before != after,
        Edit::Note { before, after, .. } => before != after,
        Edit::Session { before, after, .. } => before != after,
        Edit::Decision { before, after, .. } => before != after,
        Edit::Version { .. } => true,
    }
}

/// The one record of a list that cannot have more or fewer.
fn one<T>(mut records: Vec<T>) -> Result<T> {
    Ok(records.pop().ok_or(StoreError::Aborted)?)
}

/// The record of this id, or the only one whose id starts or ends with it.
fn named<T>(what: RecordKind, name: &str, all: Vec<T>, id: impl Fn(&T) -> &str) -> Result<T> {
    let unknown = || ByHandError::Unknown { what, name: name.to_owned() };
    let exact = all.iter().position(|one| id(one) == name);
    let mut all = all;
    if let Some(at) = exact {
        return Ok(all.swap_remove(at));
    }
    if name.len() < SHORTEST_PART {
        return Err(unknown());
    }
    all.retain(|one| id(one).starts_with(name) || id(one).ends_with(name));
    match (all.len(), all.pop()) {
        (1, Some(found)) => Ok(found),
        (_, None) => Err(unknown()),
        (count, Some(_)) => Err(ByHandError::Ambiguous { what, name: name.to_owned(), count }),
    }
}

/// Runs work as one transaction; any error rolls it back.
fn transaction<T>(store: &dyn Store, work: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
    let mut refused = None;
    let outcome = store.writing(|store| {
        work(store).map_err(|error| {
            if let ByHandError::Store(error) = error {
                return error;
            }
            refused = Some(error);
            StoreError::Aborted
        })
    });
    match (refused, outcome) {
        (Some(error), _) => Err(error),
        (None, outcome) => Ok(outcome?),
    }
}

/// The operations that were undone and not redone since. `all` is newest first.
pub fn undone(all: &[Operation]) -> Vec<(&OperationId, &OperationId)> {
    let mut undone: Vec<(&OperationId, &OperationId)> = Vec::new();
    for operation in all {
        let Some(target) = &operation.undoes else { continue };
        let stands = !undone.iter().any(|(id, _)| *id == &operation.id);
        if stands && !undone.iter().any(|(id, _)| *id == target) {
            undone.push((target, &operation.id));
        }
    }
    undone
}

#[cfg(test)]
mod tests;
