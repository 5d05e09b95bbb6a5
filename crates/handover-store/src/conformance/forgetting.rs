//! Cases of records that are taken out of use, and of [`Operations`](crate::Operations).

use handover_model::{
    Action, Edit, NoteState, Operation, OperationId, PackageId, RecordState, SessionId, Standing,
    Trust,
};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{
    ErrorFilter, NewOperation, NoteFilter, OperationFilter, PackageFilter, RecordKind, Store,
    StoreError, StrategyFilter, Supersede, Versions,
};

/// The candidates and the packages that have a word.
fn indexed(store: &dyn Store, session: &SessionId, word: &str) -> (Vec<i64>, Vec<i64>) {
    let candidates = store.candidates(session, None, None).unwrap();
    let lists = store.postings(session, &[word.to_owned()]).unwrap();
    let found = lists[0].list().into_iter().map(|posting| posting.package.0).collect();
    (candidates.into_iter().map(|one| one.id.0).collect(), found)
}

fn sound(store: &dyn Store) {
    for check in store.check().unwrap() {
        assert!(check.problems.is_empty(), "{}: {:?}", check.part, check.problems);
    }
}

/// A retired package leaves the index, keeps its record, and returns as it was.
pub fn a_retired_package_is_in_no_index(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let all: Vec<PackageId> = (0..6)
        .map(|n| {
            let mut new = package(&session, &format!("{n}.md"), "dragons");
            new.group = Some(group_id("g"));
            new.created_at = at(n);
            register(&*store, new).id
        })
        .collect();
    let before = indexed(&*store, &session, "dragon");
    assert_eq!(before.1.len(), 6);
    let gone = [all[1], all[4]];
    let reason = clean("we moved");
    let retired = store.set_package_state(&gone, RecordState::Retired, Some(&reason)).unwrap();
    assert_eq!(retired.iter().map(|one| one.id).collect::<Vec<_>>(), gone);
    for package in &retired {
        assert_eq!(
            (package.state, package.reason.as_deref()),
            (RecordState::Retired, Some("we moved"))
        );
        assert_eq!(store.package(package.id).unwrap(), *package);
        assert_eq!(store.package_body(package.id).unwrap(), "dragons");
    }
    let left: Vec<i64> = all.iter().filter(|id| !gone.contains(id)).map(|id| id.0).collect();
    assert_eq!(indexed(&*store, &session, "dragon"), (left.clone(), left));
    sound(&*store);
    let list = |state| {
        let filter = PackageFilter { state, ..PackageFilter::default() };
        store.packages(&session, &filter).unwrap().len()
    };
    assert_eq!((list(None), list(Some(RecordState::Live))), (6, 4));
    assert_eq!(list(Some(RecordState::Retired)), 2);
    // Again, with another reason, and rebuilding changes nothing.
    store.set_package_state(&gone[..1], RecordState::Retired, None).unwrap();
    store.reindex(None).unwrap();
    assert_eq!(indexed(&*store, &session, "dragon").0.len(), 4);
    let restored = store.set_package_state(&gone, RecordState::Live, None).unwrap();
    assert!(restored.iter().all(|one| one.state == RecordState::Live && one.reason.is_none()));
    assert_eq!(indexed(&*store, &session, "dragon"), before);
    sound(&*store);
    let none = [all[0], PackageId(all[5].0 + 1)];
    let missing = store.set_package_state(&none, RecordState::Retired, None).unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { what: RecordKind::Package, .. }), "{missing}");
    assert_eq!(store.package(all[0]).unwrap().state, RecordState::Live, "all or none");
}

