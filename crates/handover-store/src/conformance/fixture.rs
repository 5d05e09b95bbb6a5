//! Shortcuts to create the records needed by these cases and by the tests of a single backend.

use handover_model::{
    GroupId, NoteId, NoteKind, NoteState, Package, PackageId, PackageKind, Phase, Priority,
    ProjectId, ReceiptId, Role, Scope, SessionId, Timestamp, Trust, Zone,
};
use handover_text::{Clean, CleanJson, Redactor};
use serde_json::Value;

use crate::{
    CleanSignature, ErrorSighting, NewEvent, NewNote, NewPackage, NewReasoning, NewReceipt,
    NewSession, NewSkillOutput, NewStrategy, NewUnit, Store, Supersede,
};

/// Ten in the morning plus this many seconds.
pub fn at(seconds: i64) -> Timestamp {
    let base: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
    Timestamp::from_micros(base.as_micros() + seconds * 1_000_000)
}

/// A text without secrets.
pub fn clean(text: &str) -> Clean {
    Redactor::default().clean(text)
}

/// A document without secrets.
pub fn clean_json(value: Value) -> CleanJson {
    Redactor::default().clean_json(value)
}

/// The id of a session.
pub fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

/// The id of a group.
pub fn group_id(id: &str) -> GroupId {
    GroupId::new(id).unwrap()
}

/// The name of a counter.
pub fn counter(name: &str) -> handover_model::CounterName {
    handover_model::CounterName::new(name).unwrap()
}

/// A role by its name.
pub fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

/// The project `shop`.
pub fn project() -> ProjectId {
    ProjectId::new("shop").unwrap()
}

/// Opens a session of the project `shop`.
pub fn session(store: &dyn Store, id: &str) -> SessionId {
    let new = NewSession {
        id: session_id(id),
        project: project(),
        metadata: clean_json(serde_json::json!({})),
        now: at(0),
    };
    store.open_session(&new).unwrap().record.id
}

/// A global research package whose content is its body.
pub fn package(session: &SessionId, path: &str, body: &str) -> NewPackage {
    NewPackage {
        session: session.clone(),
        group: None,
        scope: Scope::Global,
        kind: PackageKind::Research,
        path: path.to_owned(),
        title: None,
        summary: clean("a summary"),
        files: Vec::new(),
        body: clean(body),
        producer: role("requirements_engineer"),
        consumers: Vec::new(),
        priority: Priority::Medium,
        iteration: None,
        size_bytes: body.len() as u64,
        tokens: 1,
        content_hash: format!("hash of {body}"),
        supersede: Supersede::SamePath,
        created_at: at(0),
        trust: Trust::Agent,
    }
}

/// Registers one package that must be new.
pub fn register(store: &dyn Store, new: NewPackage) -> Package {
    let mut registered = store.register_packages(&[new]).unwrap();
    let registered = registered.pop().unwrap();
    assert!(registered.created);
    registered.package
}

/// A developer's reasoning.
pub fn reasoning(session: &SessionId, phase: Phase, content: &str) -> NewReasoning {
    NewReasoning {
        session: session.clone(),
        group: None,
        role: role("developer"),
        agent_id: None,
        iteration: 0,
        phase,
        confidence: None,
        content: clean(content),
        references: Vec::new(),
        now: at(0),
        trust: Trust::Agent,
    }
}

/// An output of a skill, without role and group.
pub fn skill_output(session: &SessionId, skill: &str) -> NewSkillOutput {
    NewSkillOutput {
        session: session.clone(),
        skill: handover_model::SkillName::new(skill).unwrap(),
        role: None,
        group: None,
        output: clean_json(serde_json::json!({"ok": true})),
        now: at(0),
    }
}

/// An error of the project `shop`.
pub fn sighting(message: &str) -> ErrorSighting {
    ErrorSighting {
        project: project(),
        signature: CleanSignature::new(None, message, &[], &Redactor::default()),
        language: None,
        ttl_days: 90,
        session: None,
        group: None,
        role: None,
        command: None,
        now: at(0),
        trust: Trust::Agent,
    }
}

