//! Receipts: what agents were given.

use handover_context::shape;
use handover_mcp::{RequestContext, ToolError};
use handover_model::ReceiptId;
use handover_store::{ReceiptFilter, ReceiptStep};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/receipts",
        summary: "Receipts, newest first",
        query: &[
            ("session", "only this session"),
            ("group", "only this group"),
            ("role", "only this role"),
            ("limit", "maximum number; default 100"),
        ],
        handler: list,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/receipts/{receipt}",
        summary: "What an agent was given, what was left out, and why",
        query: &[],
        handler: |context, request| {
            let id: ReceiptId = request.path_param("receipt")?;
            Ok(json!({"receipt": context.store.receipt(&id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/receipts/{receipt}/diff",
        summary: "What changed since the role's previous receipt, or since another one",
        query: &[("since", "the receipt to compare with")],
        handler: diff,
    },
    Endpoint {
        verb: Verb::Post(r#"{"state": "delivered", "host": "claude"}"#),
        path: "/receipts/{receipt}",
        summary: "Advance a receipt: delivered (to a host), confirmed, or failed (with a reason)",
        query: &[],
        handler: advance,
    },
];

fn list(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let filter = ReceiptFilter {
        session: request.query_param("session")?,
        group: request.query_param("group")?,
        role: request.query_param("role")?,
        limit: request.limit()?,
        ..ReceiptFilter::default()
    };
    let receipts: Vec<Value> =
        context.store.receipts(&filter)?.iter().map(shape::receipt_row).collect();
    Ok(json!({"receipts": receipts}))
}

fn diff(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let receipt = context.store.receipt(&request.path_param::<ReceiptId>("receipt")?)?;
    let previous = match request.query_param::<ReceiptId>("since")? {
        Some(id) => Some(context.store.receipt(&id)?),
        None => shape::previous_receipt(context.store, &receipt)?,
    };
    let previous = previous.ok_or_else(|| {
        ToolError::invalid(
            format!("`{}` is the first receipt of its role", receipt.id),
            "Name the receipt to compare with as `since`.",
        )
    })?;
    Ok(json!({"diff": shape::receipt_diff(&previous, &receipt)}))
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    Delivered { host: Option<String> },
    Confirmed,
    Failed { reason: String },
}

fn advance(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let id: ReceiptId = request.path_param("receipt")?;
    let clean = |text: String| context.redactor.clean(&text);
    let step = match request.body()? {
        Step::Delivered { host } => ReceiptStep::Delivered { host: host.map(clean) },
        Step::Confirmed => ReceiptStep::Confirmed,
        Step::Failed { reason } => ReceiptStep::Failed { reason: clean(reason) },
    };
    Ok(json!({"receipt": context.store.advance_receipt(&id, &step, context.now)?}))
}
