//! Cases of [`Reasonings`](crate::Reasonings).

use handover_model::{AgentId, Confidence, Phase};

use super::Backend;
use super::fixture::*;
use crate::{ReasoningFilter, RecordKind, StoreError, TimeOrder};

/// By group, role, phase; both directions; total order within one moment.
pub fn filters_and_order(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut first = reasoning(
        &session,
        Phase::Understanding,
        "one, token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
    );
    first.agent_id = Some(AgentId::new("agent-7").unwrap());
    first.confidence = Some(Confidence::High);
    first.references = vec![clean("src/a.rs")];
    first.iteration = 3;
    let kept = store.add_reasoning(&first).unwrap();
    assert_eq!(kept.content, "one, token=[REDACTED-1]");
    assert_eq!(kept.references, ["src/a.rs"]);
    assert_eq!((kept.iteration, kept.confidence), (3, Some(Confidence::High)));
    store.add_reasoning(&reasoning(&session, Phase::Completion, "two")).unwrap();
    let mut third = reasoning(&session, Phase::Completion, "three");
    third.role = role("qa_expert");
    third.group = Some(group_id("P1"));
    store.add_reasoning(&third).unwrap();

    let contents = |filter: ReasoningFilter| -> Vec<String> {
        let found = store.reasoning(&session, &filter).unwrap();
        found.into_iter().map(|r| r.content.chars().take(5).collect()).collect()
    };
    assert_eq!(contents(ReasoningFilter::default()), ["three", "two", "one, "]);
    let oldest = ReasoningFilter { order: TimeOrder::OldestFirst, ..Default::default() };
    assert_eq!(contents(oldest), ["one, ", "two", "three"]);
    let page = |skip, limit| ReasoningFilter { skip, limit, ..Default::default() };
    assert_eq!(contents(page(1, Some(1))), ["two"]);
    assert_eq!(contents(page(2, None)), ["one, "]);
    assert!(contents(page(3, Some(9))).is_empty());
    let phase = ReasoningFilter { phase: Some(Phase::Completion), ..Default::default() };
    assert_eq!(contents(phase), ["three", "two"]);
    let by =
        ReasoningFilter { role: Some(role("developer")), limit: Some(1), ..Default::default() };
    assert_eq!(contents(by), ["two"]);
    let group = ReasoningFilter { group: Some(group_id("P1")), ..Default::default() };
    assert_eq!(contents(group), ["three"]);
}

/// Nothing is recorded for a session that does not exist.
pub fn unknown_session_is_refused(backend: &dyn Backend) {
    let store = backend.open();
    let nobody = session_id("nobody");
    let error = store.add_reasoning(&reasoning(&nobody, Phase::Risks, "x")).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { what: RecordKind::Session, .. }));
    assert!(store.reasoning(&nobody, &ReasoningFilter::default()).is_err());
}
