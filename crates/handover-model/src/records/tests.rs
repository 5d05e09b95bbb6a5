//! Records as JSON, which the command line, the service and exports share.

use serde_json::{Value, json};

use super::*;
use crate::learn::{Signature, Trust};
use crate::{
    Fate, Form, GroupId, ItemKind, PackageId, PackageKind, Priority, ProjectId, ReceiptId,
    ReceiptState, RecordState, Role, Scope, SessionId, Timestamp, TokenId, TokenKind, TokenScope,
    Zone,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn receipt() -> Receipt {
    Receipt {
        id: ReceiptId::new("r1").unwrap(),
        session: SessionId::new("s1").unwrap(),
        group: Some(GroupId::new("P1").unwrap()),
        role: Role::new("developer").unwrap(),
        iteration: 1,
        model: None,
        tokenizer: "o200k".to_owned(),
        zone: Zone::WrapUp,
        state: ReceiptState::Delivered,
        host: None,
        tokens: 12,
        prompt_hash: "h".to_owned(),
        sections: vec![Section { name: "context".to_owned(), budget: 10, used: 9 }],
        items: vec![ReceiptItem {
            kind: ItemKind::Package,
            id: "7".to_owned(),
            version: 2,
            form: Form::Short,
            score: 1.5,
            terms: [("relevance".to_owned(), 1.5)].into(),
            tokens: 9,
            read_at: None,
            outdated: None,
            used: None,
            trust: crate::Trust::Project,
            flags: Vec::new(),
            stale: Vec::new(),
        }],
        left_out: vec![LeftOut {
            kind: ItemKind::Package,
            id: "8".to_owned(),
            reason: Fate::LowPriority,
            score: 0.5,
            amended_by: None,
        }],
        left_out_counts: [(Fate::LowPriority.to_string(), 1)].into(),
        redactions: Default::default(),
        trimmed: Vec::new(),
        provided: Provided {
            context: Provision::Degraded { reason: "store is locked".to_owned() },
            specialization: Provision::Disabled { by: "specialization.enabled".to_owned() },
            use_learning: None,
        },
        task: None,
        text: None,
        failure: None,
        created_at: at(1),
        delivered_at: Some(at(2)),
        confirmed_at: None,
    }
}

#[test]
fn receipts_survive_json() {
    let receipt = receipt();
    let value = serde_json::to_value(&receipt).unwrap();
    assert_eq!(serde_json::from_value::<Receipt>(value).unwrap(), receipt);
}

#[test]
fn an_item_says_in_one_word_what_became_of_it() {
    let gone = || StaleName::Gone { name: "cart.rs".to_owned() };
    let renamed = || StaleName::Renamed { name: "tax.rs".to_owned(), to: "vat.rs".to_owned() };
    let reverted = || StaleName::Reverted { name: "a1b2c3d".to_owned(), by: "d4".to_owned() };
    for (stale, alive) in [
        (vec![], "ok"),
        (vec![renamed()], "renamed"),
        (vec![renamed(), reverted()], "reverted"),
        (vec![gone(), renamed(), reverted()], "gone"),
    ] {
        let item = ReceiptItem { stale, ..receipt().items.remove(0) };
        let value = serde_json::to_value(&item).unwrap();
        assert_eq!(value["alive"], alive);
        assert_eq!(value.get("stale").is_none(), alive == "ok", "{value}");
        assert_eq!(serde_json::from_value::<ReceiptItem>(value).unwrap(), item);
    }
}

#[test]
fn reasons_keep_their_text() {
    let value = serde_json::to_value(receipt()).unwrap();
    assert_eq!(value["left_out"][0]["reason"], "low priority in this zone");
    assert_eq!(value["left_out_counts"], json!({"low priority in this zone": 1}));
    let mut wrong = value;
    wrong["left_out"][0]["reason"] = "bad luck".into();
    assert!(serde_json::from_value::<Receipt>(wrong).is_err());
}

#[test]
fn provisions_are_tagged_by_state() {
    let value = serde_json::to_value(receipt()).unwrap();
    assert_eq!(
        value["provided"],
        json!({
            "context": {"state": "degraded", "reason": "store is locked"},
            "specialization": {"state": "disabled", "by": "specialization.enabled"},
        })
    );
    for (state, provision) in [("present", Provision::Present), ("missing", Provision::Missing)] {
        assert_eq!(serde_json::to_value(&provision).unwrap(), json!({"state": state}));
    }
    assert_eq!(Provided::default().context, Provision::Missing);
}

#[test]
fn receipts_of_older_versions_lack_some_fields() {
    let mut value = serde_json::to_value(receipt()).unwrap();
    let fields = value.as_object_mut().unwrap();
    for field in ["trimmed", "provided", "text"] {
        fields.remove(field);
    }
    let read: Receipt = serde_json::from_value(value.clone()).unwrap();
    assert_eq!((read.provided, read.text), (Provided::default(), None));
    value.as_object_mut().unwrap().remove("state");
    assert!(serde_json::from_value::<Receipt>(value).is_err());
}

#[test]
fn packages_survive_json() {
    let package = Package {
        id: PackageId(7),
        session: SessionId::new("s1").unwrap(),
        group: None,
        scope: Scope::Global,
        kind: PackageKind::Decisions,
        path: "docs/a.md".to_owned(),
        title: Some("Adapters".to_owned()),
        summary: "Use them.".to_owned(),
        files: vec!["src/a.rs".to_owned()],
        producer: Role::new("tech_lead").unwrap(),
        consumers: vec![Role::new("developer").unwrap()],
        priority: Priority::High,
        iteration: Some(1),
        version: 3,
        supersedes: Some(PackageId(5)),
        superseded_by: None,
        size_bytes: 10,
        tokens: 3,
        content_hash: "h".to_owned(),
        created_at: at(3),
        trust: crate::Trust::Project,
        state: RecordState::Live,
        reason: None,
    };
    let value = serde_json::to_value(&package).unwrap();
    assert_eq!((&value["kind"], &value["priority"]), (&json!("decisions"), &json!("high")));
    assert_eq!((&value["group"], &value["scope"]), (&Value::Null, &json!("global")));
    assert_eq!(serde_json::from_value::<Package>(value).unwrap(), package);
}

#[test]
fn error_patterns_survive_json() {
    let signature = Signature::new(None, "TypeError: x is undefined", &["b".into(), "a".into()]);
    let pattern = ErrorPattern {
        project: ProjectId::new("p").unwrap(),
        hash: signature.hash(),
        signature,
        example: None,
        solution: None,
        confidence: Trust::START.confirmed(),
        occurrences: 2,
        language: Some("typescript".to_owned()),
        first_seen: at(1),
        last_seen: at(2),
        ttl_days: 90,
        trust: crate::Trust::Project,
        state: RecordState::Live,
        reason: None,
    };
    let value = serde_json::to_value(&pattern).unwrap();
    assert_eq!(value["confidence"], 0.6);
    assert_eq!(serde_json::from_value::<ErrorPattern>(value).unwrap(), pattern);
}

#[test]
fn tokens_expire_and_end() {
    let token = Token {
        id: TokenId::new("t1").unwrap(),
        name: None,
        kind: TokenKind::Bearer,
        scope: TokenScope::Read,
        project: None,
        hash: "h".to_owned(),
        created_at: at(0),
        expires_at: Some(at(10)),
        ended_at: None,
    };
    assert!(token.is_good(at(9)));
    assert!(!token.is_good(at(10)) && !token.is_good(at(11)));
    let endless = Token { expires_at: None, ..token };
    assert!(endless.is_good(at(1_000_000)));
    let revoked = Token { ended_at: Some(at(20)), ..endless };
    assert!(!revoked.is_good(at(5)));
}
