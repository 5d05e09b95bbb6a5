//! Cases of [`ErrorPatterns`](crate::ErrorPatterns).

use handover_model::ProjectId;
use handover_model::learn::Trust;

use super::Backend;
use super::fixture::*;
use crate::{ErrorFilter, Judgement, StoreError};

/// The same error with other numbers and paths is the same pattern.
pub fn sightings_count(backend: &dyn Backend) {
    let store = backend.open();
    let first = store.record_error(&sighting("cannot open /a/b.txt: line 3")).unwrap();
    assert_eq!((first.occurrences, first.confidence, first.solution), (1, Trust::START, None));
    let mut later = sighting("cannot open /c/d/e.rs: line 99");
    later.now = at(60);
    later.language = Some(clean("rust"));
    let second = store.record_error(&later).unwrap();
    assert_eq!(second.hash, first.hash);
    assert_eq!((second.occurrences, second.confidence), (2, Trust::START));
    assert_eq!((second.first_seen, second.last_seen), (at(0), at(60)));
    assert_eq!(second.language.as_deref(), Some("rust"));
    let secret = store.record_error(&sighting("login failed for password=correct-horse")).unwrap();
    assert!(!secret.signature.message.contains("correct-horse"));
}

/// A solved failure starts a solution; solving it again confirms it. Each counts as a sighting.
pub fn the_first_solution_starts_and_later_ones_confirm(backend: &dyn Backend) {
    let store = backend.open();
    store.record_error(&sighting("boom")).unwrap();
    let mut trust = Vec::new();
    for _ in 0..7 {
        let pattern = store.resolve_error(&sighting("boom"), &clean("restart it")).unwrap();
        assert_eq!(pattern.solution.as_deref(), Some("restart it"));
        trust.push(pattern.confidence.to_string());
    }
    assert_eq!(trust, ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0", "1.0"]);
    assert_eq!(store.errors(&project(), &ErrorFilter::default()).unwrap()[0].occurrences, 8);
    let fresh = store.resolve_error(&sighting("never recorded"), &clean("s")).unwrap();
    assert_eq!((fresh.occurrences, fresh.confidence), (1, Trust::START));
}

/// +0.1 up to 1.0, −0.2 down to 0.1; only a confirmation keeps it alive.
pub fn judging_moves_trust_within_its_bounds(backend: &dyn Backend) {
    let store = backend.open();
    let hash = store.resolve_error(&sighting("boom"), &clean("x")).unwrap().hash;
    let judge =
        |verdict, seconds| store.judge_error(&project(), &hash, verdict, at(seconds)).unwrap();
    for expected in ["0.3", "0.1", "0.1"] {
        let pattern = judge(Judgement::Rejected, 50);
        assert_eq!((pattern.confidence.to_string().as_str(), pattern.last_seen), (expected, at(0)));
    }
    for _ in 0..12 {
        judge(Judgement::Confirmed, 60);
    }
    let pattern = judge(Judgement::Confirmed, 60);
    assert_eq!((pattern.confidence, pattern.last_seen), (Trust::MAX, at(60)));
    assert_eq!(pattern.occurrences, 1);
    let trust = store.error_trust(&project(), &hash).unwrap();
    assert_eq!(trust.last().unwrap().confidence, Trust::MAX);
    assert!(trust.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(store.error_trust(&project(), "none").unwrap().is_empty());
}

/// No solution is lost; the most used one is shown.
pub fn the_most_frequent_solution_is_shown(backend: &dyn Backend) {
    let store = backend.open();
    let resolve = |solution: &str, seconds| {
        let mut seen = sighting("boom");
        seen.now = at(seconds);
        store.resolve_error(&seen, &clean(solution)).unwrap().solution.unwrap()
    };
    assert_eq!(resolve("a", 1), "a");
    assert_eq!(resolve("b", 2), "b");
    assert_eq!(resolve("a", 3), "a");
    assert_eq!(resolve("b", 4), "b");
    assert_eq!(resolve("c", 5), "b");
}

/// A pattern that was not seen for its time to live disappears from recall.
pub fn old_patterns_are_not_recalled(backend: &dyn Backend) {
    let store = backend.open();
    let day = 86_400;
    store.record_error(&sighting("boom")).unwrap();
    let count = |seconds| {
        let filter = ErrorFilter { live_at: Some(at(seconds)), ..Default::default() };
        store.errors(&project(), &filter).unwrap().len()
    };
    assert_eq!((count(90 * day), count(90 * day + 1)), (1, 0));
    assert_eq!(store.errors(&project(), &ErrorFilter::default()).unwrap().len(), 1);
}

/// Projects do not see each other's patterns.
pub fn projects_do_not_mix(backend: &dyn Backend) {
    let store = backend.open();
    let hash = store.record_error(&sighting("boom")).unwrap().hash;
    let other = ProjectId::new("other").unwrap();
    assert_eq!(store.errors(&other, &ErrorFilter::default()).unwrap(), []);
    assert!(store.judge_error(&other, &hash, Judgement::Confirmed, at(0)).is_err());
    let mut seen = sighting("boom");
    seen.project = other.clone();
    assert_eq!(store.record_error(&seen).unwrap().occurrences, 1);
    seen.language = Some(clean("rust"));
    store.record_error(&seen).unwrap();
    let python = ErrorFilter { language: Some("python".to_owned()), ..Default::default() };
    assert_eq!(store.errors(&other, &python).unwrap().len(), 0);
    let above = ErrorFilter { above: Some(Trust::START), ..Default::default() };
    assert_eq!(store.errors(&project(), &above).unwrap().len(), 0);
}

/// A prefix of a hash is enough if it matches one pattern.
pub fn hashes_may_be_shortened(backend: &dyn Backend) {
    let store = backend.open();
    for n in 0..40 {
        // Letters, because numbers are not part of a signature.
        let name: String = (0..=n).map(|_| 'x').collect();
        store.record_error(&sighting(&format!("error {name}"))).unwrap();
    }
    let all = store.errors(&project(), &ErrorFilter::default()).unwrap();
    let judge = |hash: &str| store.judge_error(&project(), hash, Judgement::Confirmed, at(0));
    assert_eq!(judge(&all[0].hash[..12]).unwrap().hash, all[0].hash);
    assert!(matches!(judge(""), Err(StoreError::Ambiguous { count: 40, .. })));
    assert!(matches!(judge("zz"), Err(StoreError::NotFound { .. })));
}

/// Role, group, session and command of each sighting are stored.
pub fn sightings_keep_their_circumstances(backend: &dyn Backend) {
    let store = backend.open();
    let mut seen = sighting("boom");
    seen.session = Some(session(&*store, "s1"));
    seen.group = Some(group_id("P1"));
    seen.role = Some(role("developer"));
    seen.command = Some(clean("cargo test --password=correct-horse"));
    let hash = store.record_error(&seen).unwrap().hash;
    let incidents = store.error_incidents(&project(), &hash).unwrap();
    assert_eq!(incidents.len(), 1);
    assert_eq!(incidents[0].command.as_deref(), Some("cargo test --password=[REDACTED-1]"));
    assert_eq!(incidents[0].session, Some(session_id("s1")));
    seen.session = Some(session_id("nobody"));
    assert!(store.record_error(&seen).is_err());
    assert_eq!(store.error_incidents(&project(), &hash).unwrap().len(), 1);
}
