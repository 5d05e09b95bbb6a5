//! Cases of [`Verdicts`](crate::Verdicts).

use handover_model::{AgentId, GroupId, ReceiptId, SessionId, Verdict, VerdictRecord};

use super::Backend;
use super::fixture::*;
use crate::{NewVerdict, RecordKind, StoreError, VerdictFilter};

fn verdict(session: &SessionId, by: &str, group: Option<GroupId>, summary: &str) -> NewVerdict {
    NewVerdict {
        session: session.clone(),
        group,
        role: role(by),
        agent_id: None,
        iteration: 0,
        receipt: None,
        verdict: Verdict::Failed,
        summary: Some(clean(summary)),
        findings: Vec::new(),
        now: at(0),
        trust: handover_model::Trust::Project,
    }
}

/// Every field reads back as it was recorded.
pub fn reads_back_completely(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let new = NewVerdict {
        agent_id: Some(AgentId::new("a7").unwrap()),
        iteration: 2,
        receipt: Some(ReceiptId::new("r_1").unwrap()),
        verdict: Verdict::Retry,
        findings: vec![clean("src/a.rs: off by one"), clean("no test")],
        now: at(5),
        ..verdict(
            &session,
            "qa_expert",
            Some(group_id("P1")),
            "token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
        )
    };
    let added = store.add_verdict(&new).unwrap();
    let expected = VerdictRecord {
        id: added.id,
        session: session.clone(),
        group: Some(group_id("P1")),
        role: role("qa_expert"),
        agent_id: Some(AgentId::new("a7").unwrap()),
        iteration: 2,
        receipt: Some(ReceiptId::new("r_1").unwrap()),
        verdict: Verdict::Retry,
        summary: Some("token=[REDACTED-1]".to_owned()),
        findings: vec!["src/a.rs: off by one".to_owned(), "no test".to_owned()],
        created_at: at(5),
        trust: handover_model::Trust::Project,
    };
    assert_eq!(added, expected);
    assert_eq!(store.verdicts(&session, &VerdictFilter::default()).unwrap(), [expected]);
}

/// Newest first; by group and role; with a limit.
pub fn newest_first_and_filtered(backend: &dyn Backend) {
    let store = backend.open();
    let s1 = session(&*store, "s1");
    let s2 = session(&*store, "s2");
    for (by, group, summary) in [
        ("developer", Some("P1"), "one"),
        ("qa_expert", Some("P1"), "two"),
        ("qa_expert", None, "three"),
        ("qa_expert", Some("P2"), "four"),
    ] {
        store.add_verdict(&verdict(&s1, by, group.map(group_id), summary)).unwrap();
    }
    let mut none = verdict(&s2, "tech_lead", None, "");
    none.summary = None;
    store.add_verdict(&none).unwrap();
    let listed = |filter: VerdictFilter| -> Vec<String> {
        let found = store.verdicts(&s1, &filter).unwrap();
        found.into_iter().filter_map(|verdict| verdict.summary).collect()
    };
    let all = VerdictFilter::default();
    assert_eq!(listed(all.clone()), ["four", "three", "two", "one"]);
    assert_eq!(listed(VerdictFilter { limit: Some(2), ..all.clone() }), ["four", "three"]);
    let group = VerdictFilter { group: Some(group_id("P1")), ..all.clone() };
    assert_eq!(listed(group.clone()), ["two", "one"]);
    assert_eq!(listed(VerdictFilter { role: Some(role("developer")), ..group }), ["one"]);
    assert_eq!(store.verdicts(&s2, &all).unwrap()[0].summary, None);
    let receipt = ReceiptId::new("r_of_five").unwrap();
    let mut five = verdict(&s1, "qa_expert", None, "five");
    five.receipt = Some(receipt.clone());
    store.add_verdict(&five).unwrap();
    assert_eq!(listed(VerdictFilter { receipt: Some(receipt), ..all }), ["five"]);
}

/// Nothing is recorded for a session that does not exist; a group is created by its first verdict, and
/// purging a session deletes its verdicts.
pub fn belongs_to_its_session(backend: &dyn Backend) {
    let store = backend.open();
    let nobody = session_id("nobody");
    let error = store.add_verdict(&verdict(&nobody, "developer", None, "x")).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { what: RecordKind::Session, .. }));
    assert!(store.verdicts(&nobody, &VerdictFilter::default()).is_err());
    let session = session(&*store, "s1");
    store.add_verdict(&verdict(&session, "developer", Some(group_id("new")), "x")).unwrap();
    assert_eq!(store.groups(&session).unwrap()[0].id, group_id("new"));
    store.purge_session(&session).unwrap();
    assert!(store.verdicts(&session, &VerdictFilter::default()).is_err());
}
