//! Undoing: every record gets the state that it had before the operation, if it still has the one that the
//! operation gave it. Nothing is deleted: what was added is retired, and an old version of a package becomes its
//! newest one. The undoing is an operation itself, so it can be undone.

use handover_model::{
    Action, Amendment, AmendmentDecision, Edit, Operation, OperationId, Package, PackageId,
    RecordState, SessionId, Standing,
};
use handover_store::{OperationFilter, RecordKind, Registered, Store, StoreError};

use super::{
    ByHand, ByHandError, Result, note_standing, one, session_standing, standing, transaction,
    undone,
};

impl ByHand<'_> {
    /// Undoes an operation, named by its id or a part of it; without a name, the newest one that stands. Returns
    /// the operation that was undone, and the one that undid it.
    pub fn undo(&self, name: Option<&str>) -> Result<(Operation, Operation)> {
        transaction(self.store, |store| {
            let all = store.operations(self.project, &OperationFilter::default())?;
            let target = pick(&all, name)?;
            let by = undone(&all).into_iter().find(|(id, _)| *id == &target.id);
            if let Some((_, by)) = by {
                return Err(ByHandError::AlreadyUndone { id: target.id.clone(), by: by.clone() });
            }
            let edits = Undoing { by_hand: self, store, all: &all, target: &target }.run()?;
            let session = session_of(store, &target)?;
            let undoes = Some(target.id.clone());
            self.log(store, Action::Undo, session.clone(), edits.clone(), undoes.clone())?;
            let done = Operation {
                id: self.id.clone(),
                project: self.project.clone(),
                session,
                action: Action::Undo,
                changes: edits,
                undoes,
                trust: self.trust,
                author: self.author.clone(),
                created_at: self.now,
            };
            Ok((target, done))
        })
    }
}

