//! Receipts: what agents were given.

use handover_context::shape;
use handover_mcp::{Seat, ToolError};
use handover_model::ReceiptId;
use handover_store::{ReceiptFilter, ReceiptStep};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/receipts",
        about: "Receipts, newest first",
        fields: &[
            ("session", "only of this session"),
            ("group", "only of this group"),
            ("role", "only for this role"),
            ("limit", "at most so many; default 100"),
        ],
        call: list,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/receipts/{receipt}",
        about: "What an agent was given, what was left out, and why",
        fields: &[],
        call: |seat, ask| {
            let id: ReceiptId = ask.part("receipt")?;
            Ok(json!({"receipt": seat.store.receipt(&id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/receipts/{receipt}/diff",
        about: "What changed since the role's previous receipt, or since another one",
        fields: &[("since", "the receipt to compare with")],
        call: diff,
    },
    Endpoint {
        verb: Verb::Post(r#"{"state": "delivered", "host": "claude"}"#),
        path: "/receipts/{receipt}",
        about: "Move a receipt on: delivered (to a host), confirmed, or failed (for a reason)",
        fields: &[],
        call: advance,
    },
];

fn list(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let filter = ReceiptFilter {
        session: ask.field("session")?,
        group: ask.field("group")?,
        role: ask.field("role")?,
        limit: ask.limit()?,
    };
    let receipts: Vec<Value> =
        seat.store.receipts(&filter)?.iter().map(shape::receipt_row).collect();
    Ok(json!({"receipts": receipts}))
}

fn diff(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let receipt = seat.store.receipt(&ask.part::<ReceiptId>("receipt")?)?;
    let former = match ask.field::<ReceiptId>("since")? {
        Some(id) => Some(seat.store.receipt(&id)?),
        None => shape::previous_receipt(seat.store, &receipt)?,
    };
    let former = former.ok_or_else(|| {
        ToolError::invalid(
            format!("`{}` is the first receipt of its role", receipt.id),
            "Name another one with `since`.",
        )
    })?;
    Ok(json!({"diff": shape::receipt_diff(&former, &receipt)}))
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    Delivered { host: Option<String> },
    Confirmed,
    Failed { reason: String },
}

fn advance(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let id: ReceiptId = ask.part("receipt")?;
    let clean = |text: String| seat.redactor.clean(&text);
    let step = match ask.body()? {
        Step::Delivered { host } => ReceiptStep::Delivered { host: host.map(clean) },
        Step::Confirmed => ReceiptStep::Confirmed,
        Step::Failed { reason } => ReceiptStep::Failed { reason: clean(reason) },
    };
    Ok(json!({"receipt": seat.store.advance_receipt(&id, &step, seat.now)?}))
}
