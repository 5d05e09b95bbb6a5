//! Cases of [`Amendments`](crate::Amendments).

use handover_model::{Amendment, AmendmentDecision, ItemKind, ItemRef, ProjectId};

use super::Backend;
use super::fixture::*;

fn decided(earlier: &str, decision: AmendmentDecision, micros: i64) -> Amendment {
    let item = |kind, id: &str| ItemRef { kind, id: id.to_owned() };
    Amendment {
        project: project(),
        earlier: item(ItemKind::Note, earlier),
        later: item(ItemKind::Package, "7"),
        decision,
        decided_at: at(micros),
    }
}

/// The last decision about two statements counts, in their project only.
pub fn the_last_decision_counts(backend: &dyn Backend) {
    let store = backend.open();
    let confirmed = decided("doc-1", AmendmentDecision::Confirmed, 1);
    let other = decided("doc-2", AmendmentDecision::Rejected, 2);
    for one in [&confirmed, &other] {
        store.decide_amendment(one).unwrap();
    }
    assert_eq!(store.amendments(&project()).unwrap(), [other.clone(), confirmed]);
    let rejected = decided("doc-1", AmendmentDecision::Rejected, 3);
    store.decide_amendment(&rejected).unwrap();
    assert_eq!(store.amendments(&project()).unwrap(), [rejected, other]);
    assert_eq!(store.amendments(&ProjectId::new("other").unwrap()).unwrap(), []);
}

/// Pages that show replacements reload after a decision.
pub fn a_decision_is_reported(backend: &dyn Backend) {
    let store = backend.open();
    let before = store.feed_span().unwrap().last;
    store.decide_amendment(&decided("doc-1", AmendmentDecision::Confirmed, 1)).unwrap();
    store.decide_amendment(&decided("doc-1", AmendmentDecision::Rejected, 2)).unwrap();
    let changes = store.changes(before, 10).unwrap();
    let details: Vec<&str> = changes.iter().map(|change| change.detail.as_str()).collect();
    assert_eq!(details, ["confirmed", "rejected"]);
}
