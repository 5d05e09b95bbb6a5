//! Notes: what the project already knows.

use handover_context::notes::{self, Decision, Written};
use handover_mcp::{RequestContext, ToolError};
use handover_model::Trust;
use handover_store::NoteFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/notes",
        summary: "The project's notes, newest first",
        query: &[
            ("kind", "only this kind: doc, commit, conversation, memory or manual"),
            ("state", "only this state: live, stale, amended or retired"),
            ("source", "only of this document, commit or conversation"),
            ("limit", "maximum number; default 100"),
        ],
        handler: |context, request| {
            let filter = NoteFilter {
                kind: request.query_param("kind")?,
                state: request.query_param("state")?,
                source: request.query_param("source")?,
                limit: request.limit()?,
                ..NoteFilter::default()
            };
            Ok(json!({"notes": context.store.notes(&context.project, &filter)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/notes/{note}",
        summary: "A note, by its id or at least four characters of its beginning or end",
        query: &[],
        handler: |context, request| {
            let name: String = request.path_param("note")?;
            Ok(json!({"note": notes::named(context.store, &context.project, &name)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"text": "Prices are stored in cents; never use floats", "title": "Prices", "paths": ["src/price.rs"]}"#,
        ),
        path: "/notes",
        summary: "Write a note; it counts as said by an agent",
        query: &[],
        handler: add,
    },
    Endpoint {
        verb: Verb::Post(r#"{"decision": "retire", "reason": "we moved to Kafka"}"#),
        path: "/notes/{note}",
        summary: "Decide about a note: retire (with a reason), restore, confirm or reject a replacement",
        query: &[],
        handler: decide,
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteBody {
    text: String,
    title: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
}

/// Nothing proves that a person sent the request.
fn add(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: NoteBody = request.body()?;
    let note = Written {
        text: &body.text,
        title: body.title.as_deref(),
        paths: &body.paths,
        trust: Trust::Agent,
    };
    let note = context.by_hand()?.write_note(&note)?;
    Ok(json!({"note": note}))
}

#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
enum DecisionBody {
    Retire { reason: Option<String> },
    Restore {},
    Confirm { by: Option<String> },
    Reject { by: Option<String> },
}

fn decide(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: DecisionBody = request.body()?;
    let (store, project) = (context.store, &context.project);
    let by = match &body {
        DecisionBody::Confirm { by: Some(by) } | DecisionBody::Reject { by: Some(by) } => {
            Some(notes::named(store, project, by)?)
        }
        DecisionBody::Confirm { .. } | DecisionBody::Reject { .. } => None,
        DecisionBody::Retire { .. } | DecisionBody::Restore {} => None,
    };
    let by = by.as_ref();
    let decision = match &body {
        DecisionBody::Retire { reason } => Decision::Retire { reason: reason.as_deref() },
        DecisionBody::Restore {} => Decision::Restore,
        DecisionBody::Confirm { .. } => Decision::Confirm { by },
        DecisionBody::Reject { .. } => Decision::Reject { by },
    };
    let note = notes::named(store, project, &request.path_param::<String>("note")?)?;
    let note = context.by_hand()?.decide(&note, decision)?;
    Ok(json!({"note": note}))
}