/// A strategy from a piece of reasoning.
pub fn strategy(insight: &str, source: i64) -> NewStrategy {
    NewStrategy {
        project: project(),
        topic: handover_model::Topic::Implementation,
        insight: clean(insight),
        language: None,
        framework: None,
        source: handover_model::ReasoningId(source),
        now: at(0),
        trust: Trust::Agent,
    }
}

/// The id of a note of a unit.
pub fn note_id(source: &str, text: &str) -> NoteId {
    let word = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "");
    NoteId::new(format!("n_{}_{}", word(source), word(text))).unwrap()
}

/// A live note of a document.
pub fn note(source: &str, text: &str) -> NewNote {
    NewNote {
        id: note_id(source, text),
        origin: clean(&format!("{source} § Decisions")),
        title: clean("Decisions"),
        text: clean(text),
        trust: Trust::Project,
        paths: Vec::new(),
        symbols: Vec::new(),
        state: NoteState::Live,
        reason: None,
        hash: format!("hash of {text}"),
        created_at: at(0),
    }
}

/// A document with notes.
pub fn unit(source: &str, texts: &[&str]) -> NewUnit {
    NewUnit {
        kind: NoteKind::Doc,
        source: source.to_owned(),
        fingerprint: Some(format!("blob of {}", texts.len())),
        notes: texts.iter().map(|text| note(source, text)).collect(),
    }
}

/// An event with a small payload.
pub fn event(session: &SessionId, kind: &str, key: Option<&str>) -> NewEvent {
    NewEvent {
        session: session.clone(),
        group: None,
        kind: handover_model::EventType::new(kind).unwrap(),
        payload: clean_json(serde_json::json!({"n": 1})),
        key: key.map(|key| crate::EventKey::new(key, &Redactor::default())),
        now: at(0),
    }
}

/// A receipt for a developer with the packages given.
pub fn receipt(session: &SessionId, id: &str, packages: &[PackageId]) -> NewReceipt {
    let items = packages
        .iter()
        .map(|package| handover_model::ReceiptItem {
            kind: handover_model::ItemKind::Package,
            id: package.to_string(),
            version: 1,
            form: handover_model::Form::Full,
            score: 15.5,
            terms: [("priority".to_owned(), 12.0)].into(),
            tokens: 41,
            read_at: None,
            outdated: None,
            used: None,
            trust: Trust::Agent,
            flags: Vec::new(),
            stale: vec![handover_model::StaleName::Gone { name: "src/old.rs".to_owned() }],
        })
        .collect();
    NewReceipt {
        id: ReceiptId::new(id).unwrap(),
        session: session.clone(),
        group: None,
        role: role("developer"),
        iteration: 0,
        model: Some(clean("sonnet")),
        tokenizer: "claude".to_owned(),
        zone: Zone::Normal,
        tokens: 180,
        prompt_hash: "abc".to_owned(),
        sections: vec![handover_model::Section {
            name: "context".to_owned(),
            budget: 29_750,
            used: 180,
        }],
        items,
        left_out: vec![handover_model::LeftOut {
            kind: handover_model::ItemKind::Package,
            id: "99".to_owned(),
            reason: handover_model::Fate::OverTheLimit,
            score: 1.0,
            amended_by: None,
        }],
        left_out_counts: [("limit".to_owned(), 1)].into(),
        redactions: [("jwt".to_owned(), 2)].into(),
        trimmed: vec!["strategies".to_owned()],
        provided: handover_model::Provided {
            context: handover_model::Provision::Present,
            specialization: handover_model::Provision::Disabled { by: "a.key".to_owned() },
            use_learning: Some(handover_model::UseLearning::HeldOut),
        },
        task: Some(clean("Rotate the tokens.")),
        text: Some(clean("## Context")),
        claim: false,
        now: at(0),
    }
}
