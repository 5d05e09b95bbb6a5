//! The log of what was changed by hand, and undoing.

use handover_model::{RecordState, Timestamp};
use handover_store::OperationFilter;
use serde::Deserialize;
use serde_json::json;

use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/operations",
        summary: "What was changed by hand, newest first",
        query: &[("since", "only from this time on"), ("limit", "maximum number; default 100")],
        handler: |context, request| {
            let since: Option<Timestamp> = request.query_param("since")?;
            let filter = OperationFilter { since, limit: request.limit()? };
            Ok(json!({"operations": context.store.operations(&context.project, &filter)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"decision": "undo"}"#),
        path: "/operations/{operation}",
        summary: "Undo what was changed by hand",
        query: &[],
        handler: |context, request| {
            let (name, UndoBody::Undo {}): (String, UndoBody) =
                (request.path_param("operation")?, request.body()?);
            let (undone, operation) = context.by_hand()?.undo(Some(&name))?;
            Ok(json!({"undone": undone, "operation": operation}))
        },
    },
];

#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
enum UndoBody {
    Undo {},
}

/// Whether a record is used.
#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StateDecision {
    Retire { reason: Option<String> },
    Restore {},
}

impl StateDecision {
    pub(super) fn state(&self) -> RecordState {
        match self {
            Self::Retire { .. } => RecordState::Retired,
            Self::Restore {} => RecordState::Live,
        }
    }

    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Retire { reason } => reason.as_deref(),
            Self::Restore {} => None,
        }
    }
}