/// The same content stays retired; new content is a new version in use; older versions are in no index anyway.
pub fn a_retired_package_can_be_superseded(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let first = register(&*store, package(&session, "a.md", "dragons")).id;
    store.set_package_state(&[first], RecordState::Retired, None).unwrap();
    let again = store.register_packages(&[package(&session, "a.md", "dragons")]).unwrap();
    assert_eq!((again[0].created, again[0].package.state), (false, RecordState::Retired));
    let second = register(&*store, package(&session, "a.md", "more dragons"));
    assert_eq!((second.version, second.state), (2, RecordState::Live));
    assert_eq!(indexed(&*store, &session, "dragon").1, [second.id.0]);
    store.set_package_state(&[first], RecordState::Live, None).unwrap();
    assert_eq!(indexed(&*store, &session, "dragon").1, [second.id.0]);
    store.set_package_state(&[second.id], RecordState::Retired, None).unwrap();
    let mut named = package(&session, "b.md", "yet more dragons");
    named.supersede = Supersede::Package(second.id);
    let third = register(&*store, named);
    assert_eq!(indexed(&*store, &session, "dragon").1, [third.id.0]);
    let all = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
    assert_eq!(store.packages(&session, &all).unwrap().len(), 3);
    sound(&*store);
}

/// Only retired packages are deleted, with all versions; the others are found as before.
pub fn retired_packages_can_be_deleted(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let in_group = |path: &str, body: &str, seconds| {
        let mut new = package(&session, path, body);
        new.group = Some(group_id("g"));
        new.created_at = at(seconds);
        register(&*store, new).id
    };
    let first = in_group("a.md", "dragons", 1);
    let second = in_group("a.md", "more dragons", 2);
    let other = in_group("b.md", "dragons elsewhere", 3);
    let live = store.delete_packages(&[first, second]).unwrap_err();
    assert!(matches!(live, StoreError::InUse { id } if id == second), "{live}");
    store.set_package_state(&[second], RecordState::Retired, None).unwrap();
    assert_eq!(store.delete_packages(&[first, second]).unwrap(), 2);
    for id in [first, second] {
        assert!(matches!(store.package(id), Err(StoreError::NotFound { .. })));
        assert!(matches!(store.package_body(id), Err(StoreError::NotFound { .. })));
    }
    assert_eq!(indexed(&*store, &session, "dragon"), (vec![other.0], vec![other.0]));
    assert!(matches!(store.delete_packages(&[first]), Err(StoreError::NotFound { .. })));
    sound(&*store);
}

/// Retired strategies and patterns are listed on request, still counted, and return.
pub fn what_was_learned_is_retired(backend: &dyn Backend) {
    let store = backend.open();
    let id = store.learn_strategies(&[strategy("Use adapters", 1)]).unwrap().remove(0).id;
    let hash = store.record_error(&sighting("boom")).unwrap().hash;
    let reason = clean("wrong");
    let retired = RecordState::Retired;
    let gone = store.set_strategy_state(&project(), &id, retired, Some(&reason)).unwrap();
    assert_eq!((gone.state, gone.reason.as_deref()), (retired, Some("wrong")));
    let gone = store.set_error_state(&project(), &hash[..8], retired, Some(&reason)).unwrap();
    assert_eq!((gone.state, gone.reason.as_deref()), (retired, Some("wrong")));
    let again = store.learn_strategies(&[strategy("Use adapters", 2)]).unwrap().remove(0);
    assert_eq!((again.helpfulness, again.state), (2, retired));
    let again = store.record_error(&sighting("boom")).unwrap();
    assert_eq!((again.occurrences, again.state), (2, retired));
    let solved = store.resolve_error(&sighting("boom"), &clean("restart")).unwrap();
    assert_eq!(solved.state, retired);
    let count = |state| {
        let strategies = StrategyFilter { state, ..StrategyFilter::default() };
        let errors = ErrorFilter { state, ..ErrorFilter::default() };
        (
            store.strategies(&project(), &strategies).unwrap().len(),
            store.errors(&project(), &errors).unwrap().len(),
        )
    };
    assert_eq!((count(None), count(Some(RecordState::Live))), ((1, 1), (0, 0)));
    assert_eq!(count(Some(retired)), (1, 1));
    store.set_strategy_state(&project(), &id, RecordState::Live, None).unwrap();
    store.set_error_state(&project(), &hash, RecordState::Live, None).unwrap();
    assert_eq!(count(Some(RecordState::Live)), (1, 1));
    let other = handover_model::ProjectId::new("other").unwrap();
    for outcome in [
        store.set_strategy_state(&other, &id, retired, None).map(drop),
        store.set_strategy_state(&project(), "st_none", retired, None).map(drop),
        store.set_error_state(&other, &hash, retired, None).map(drop),
    ] {
        assert!(matches!(outcome, Err(StoreError::NotFound { .. })), "{outcome:?}");
    }
    sound(&*store);
}