/// The session of an operation, unless it was purged.
fn session_of(store: &dyn Store, operation: &Operation) -> Result<Option<SessionId>> {
    let Some(session) = &operation.session else { return Ok(None) };
    match store.session(session) {
        Ok(session) => Ok(Some(session.id)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The operation that is meant. `all` is newest first.
fn pick(all: &[Operation], name: Option<&str>) -> Result<Operation> {
    if let Some(name) = name {
        return super::named(RecordKind::Operation, name, all.to_vec(), |operation| {
            operation.id.as_str()
        });
    }
    let undone = undone(all);
    let stands = |operation: &&Operation| {
        operation.action != Action::Undo && !undone.iter().any(|(id, _)| *id == &operation.id)
    };
    all.iter().find(stands).cloned().ok_or(ByHandError::NothingToUndo)
}

/// An operation that is being undone.
struct Undoing<'a> {
    by_hand: &'a ByHand<'a>,
    store: &'a dyn Store,
    /// Newest first.
    all: &'a [Operation],
    target: &'a Operation,
}

impl Undoing<'_> {
    /// Restores every record; returns what that changed.
    fn run(&self) -> Result<Vec<Edit>> {
        let mut inverse = Vec::new();
        // Packages that return together are indexed once.
        let mut packages: Vec<(Standing<RecordState>, Vec<PackageId>)> = Vec::new();
        for edit in self.target.changes.iter().rev() {
            if let Edit::Package { id, before, after } = edit {
                let found = self.found(edit, self.store.package(*id))?;
                if standing(&found) != *after || self.is_superseded_since(&found)? {
                    return Err(self.changed(edit));
                }
                match packages.iter_mut().find(|(standing, _)| standing == before) {
                    Some((_, ids)) => ids.push(*id),
                    None => packages.push((before.clone(), vec![*id])),
                }
                let (before, after) = (after.clone(), before.clone());
                inverse.push(Edit::Package { id: *id, before, after });
            } else {
                inverse.push(self.restore(edit)?);
            }
        }
        for (Standing { state, reason }, ids) in packages {
            let reason = reason.map(|reason| self.by_hand.redactor.clean(&reason));
            self.store.set_package_state(&ids, state, reason.as_ref())?;
        }
        Ok(inverse)
    }

    fn restore(&self, edit: &Edit) -> Result<Edit> {
        let ByHand { project, redactor, now, .. } = self.by_hand;
        let store = self.store;
        let clean =
            |reason: &Option<String>| reason.as_deref().map(|reason| redactor.clean(reason));
        Ok(match edit {
            Edit::Note { id, before, after } => {
                self.expect(edit, after, store.note(project, id).map(|note| note_standing(&note)))?;
                let reason = clean(&before.reason);
                store.set_note_state(project, id, before.state, reason.as_ref(), *now)?;
                Edit::Note { id: id.clone(), before: after.clone(), after: before.clone() }
            }
            Edit::Strategy { id, before, after } => {
                let found = self.by_hand.strategy(store, id);
                self.expect(edit, after, found.map(|found| standing(&found)))?;
                let reason = clean(&before.reason);
                store.set_strategy_state(project, id, before.state, reason.as_ref())?;
                Edit::Strategy { id: id.clone(), before: after.clone(), after: before.clone() }
            }
            Edit::Error { id, before, after } => {
                let all = store.errors(project, &Default::default())?;
                let found = all.iter().find(|pattern| pattern.hash == *id).map(standing);
                let unknown =
                    ByHandError::Unknown { what: RecordKind::ErrorPattern, name: id.clone() };
                self.expect(edit, after, found.ok_or(unknown))?;
                let reason = clean(&before.reason);
                store.set_error_state(project, id, before.state, reason.as_ref())?;
                Edit::Error { id: id.clone(), before: after.clone(), after: before.clone() }
            }
            Edit::Session { id, before, after } => {
                let found = self.found(edit, store.session(id))?;
                if !session_standing(&found).matches(after) {
                    return Err(self.changed(edit));
                }
                // A session that is closed again ended when it ended.
                store.set_session_status(id, before.status, before.ended_at.unwrap_or(*now))?;
                Edit::Session { id: id.clone(), before: *after, after: *before }
            }
            Edit::Decision { earlier, later, before, after } => {
                let all = store.amendments(project)?;
                let same = |one: &&Amendment| one.earlier == *earlier && one.later == *later;
                let found =
                    all.iter().find(same).map_or(AmendmentDecision::Open, |one| one.decision);
                if found != *after {
                    return Err(self.changed(edit));
                }
                store.decide_amendment(&Amendment {
                    project: (*project).clone(),
                    earlier: earlier.clone(),
                    later: later.clone(),
                    decision: *before,
                    decided_at: *now,
                })?;
                let (earlier, later) = (earlier.clone(), later.clone());
                Edit::Decision { earlier, later, before: *after, after: *before }
            }
            Edit::Version { id, former } => {
                let new = self.revert(edit, *id, *former)?;
                Edit::Version { id: new, former: *id }
            }
            // They are restored together.
            Edit::Package { .. } => edit.clone(),
        })
    }

    /// Registers the text of an earlier version as the newest one.
    fn revert(&self, edit: &Edit, id: PackageId, former: PackageId) -> Result<PackageId> {
        let package = self.found(edit, self.store.package(id))?;
        let old = self.found(edit, self.store.package(former))?;
        if package.superseded_by.is_some() || package.state != RecordState::Live {
            return Err(self.changed(edit));
        }
        let body = self.store.package_body(former)?;
        let new = self.by_hand.again(&old, &body, id);
        let Registered { package, .. } = one(self.store.register_packages(&[new])?)?;
        Ok(package.id)
    }

    /// Whether a package got a newer version after the operation.
    fn is_superseded_since(&self, package: &Package) -> Result<bool> {
        let Some(next) = package.superseded_by else { return Ok(false) };
        Ok(self.store.package(next)?.created_at > self.target.created_at)
    }

    /// Fails unless a record is as the operation left it.
    fn expect<S: PartialEq, E: Into<ByHandError>>(
        &self,
        edit: &Edit,
        after: &S,
        found: Result<S, E>,
    ) -> Result<()> {
        match self.found(edit, found)? == *after {
            true => Ok(()),
            false => Err(self.changed(edit)),
        }
    }

    fn found<T, E: Into<ByHandError>>(&self, edit: &Edit, found: Result<T, E>) -> Result<T> {
        found.map_err(|error| {
            let error = error.into();
            match error.code() {
                "not_found" => {
                    ByHandError::Gone { id: self.target.id.clone(), subject: edit.subject() }
                }
                _ => error,
            }
        })
    }

    fn changed(&self, edit: &Edit) -> ByHandError {
        ByHandError::ChangedSince {
            id: self.target.id.clone(),
            subject: edit.subject(),
            by: self.later(edit),
        }
    }

    /// The newest operation since then that changed the same record, or undid such a change, and stands.
    fn later(&self, edit: &Edit) -> Option<OperationId> {
        let later: Vec<&Operation> =
            self.all.iter().take_while(|operation| operation.id != self.target.id).collect();
        let mut touching: Vec<&OperationId> = Vec::new();
        for operation in later.into_iter().rev() {
            let undoes = operation.undoes.as_ref();
            if operation.changes.iter().any(|other| other.touches(edit))
                || undoes.is_some_and(|id| touching.contains(&id))
            {
                touching.push(&operation.id);
            }
        }
        let undone = undone(self.all);
        touching.retain(|id| !undone.iter().any(|(other, _)| other == id));
        touching.last().map(|id| (*id).clone())
    }
}
