//! Reasoning and events.

use handover_context::shape;
use handover_mcp::{Seat, ToolError};
use handover_model::{EventType, GroupId, SessionId};
use handover_store::{EventFilter, EventKey, NewEvent, ReasoningFilter, TimeOrder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/reasoning",
        about: "What agents thought, newest first",
        fields: &[
            ("group", "only about this group"),
            ("role", "only by this role"),
            ("phase", "only of this phase"),
            ("oldest_first", "the other way round"),
            ("limit", "at most so many; default 100"),
        ],
        call: reasoning,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "developer", "phase": "decisions", "content": "Adapter per provider: they change weekly", "confidence": "high", "group": "login"}"#,
        ),
        path: "/sessions/{session}/reasoning",
        about: "Record a thought",
        fields: &[],
        call: |seat, ask| {
            let (kept, redactions) = handover_mcp::record(seat, ask.body_in_session()?)?;
            Ok(json!({"reasoning": shape::recorded(&kept, redactions)}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/events",
        about: "Events, newest first",
        fields: &[
            ("type", "only of this type"),
            ("group", "only about this group"),
            ("limit", "at most so many; default 100"),
        ],
        call: events,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"type": "verdict", "payload": {"verdict": "approved"}, "group": "login", "key": "login-review-2"}"#,
        ),
        path: "/sessions/{session}/events",
        about: "Log an event; with a key, logging it twice is logging it once",
        fields: &[],
        call: log,
    },
];

fn reasoning(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let session: SessionId = ask.part("session")?;
    let filter = ReasoningFilter {
        group: ask.field("group")?,
        role: ask.field("role")?,
        phase: ask.field("phase")?,
        limit: ask.limit()?,
        order: match ask.switch("oldest_first")? {
            true => TimeOrder::OldestFirst,
            false => TimeOrder::NewestFirst,
        },
    };
    Ok(json!({"reasoning": seat.store.reasoning(&session, &filter)?}))
}

fn events(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let session: SessionId = ask.part("session")?;
    let filter =
        EventFilter { kind: ask.field("type")?, group: ask.field("group")?, limit: ask.limit()? };
    Ok(json!({"events": seat.store.events(&session, &filter)?}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventBody {
    #[serde(rename = "type")]
    kind: EventType,
    #[serde(default)]
    payload: Value,
    group: Option<GroupId>,
    key: Option<String>,
}

fn log(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let body: EventBody = ask.body()?;
    if body.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
        return Err(ToolError::invalid("the key is empty", "Leave `key` out, or name one."));
    }
    let payload = if body.payload.is_null() { json!({}) } else { body.payload };
    let new = NewEvent {
        session: ask.part("session")?,
        group: seat.group(body.group.as_ref())?,
        kind: seat.no_secret("type", body.kind)?,
        payload: seat.redactor.clean_json(payload),
        key: body.key.map(|key| EventKey::new(&key, seat.redactor)),
        now: seat.now,
    };
    let logged = seat.store.log_event(&new)?;
    Ok(json!({"event": {"id": logged.id, "duplicate": logged.duplicate}}))
}