fn operation(id: &str, seconds: i64, changes: serde_json::Value) -> NewOperation {
    NewOperation {
        id: OperationId::new(id).unwrap(),
        project: project(),
        session: None,
        action: Action::Retire,
        changes: clean_json(changes),
        undoes: None,
        trust: Trust::Person,
        author: Some(clean("dashboard")),
        now: at(seconds),
    }
}

fn ids(operations: &[Operation]) -> Vec<&str> {
    operations.iter().map(|one| one.id.as_str()).collect()
}

/// The log reads back completely, newest first, and its old entries can be dropped.
pub fn operations_are_logged(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let list = |filter: &OperationFilter| store.operations(&project(), filter).unwrap();
    assert!(list(&OperationFilter::default()).is_empty());
    let changes = json!([{"of": "strategy", "id": "st_1", "before": {"state": "live"},
        "after": {"state": "retired", "reason": "old"}}]);
    let full = NewOperation {
        session: Some(session.clone()),
        undoes: Some(OperationId::new("op_0").unwrap()),
        action: Action::Undo,
        ..operation("op_2", 2, changes)
    };
    let before = store.feed_span().unwrap().last;
    store.log_operation(&full).unwrap();
    store.log_operation(&operation("op_1", 1, json!([]))).unwrap();
    store.log_operation(&operation("op_3", 2, json!([]))).unwrap();
    let told = store.changes(before, 10).unwrap();
    let told: Vec<_> = told.iter().map(|one| (one.subject.as_str(), one.detail.as_str())).collect();
    assert_eq!(told, [("op_2", "undo"), ("op_1", "retire"), ("op_3", "retire")]);
    let all = list(&OperationFilter::default());
    assert_eq!(ids(&all), ["op_3", "op_2", "op_1"]);
    let standing =
        |state, reason: Option<&str>| Standing { state, reason: reason.map(str::to_owned) };
    let expected = Operation {
        id: full.id,
        project: project(),
        session: Some(session.clone()),
        action: Action::Undo,
        changes: vec![Edit::Strategy {
            id: "st_1".to_owned(),
            before: standing(RecordState::Live, None),
            after: standing(RecordState::Retired, Some("old")),
        }],
        undoes: full.undoes,
        trust: Trust::Person,
        author: Some("dashboard".to_owned()),
        created_at: at(2),
    };
    assert_eq!(all[1], expected);
    assert_eq!(ids(&list(&OperationFilter { since: Some(at(2)), limit: None })), ["op_3", "op_2"]);
    assert_eq!(ids(&list(&OperationFilter { since: None, limit: Some(1) })), ["op_3"]);
    assert_eq!(store.drop_operations(&project(), at(2)).unwrap(), 1);
    assert_eq!(ids(&list(&OperationFilter::default())), ["op_3", "op_2"]);
    store.purge_session(&session).unwrap();
    assert_eq!(ids(&list(&OperationFilter::default())), ["op_3"]);
    sound(&*store);
}

/// A note that is erased leaves nothing in the log.
pub fn erased_notes_leave_the_log(backend: &dyn Backend) {
    let store = backend.open();
    store.learn_notes(&project(), &[unit("docs/a.md", &["one", "two"])], at(1)).unwrap();
    let notes = store.notes(&project(), &NoteFilter::default()).unwrap();
    let retire = |id: &str, note: usize| {
        let changes = json!([{"of": "note", "id": notes[note].id, "before": {"state": "live"},
            "after": {"state": "retired", "reason": "a secret reason"}}]);
        store.log_operation(&operation(id, 1, changes)).unwrap();
    };
    retire("op_1", 0);
    retire("op_2", 1);
    let listed = || {
        let all = store.operations(&project(), &OperationFilter::default()).unwrap();
        ids(&all).iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()
    };
    let purged = store.purge_note(&project(), &notes[0].id, at(2)).unwrap();
    assert_eq!(purged.state, NoteState::Retired);
    assert_eq!(listed(), ["op_2"]);
    store.forget_notes(&project(), notes[1].kind, None, at(3)).unwrap();
    assert!(listed().is_empty());
}
