//! Records as JSON, shared by the command line and the service.

use handover_model::{
    ErrorPattern, PackageId, Reasoning, Receipt, ReceiptItem, ReceiptState, SessionId,
};
use handover_store::{ReceiptFilter, Registered, Result, Store};
use serde::Serialize;
use serde_json::{Value, json};

use crate::assemble::Assembly;
use crate::everything::{Findings, Found, file_of};
use crate::package_file::{ProjectPaths, file_state};

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
    paths: &ProjectPaths,
    id: PackageId,
    body: bool,
) -> Result<Value> {
    let record = store.package(id)?;
    let mut package = value(&record);
    package["file"] = value(&file_state(paths, &record));
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

/// A result of a search over everything.
fn found(found: &Found) -> Value {
    let mut result = json!({
        "type": found.of,
        "id": found.id,
        "session": found.session,
        "kind": found.kind,
        "path": found.path,
        "origin": found.origin,
        "trust": found.trust,
        "state": found.state,
        "score": (found.score * 1000.0).round() / 1000.0,
        "snippet": found.snippet,
        "created_at": found.created_at,
    });
    if !found.flags.is_empty() {
        result["flags"] = value(&found.flags);
    }
    result
}

/// The answer to a search over everything; packages say whether their files are still what was registered.
pub fn findings(store: &dyn Store, paths: &ProjectPaths, findings: &Findings) -> Result<Value> {
    let mut results = Vec::with_capacity(findings.found.len());
    for one in &findings.found {
        let mut result = found(one);
        if let Some(state) = file_of(store, paths, one)? {
            result["file"] = value(&state);
        }
        results.push(result);
    }
    Ok(json!({"results": results, "assumed": findings.assumed}))
}

/// An error pattern, without the project it belongs to.
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
        "state": pattern.state,
        "reason": pattern.reason,
    })
}

/// A receipt in a listing.
pub fn receipt_row(r: &Receipt) -> Value {
    json!({
        "id": r.id, "session": r.session, "group": r.group, "role": r.role,
        "iteration": r.iteration, "state": r.state, "zone": r.zone, "tokens": r.tokens,
        "model": r.model, "task": r.task, "created_at": r.created_at,
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
                "message": pattern.said(),
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
        "notes": assembly.notes,
        "places": assembly.places,
        "reasoning": assembly.reasoning,
        "errors": errors,
        "strategies": strategies,
        "redactions": assembly.redactions,
        "tokens": assembly.tokens,
        "markdown": assembly.markdown,
    });
    if explain {
        let candidates = assembly.candidates.iter().map(|candidate| {
            let mut shown = value(candidate);
            shown["reason"] = candidate.why().into();
            shown
        });
        document["candidates"] = candidates.collect();
    }
    document
}

#[cfg(test)]
mod tests {
    use handover_model::{ReceiptId, Zone};
    use handover_store::{GroupUpdate, Groups, NewReceipt, Receipts};

    use super::*;
    use crate::testing::{TestProject, at, group, role};

    fn item(id: &str, version: u32) -> ReceiptItem {
        ReceiptItem {
            kind: handover_model::ItemKind::Package,
            id: id.to_owned(),
            version,
            form: handover_model::Form::Full,
            score: 1.0,
            terms: Default::default(),
            tokens: 1,
            read_at: None,
            outdated: None,
            used: None,
            trust: handover_model::Trust::Project,
            flags: Vec::new(),
            stale: Vec::new(),
        }
    }

    fn receipt(project: &TestProject, id: &str, items: Vec<ReceiptItem>) -> NewReceipt {
        NewReceipt {
            id: ReceiptId::new(id).unwrap(),
            session: project.session.clone(),
            group: None,
            role: role("developer"),
            iteration: 0,
            model: None,
            tokenizer: "o200k".to_owned(),
            zone: Zone::Normal,
            tokens: items.len() as u64,
            prompt_hash: id.to_owned(),
            sections: Vec::new(),
            items,
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: Default::default(),
            trimmed: Vec::new(),
            provided: Default::default(),
            task: None,
            text: None,
            claim: false,
            now: at(0),
        }
    }

    #[test]
    fn sessions_have_counts() {
        let project = TestProject::new();
        project.register(project.package("a.md", "s", "one"));
        project.register(project.package("a.md", "s", "two"));
        project
            .store
            .set_group(&GroupUpdate::new(project.session.clone(), group("P1"), at(0)))
            .unwrap();
        let session = session(&project.store, &project.session).unwrap();
        assert_eq!((&session["id"], &session["status"]), (&json!("s1"), &json!("active")));
        let counts = &session["counts"];
        assert_eq!((&counts["packages"], &counts["package_versions"]), (&json!(1), &json!(2)));
        assert_eq!(counts["groups"], 1);
    }

