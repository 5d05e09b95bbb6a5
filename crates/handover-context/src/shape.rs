//! Records as JSON, shared by the command line and the service.

use handover_model::{
    ErrorPattern, PackageId, Reasoning, Receipt, ReceiptItem, ReceiptState, SessionId,
};
use handover_store::{ReceiptFilter, Registered, Result, Store};
use serde::Serialize;
use serde_json::{Value, json};

use crate::assemble::Assembly;
use crate::package_file::{ProjectPaths, file_state};
use crate::search::Hit;

fn value(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

/// A session with its record counts.
pub fn session(store: &dyn Store, id: &SessionId) -> Result<Value> {
    let mut session = value(&store.session(id)?);
    session["counts"] = value(&store.session_counts(id)?);
    Ok(session)
}

/// A package with its versions, deliveries and file state; with the registered text if `body` is set.
pub fn package(
    store: &dyn Store,
    places: &ProjectPaths,
    id: PackageId,
    body: bool,
) -> Result<Value> {
    let record = store.package(id)?;
    let mut package = value(&record);
    package["file"] = value(&file_state(places, &record));
    package["history"] = value(&store.package_history(id)?);
    package["deliveries"] = value(&store.package_deliveries(id)?);
    if body {
        package["body"] = store.package_body(id)?.into();
    }
    Ok(package)
}

/// A newly registered package.
pub fn registered(registered: &Registered, redactions: u32) -> Value {
    let mut package = value(&registered.package);
    package["created"] = registered.created.into();
    package["redactions"] = redactions.into();
    package
}

/// Newly recorded reasoning.
pub fn recorded(kept: &Reasoning, redactions: u32) -> Value {
    json!({
        "id": kept.id, "role": kept.role, "phase": kept.phase, "group": kept.group,
        "redactions": redactions, "created_at": kept.created_at,
    })
}

/// A search result.
pub fn hit(hit: &Hit, places: &ProjectPaths) -> Value {
    json!({
        "id": hit.package.id,
        "path": hit.package.path,
        "score": (hit.score * 1000.0).round() / 1000.0,
        "snippet": hit.snippet,
        "kind": hit.package.kind,
        "priority": hit.package.priority,
        "summary": hit.package.summary,
        "version": hit.package.version,
        "file": file_state(places, &hit.package),
    })
}

/// An error pattern.
pub fn error(pattern: &ErrorPattern) -> Value {
    json!({
        "hash": pattern.hash,
        "signature": pattern.signature,
        "solution": pattern.solution,
        "confidence": pattern.confidence,
        "occurrences": pattern.occurrences,
        "language": pattern.language,
        "first_seen": pattern.first_seen,
        "last_seen": pattern.last_seen,
        "ttl_days": pattern.ttl_days,
    })
}

/// A receipt in a listing.
pub fn receipt_row(r: &Receipt) -> Value {
    json!({
        "id": r.id, "session": r.session, "group": r.group, "role": r.role,
        "iteration": r.iteration, "state": r.state, "zone": r.zone, "tokens": r.tokens,
        "model": r.model, "created_at": r.created_at,
    })
}

/// The preceding receipt of the same session, group and role.
pub fn previous_receipt(store: &dyn Store, receipt: &Receipt) -> Result<Option<Receipt>> {
    let filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        role: Some(receipt.role.clone()),
        ..ReceiptFilter::default()
    };
    let all = store.receipts(&filter)?;
    let mut older =
        all.iter().filter(|r| r.group == receipt.group).skip_while(|r| r.id != receipt.id);
    older.next();
    older.next().map(|former| store.receipt(&former.id)).transpose()
}

/// The difference between two receipts.
pub fn receipt_diff(former: &Receipt, receipt: &Receipt) -> Value {
    json!({
        "from": former.id,
        "to": receipt.id,
        "added": missing(receipt, former),
        "removed": missing(former, receipt),
        "tokens": {"from": former.tokens, "to": receipt.tokens},
        "zone": {"from": former.zone, "to": receipt.zone},
    })
}

/// The items of one receipt that are missing in another.
fn missing(of: &Receipt, in_other: &Receipt) -> Vec<Value> {
    let same = |a: &ReceiptItem, b: &ReceiptItem| {
        a.kind == b.kind && a.id == b.id && a.version == b.version
    };
    of.items
        .iter()
        .filter(|item| !in_other.items.iter().any(|other| same(item, other)))
        .map(|item| json!({"kind": item.kind, "id": item.id, "version": item.version}))
        .collect()
}

/// An assembled context, with every candidate if requested.
pub fn assembly(assembly: &Assembly, state: ReceiptState, explain: bool) -> Value {
    let errors: Vec<Value> = assembly
        .errors
        .iter()
        .map(|pattern| {
            json!({
                "hash": pattern.hash,
                "message": pattern.signature.message,
                "solution": pattern.solution,
                "confidence": pattern.confidence,
                "occurrences": pattern.occurrences,
            })
        })
        .collect();
    let strategies: Vec<Value> = assembly
        .strategies
        .iter()
        .map(|s| json!({"id": s.id, "topic": s.topic, "insight": s.insight, "helpfulness": s.helpfulness}))
        .collect();
    let mut document = json!({
        "schema": 1,
        "receipt": assembly.receipt.id,
        "state": state,
        "zone": assembly.zone,
        "usage_pct": assembly.usage_percent,
        "degraded": false,
        "budget": assembly.budget,
        "packages": assembly.packages,
        "available": assembly.available,
        "overflow": assembly.overflow,
        "reasoning": assembly.reasoning,
        "errors": errors,
        "strategies": strategies,
        "redactions": assembly.redactions,
        "tokens": assembly.tokens,
        "markdown": assembly.markdown,
    });
    if explain {
        document["candidates"] = serde_json::to_value(&assembly.candidates).unwrap_or_default();
    }
    document
}
