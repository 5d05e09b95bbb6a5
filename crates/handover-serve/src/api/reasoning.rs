//! Reasoning and events.

use handover_context::shape;
use handover_mcp::{RequestContext, ToolError};
use handover_model::{EventType, GroupId, SessionId};
use handover_store::{EventFilter, EventKey, NewEvent, ReasoningFilter, TimeOrder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/reasoning",
        summary: "Reasoning of agents, newest first",
        query: &[
            ("group", "only this group"),
            ("role", "only this role"),
            ("phase", "only this phase"),
            ("oldest_first", "reverse the order"),
            ("limit", "maximum number; default 100"),
        ],
        handler: reasoning,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "developer", "phase": "decisions", "content": "Adapter per provider: they change weekly", "confidence": "high", "group": "login"}"#,
        ),
        path: "/sessions/{session}/reasoning",
        summary: "Record a piece of reasoning",
        query: &[],
        handler: |context, request| {
            let (entry, redactions) =
                handover_mcp::record_reasoning(context, request.body_in_session()?)?;
            Ok(json!({"reasoning": shape::recorded(&entry, redactions)}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/events",
        summary: "Events, newest first",
        query: &[
            ("type", "only this type"),
            ("group", "only this group"),
            ("limit", "maximum number; default 100"),
        ],
        handler: events,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"type": "verdict", "payload": {"verdict": "approved"}, "group": "login", "key": "login-review-2"}"#,
        ),
        path: "/sessions/{session}/events",
        summary: "Log an event; a key makes it idempotent",
        query: &[],
        handler: log,
    },
];

fn reasoning(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let session: SessionId = request.path_param("session")?;
    let filter = ReasoningFilter {
        group: request.query_param("group")?,
        role: request.query_param("role")?,
        phase: request.query_param("phase")?,
        limit: request.limit()?,
        order: match request.query_flag("oldest_first")? {
            true => TimeOrder::OldestFirst,
            false => TimeOrder::NewestFirst,
        },
        ..ReasoningFilter::default()
    };
    Ok(json!({"reasoning": context.store.reasoning(&session, &filter)?}))
}

fn events(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let session: SessionId = request.path_param("session")?;
    let filter = EventFilter {
        kind: request.query_param("type")?,
        group: request.query_param("group")?,
        limit: request.limit()?,
    };
    Ok(json!({"events": context.store.events(&session, &filter)?}))
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

fn log(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: EventBody = request.body()?;
    if body.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
        return Err(ToolError::invalid("the key is empty", "Omit `key`, or set it."));
    }
    let payload = if body.payload.is_null() { json!({}) } else { body.payload };
    let new = NewEvent {
        session: request.path_param("session")?,
        group: context.group(body.group.as_ref())?,
        kind: context.no_secret("type", body.kind)?,
        payload: context.redactor.clean_json(payload),
        key: body.key.map(|key| EventKey::new(&key, context.redactor)),
        now: context.now,
    };
    let logged = context.store.log_event(&new)?;
    Ok(json!({"event": {"id": logged.id, "duplicate": logged.duplicate}}))
}
