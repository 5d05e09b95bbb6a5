//! The JSON of every record, written out: the service, exports and other versions read it.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// A record is read from this JSON and writes exactly the same; every field except the optional ones is
/// required.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: Value, optional: &[&str]) {
    let record: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&record).unwrap(), json);
    for (field, value) in json.as_object().unwrap() {
        let mut without = json.clone();
        without.as_object_mut().unwrap().remove(field);
        let read = serde_json::from_value::<T>(without);
        let may_miss = optional.contains(&field.as_str());
        assert_eq!(read.is_ok(), may_miss || value.is_null(), "without {field}: {read:?}");
    }
}

const TIME: &str = "2026-11-15T10:00:00.000Z";

#[test]
fn sessions_and_groups() {
    check::<Session>(
        json!({
            "id": "s1", "project": "p", "status": "active", "metadata": {"a": [1, null]},
            "created_at": TIME, "ended_at": null,
        }),
        &[],
    );
    check::<SessionCounts>(
        json!({
            "groups": 1, "packages": 2, "package_versions": 3, "reasoning": 4, "skill_outputs": 5,
            "events": 6, "receipts": 7,
        }),
        &[],
    );
    check::<Group>(
        json!({
            "session": "s1", "id": "P1", "title": "Login", "status": "approved_pending_merge",
            "references": [3, 4], "specializations": ["react"], "component": "apps/web",
            "counters": {"qa_attempts": 2}, "created_at": TIME,
        }),
        &["title", "component"],
    );
}

#[test]
fn packages_and_deliveries() {
    check::<Package>(
        json!({
            "id": 7, "session": "s1", "group": "P1", "scope": "group", "kind": "handoff",
            "path": "docs/a.md", "title": null, "summary": "Use them.", "files": ["src/a.rs"],
            "producer": "tech_lead", "consumers": ["developer"], "priority": "critical",
            "iteration": 1, "version": 3, "supersedes": 5, "superseded_by": null, "size_bytes": 10,
            "tokens": 3, "content_hash": "h", "created_at": TIME, "trust": "project",
            "state": "retired", "reason": "we moved",
        }),
        &["group", "iteration", "supersedes", "state", "reason"],
    );
    check::<Delivery>(
        json!({
            "receipt": "r_1", "group": null, "role": "developer", "iteration": 0, "version": 1,
            "state": "delivered", "read_at": null, "delivered_at": TIME,
        }),
        &[],
    );
}

#[test]
fn reasoning_events_and_skill_outputs() {
    check::<Reasoning>(
        json!({
            "id": 1, "session": "s1", "group": null, "role": "qa_expert", "agent_id": "a1",
            "iteration": 2, "phase": "blockers", "confidence": "low", "content": "no access",
            "references": ["src/a.rs"], "created_at": TIME, "trust": "agent",
        }),
        &["agent_id", "confidence"],
    );
    check::<Event>(
        json!({
            "id": 1, "session": "s1", "group": null, "type": "delivery", "payload": {"n": 1.5},
            "key": "k", "created_at": TIME,
        }),
        &["key"],
    );
    check::<SkillOutput>(
        json!({
            "id": 1, "session": "s1", "skill": "lint", "role": null, "group": "P1", "iteration": 1,
            "output": ["x"], "created_at": TIME,
        }),
        &["group"],
    );
}

#[test]
fn what_is_learned() {
    check::<ErrorPattern>(
        json!({
            "project": "p", "hash": "h", "signature": {"type": "error", "message": "boom", "hints": []},
            "example": "boom", "solution": "restart", "confidence": 0.7, "occurrences": 2, "language": null,
            "first_seen": TIME, "last_seen": TIME, "ttl_days": 90, "trust": "outside",
            "state": "live",
        }),
        &["example", "solution", "state"],
    );
    check::<ErrorIncident>(
        json!({
            "hash": "h", "session": "s1", "group": "P1", "role": "developer", "command": "make",
            "created_at": TIME,
        }),
        &["session", "group", "role", "command"],
    );
    check::<Strategy>(
        json!({
            "id": "st_1", "project": "p", "topic": "methodology", "insight": "Ask first.",
            "helpfulness": 3, "language": "rust", "framework": null, "created_at": TIME,
            "last_seen": TIME, "trust": "agent", "state": "live",
        }),
        &["language", "state"],
    );
}

#[test]
fn operations() {
    check::<Operation>(
        json!({
            "id": "op_1", "project": "p", "session": "s1", "action": "undo", "undoes": "op_0",
            "trust": "person", "created_at": TIME,
            "changes": [
                {"of": "package", "id": 3, "before": {"state": "live"}, "after": {"state": "retired", "reason": "old"}},
                {"of": "note", "id": "doc-1", "before": {"state": "amended", "reason": "by x"}, "after": {"state": "live"}},
                {"of": "strategy", "id": "st_1", "before": {"state": "live"}, "after": {"state": "retired"}},
                {"of": "error", "id": "0af3", "before": {"state": "live"}, "after": {"state": "retired"}},
                {"of": "session", "id": "s1", "before": {"status": "active"}, "after": {"status": "failed", "ended_at": 1_700_000_000_123_456_i64}},
                {"of": "version", "id": 4, "former": 3},
            ],
        }),
        &["session", "undoes"],
    );
}

