//! What every method returns for missing records: the same error in every backend, naming the kind of
//! record and the id.

use handover_model::{
    AgentId, Host, HostSessionId, PackageId, Phase, ReceiptId, Role, RunId, SessionStatus, TokenId,
    ToolUseId,
};

use super::Backend;
use super::fixture::*;
use super::runs::{claim, started};
use crate::{
    EventFilter, GroupUpdate, Judgement, PackageFilter, ReasoningFilter, ReceiptFilter,
    ReceiptStep, RecordKind, Result, RunFilter, SkillOutputFilter, StoreError,
};

#[track_caller]
fn is_missing<T: std::fmt::Debug>(outcome: Result<T>, expected: RecordKind, name: &str) {
    match outcome {
        Err(StoreError::NotFound { what, id }) => assert_eq!((what, &*id), (expected, name)),
        other => panic!("expected no {expected}, got {other:?}"),
    }
}

/// Reading and writing in a session that was never opened.
pub fn a_session(backend: &dyn Backend) {
    let store = backend.open();
    let none = session_id("none");
    let role = role("developer");
    #[track_caller]
    fn check<T: std::fmt::Debug>(outcome: Result<T>) {
        is_missing(outcome, RecordKind::Session, "none");
    }
    check(store.session(&none));
    check(store.session_counts(&none));
    check(store.set_session_status(&none, SessionStatus::Completed, at(1)));
    check(store.purge_session(&none));
    check(store.groups(&none));
    check(store.group(&none, &group_id("g")));
    check(store.set_group(&GroupUpdate::new(none.clone(), group_id("g"), at(1))));
    check(store.register_packages(&[package(&none, "a.md", "x")]));
    check(store.packages(&none, &PackageFilter::default()));
    check(store.outlines(&none, None));
    check(store.slice(&none, None, None, 0, 10).map(|_| ()));
    check(store.add_reasoning(&reasoning(&none, Phase::Risks, "x")));
    check(store.reasoning(&none, &ReasoningFilter::default()));
    check(store.save_skill_output(&skill_output(&none, "scan")));
    check(store.skill_outputs(&none, &SkillOutputFilter::default()));
    check(store.log_event(&event(&none, "delivery", None)));
    check(store.events(&none, &EventFilter::default()));
    check(store.put_receipt(&receipt(&none, "r1", &[])));
    check(store.handed(&none));
    check(store.handed_by(&none, &[]));
    check(store.deliveries(&none, None, &role, at(1)));
    check(store.consumed(&none, None, &role, 0, at(1)));
    check(store.postings(&none, &["word".to_owned()]).map(|_| ()));
    check(store.reindex(Some(&none)));
    assert!(store.sessions(None).unwrap().is_empty(), "nothing was created on the way");
}

/// A group that was never named.
pub fn a_group(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    is_missing(store.group(&session, &group_id("g")), RecordKind::Group, "g");
}

/// Packages that were never registered, alone and among others.
pub fn a_package(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let known = register(&*store, package(&session, "a.md", "x")).id;
    let none = PackageId(known.0 + 1);
    #[track_caller]
    fn check<T: std::fmt::Debug>(none: PackageId, outcome: Result<T>) {
        is_missing(outcome, RecordKind::Package, &none.to_string());
    }
    check(none, store.package(none));
    check(none, store.package_history(none));
    check(none, store.package_body(none));
    check(none, store.packages_by_id(&[known, none]));
    check(none, store.package_bodies(&[known, none]));
    check(none, store.package_deliveries(none));
    let mut new = package(&session, "b.md", "y");
    new.supersede = crate::Supersede::Package(none);
    check(none, store.register_packages(&[new]));
    assert_eq!(store.packages(&session, &PackageFilter::default()).unwrap().len(), 1);
}

/// Receipts that were never written, and packages that a receipt does not list.
pub fn a_receipt(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let known = register(&*store, package(&session, "a.md", "x")).id;
    let none = ReceiptId::new("r_none").unwrap();
    #[track_caller]
    fn check<T: std::fmt::Debug>(outcome: Result<T>) {
        is_missing(outcome, RecordKind::Receipt, "r_none");
    }
    check(store.receipt(&none));
    check(store.claim_receipt(&none, at(1)));
    check(store.mark_read(&none, known, at(1)));
    check(store.mark_used(&none, &[]));
    for step in [
        ReceiptStep::Delivered { host: None },
        ReceiptStep::Confirmed,
        ReceiptStep::Failed { reason: clean("x") },
    ] {
        check(store.advance_receipt(&none, &step, at(1)));
    }
    store.put_receipt(&receipt(&session, "r1", &[])).unwrap();
    let r1 = ReceiptId::new("r1").unwrap();
    is_missing(store.mark_read(&r1, known, at(1)), RecordKind::ReceiptPackage, &known.to_string());
}