    #[test]
    fn packages_have_history_file_state_and_body_on_request() {
        let project = TestProject::new();
        project.write("a.md", "two");
        project.register(project.package("a.md", "s", "one"));
        let id = project.register(project.package("a.md", "s", "two")).id;
        let shown = |body| package(&project.store, &project.paths, id, body).unwrap();
        let (short, long) = (shown(false), shown(true));
        assert_eq!(short["version"], 2);
        assert_eq!(short["file"], "current");
        assert_eq!(short["history"].as_array().unwrap().len(), 2);
        assert_eq!(short["deliveries"], json!([]));
        assert_eq!((short.get("body"), &long["body"]), (None, &json!("two")));
    }

    #[test]
    fn search_results_are_rounded() {
        let project = TestProject::new();
        let id = project.register(project.package("a.md", "s", "text")).id;
        let found = Found {
            of: handover_model::ItemKind::Package,
            id: crate::assemble::ItemId::Number(id.0),
            session: Some(project.session.clone()),
            kind: "research".to_owned(),
            path: Some("a.md".to_owned()),
            origin: "research by developer".to_owned(),
            created_at: at(0),
            score: 1.234_567,
            trust: handover_model::Trust::Agent,
            state: handover_model::NoteState::Live,
            flags: Vec::new(),
            snippet: "x".to_owned(),
        };
        let strategy = Found {
            of: handover_model::ItemKind::Strategy,
            id: crate::assemble::ItemId::Text("st_1".to_owned()),
            ..found.clone()
        };
        let all = Findings { found: vec![found, strategy], assumed: Vec::new() };
        let value = findings(&project.store, &project.paths, &all).unwrap();
        let first = &value["results"][0];
        assert_eq!((&first["score"], &first["file"]), (&json!(1.235), &json!("vanished")));
        assert_eq!((&first["id"], &first["type"]), (&json!(id), &json!("package")));
        assert!(value["results"][1].get("file").is_none());
        assert_eq!(value["assumed"], json!([]));
    }

    #[test]
    fn receipts_are_compared_by_item_and_version() {
        let project = TestProject::new();
        let put = |id: &str, items: Vec<ReceiptItem>| {
            project.store.put_receipt(&receipt(&project, id, items)).unwrap();
            project.store.receipt(&ReceiptId::new(id).unwrap()).unwrap()
        };
        let first = put("r1", vec![item("1", 1), item("2", 1)]);
        let second = put("r2", vec![item("2", 2), item("1", 1), item("3", 1)]);
        let diff = receipt_diff(&first, &second);
        assert_eq!((&diff["from"], &diff["to"]), (&json!("r1"), &json!("r2")));
        assert_eq!(diff["removed"], json!([{"kind": "package", "id": "2", "version": 1}]));
        let added: Vec<&Value> =
            diff["added"].as_array().unwrap().iter().map(|i| &i["id"]).collect();
        assert_eq!(added, [&json!("2"), &json!("3")]);
        assert_eq!(diff["tokens"], json!({"from": 2, "to": 3}));
    }

    #[test]
    fn the_previous_receipt_has_the_same_group_and_role() {
        let project = TestProject::new();
        let put = |id: &str, name: &str, in_group: Option<&str>, seconds| {
            let mut new = receipt(&project, id, Vec::new());
            (new.role, new.group, new.now) = (role(name), in_group.map(group), at(seconds));
            project.store.put_receipt(&new).unwrap();
        };
        put("r1", "developer", Some("P1"), 1);
        put("r2", "developer", None, 2);
        put("r3", "qa_expert", Some("P1"), 3);
        put("r4", "developer", Some("P1"), 4);
        let previous = |id: &str| {
            let receipt = project.store.receipt(&ReceiptId::new(id).unwrap()).unwrap();
            previous_receipt(&project.store, &receipt).unwrap().map(|r| r.id.to_string())
        };
        assert_eq!(previous("r4").as_deref(), Some("r1"));
        for first in ["r1", "r2", "r3"] {
            assert_eq!(previous(first), None, "{first}");
        }
    }

    #[test]
    fn listings_show_the_essentials() {
        let project = TestProject::new();
        project.store.put_receipt(&receipt(&project, "r1", Vec::new())).unwrap();
        let receipt = project.store.receipt(&ReceiptId::new("r1").unwrap()).unwrap();
        let row = receipt_row(&receipt);
        let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            [
                "created_at",
                "group",
                "id",
                "iteration",
                "model",
                "role",
                "session",
                "state",
                "task",
                "tokens",
                "zone"
            ]
        );
        assert_eq!((&row["state"], &row["zone"]), (&json!("assembled"), &json!("normal")));
    }
}