#[test]
fn edits_touch_the_same_record() {
    let edit = |json: Value| serde_json::from_value::<Edit>(json).unwrap();
    let state = |of: &str, id: Value| {
        edit(
            json!({"of": of, "id": id, "before": {"state": "live"}, "after": {"state": "retired"}}),
        )
    };
    let version = edit(json!({"of": "version", "id": 4, "former": 3}));
    for id in [3, 4] {
        assert!(version.touches(&state("package", json!(id))));
        assert!(state("package", json!(id)).touches(&version));
    }
    assert!(!version.touches(&state("package", json!(5))));
    assert!(state("strategy", json!("a")).touches(&state("strategy", json!("a"))));
    assert!(!state("strategy", json!("a")).touches(&state("error", json!("a"))));
    assert!(!state("package", json!(1)).touches(&state("note", json!("1"))));
}

#[test]
fn runs_and_their_journal() {
    check::<Run>(
        json!({
            "id": "run-1", "epic": "1", "session": "s1", "state": "interrupted", "created_at": TIME,
            "updated_at": TIME,
        }),
        &[],
    );
    check::<JournalEntry>(
        json!({"seq": 1, "kind": "intent", "entry": {"effect": "x"}, "created_at": TIME}),
        &[],
    );
    check::<LockOwner>(
        json!({"host": "machine", "pid": 12, "started": 34, "boot": "b"}),
        &["started", "boot"],
    );
}

#[test]
fn hosts_tokens_and_changes() {
    check::<Ticket>(
        json!({
            "receipt": "r_1", "host": "claude", "host_session": "c-1", "agent_type": "developer",
            "name": null, "tool_use": null, "task_hash": "h", "task": null, "way": "hold_back", "agent": null,
            "asked": true, "ending": null, "created_at": TIME, "closed_at": null,
        }),
        &[],
    );
    check::<HostVersion>(
        json!({"host": "codex", "version": "1.2", "drops_rewrites": false, "seen_at": TIME}),
        &[],
    );
    check::<Token>(
        json!({
            "id": "t1", "name": "laptop", "kind": "login", "scope": "admin", "project": null,
            "hash": "h", "created_at": TIME, "expires_at": null, "ended_at": null,
        }),
        &["name"],
    );
    check::<Change>(
        json!({
            "id": 1, "kind": "journal", "project": "p", "session": null, "subject": "run-1",
            "detail": "", "at": TIME,
        }),
        &[],
    );
}

#[test]
fn receipts() {
    check::<Receipt>(
        json!({
            "id": "r_1", "session": "s1", "group": null, "role": "developer", "iteration": 0,
            "model": null, "tokenizer": "o200k", "zone": "normal", "state": "confirmed", "host": null,
            "tokens": 12, "prompt_hash": "h",
            "sections": [{"name": "context", "budget": 10, "used": 9}],
            "items": [{
                "kind": "package", "id": "7", "version": 2, "form": "pointer", "score": 1.5,
                "terms": {"task": 1.5}, "tokens": 9, "read_at": TIME, "trust": "person",
                "flags": ["override"], "alive": "ok", "use": "opened",
            }],
            "left_out": [{"kind": "error", "id": "h", "reason": "over the budget", "score": 0.0}],
            "left_out_counts": {"over the budget": 1}, "redactions": {"generic": 2},
            "trimmed": ["advice"],
            "provided": {"context": {"state": "present"}, "specialization": {"state": "missing"}},
            "task": null, "text": null, "failure": null, "created_at": TIME, "delivered_at": TIME,
            "confirmed_at": null,
        }),
        &["trimmed", "provided", "task", "text", "delivered_at"],
    );
}

#[test]
fn parts_of_a_receipt_are_provided_or_say_why_not() {
    for (json, provision) in [
        (json!({"state": "present"}), Provision::Present),
        (json!({"state": "missing"}), Provision::Missing),
        (
            json!({"state": "disabled", "by": "assembly.enabled"}),
            Provision::Disabled { by: "assembly.enabled".to_owned() },
        ),
        (
            json!({"state": "degraded", "reason": "locked"}),
            Provision::Degraded { reason: "locked".to_owned() },
        ),
    ] {
        assert_eq!(serde_json::from_value::<Provision>(json.clone()).unwrap(), provision);
        assert_eq!(serde_json::to_value(&provision).unwrap(), json);
    }
    for wrong in
        [json!({"state": "disabled"}), json!({"state": "lost"}), json!({}), json!("present")]
    {
        assert!(serde_json::from_value::<Provision>(wrong.clone()).is_err(), "{wrong}");
    }
}