/// Runs, their journals and their jobs.
pub fn a_run(backend: &dyn Backend) {
    let store = backend.open();
    let none = RunId::new("run_none").unwrap();
    is_missing(store.run_record(&none), RecordKind::Run, "run_none");
    is_missing(store.journal(&none, 1), RecordKind::Run, "run_none");
    assert!(store.runs(&RunFilter { epic: None, limit: None }).unwrap().is_empty());
    // An existing run does not make another one known.
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    started(&*store, "run_1", "1", fence, 0);
    is_missing(store.run_record(&none), RecordKind::Run, "run_none");
}

/// What a project has not learned, and what another one has.
pub fn something_learned(backend: &dyn Backend) {
    let store = backend.open();
    let pattern = store.record_error(&sighting("boom")).unwrap();
    let other = handover_model::ProjectId::new("other").unwrap();
    for (project, hash) in [(&project(), "feedfacefeedface"), (&other, pattern.hash.as_str())] {
        let missing = RecordKind::ErrorPattern;
        is_missing(store.error_incidents(project, hash), missing, hash);
        assert!(store.error_trust(project, hash).unwrap().is_empty());
        is_missing(store.judge_error(project, hash, Judgement::Confirmed, at(1)), missing, hash);
    }
    let none = handover_model::NoteId::new("n_none").unwrap();
    is_missing(store.note(&project(), &none), RecordKind::Note, "n_none");
    is_missing(store.purge_note(&project(), &none, at(1)), RecordKind::Note, "n_none");
    let live = handover_model::NoteState::Live;
    let set = store.set_note_state(&project(), &none, live, None, at(1));
    is_missing(set, RecordKind::Note, "n_none");
    is_missing(store.strategy_helped("insight_none", at(1)), RecordKind::Strategy, "insight_none");
}

/// Hosts and tokens return nothing instead of an error where a miss is normal.
pub fn where_a_miss_is_normal(backend: &dyn Backend) {
    let store = backend.open();
    let conversation = HostSessionId::new("c_none").unwrap();
    let agent = AgentId::new("a_none").unwrap();
    assert_eq!(store.bound_session(Host::CLAUDE, &conversation).unwrap(), None);
    assert!(store.open_tickets(Host::CLAUDE, &conversation).unwrap().is_empty());
    assert_eq!(store.ticket_of(Host::CLAUDE, &agent).unwrap(), None);
    assert!(store.tickets(Host::CLAUDE, &conversation).unwrap().is_empty());
    assert!(store.unsettled_tickets(Host::CLAUDE, at(1)).unwrap().is_empty());
    let call = ToolUseId::new("toolu_none").unwrap();
    assert_eq!(store.ticket_of_call(Host::CLAUDE, &conversation, &call).unwrap(), None);
    let receipt = ReceiptId::new("r_none").unwrap();
    assert!(!store.take_ticket(&receipt, &agent).unwrap());
    assert!(!store.bind_ticket(&receipt, &agent).unwrap());
    assert!(!store.end_ticket(&receipt, "hash", at(1)).unwrap());
    assert!(!store.ask_ticket(&receipt).unwrap());
    assert!(!store.close_ticket(&receipt, at(1)).unwrap());
    assert!(store.receipts(&ReceiptFilter::default()).unwrap().is_empty());
    assert!(store.changes(0, 10).unwrap().is_empty());
    let token = TokenId::new("t_none").unwrap();
    is_missing(store.token(&token), RecordKind::Token, "t_none");
    let role = Role::new("developer").unwrap();
    let session = session(&*store, "s1");
    assert_eq!(store.deliveries(&session, Some(&group_id("g")), &role, at(1)).unwrap(), 0);
    assert!(store.consumed(&session, None, &role, 7, at(1)).unwrap().is_empty());
}
