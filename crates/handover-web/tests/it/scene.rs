//! One session with something of everything, for tests that compare whole pages.

use handover_model::{
    Confidence, Fate, Form, GroupId, GroupStatus, ItemKind, LeftOut, PackageKind, Phase, Priority,
    Provided, Provision, ReceiptId, ReceiptItem, Section, Trust, Zone,
};
use handover_store::{
    GroupUpdate, Groups, NewReasoning, NewReceipt, Reasonings, ReceiptStep, Receipts,
};
use serde_json::json;

use crate::fixture::{Fixture, at, role};

/// The receipt with candidates, redactions and a degraded part.
pub(crate) const RICH_RECEIPT: &str = "r_rich";

/// A login feature: research that was corrected, a QA report, reasoning, three briefs, one of which failed.
pub(crate) fn login() -> Fixture {
    let fixture = Fixture::new();
    let group = GroupId::new("login").unwrap();
    let update = GroupUpdate {
        title: Some(fixture.redactor.clean("Sign in with OAuth")),
        status: Some(GroupStatus::InProgress),
        count: vec!["revisions".parse().unwrap()],
        ..GroupUpdate::new(fixture.session.clone(), group.clone(), at(1))
    };
    fixture.store.set_group(&update).unwrap();
    let first = packages(&fixture, &group);
    reasoning(&fixture, &group);
    rich_receipt(&fixture, &group, &first);
    let delivered = fixture.assemble(60, "qa_expert", &first[1..], "What QA was given");
    let host = Some(fixture.redactor.clean("claude"));
    fixture.advance(&delivered, 61, &ReceiptStep::Delivered { host });
    let failed = fixture.assemble(70, "tech_lead", &[], "Never arrived");
    let reason = fixture.redactor.clean("the agent was killed");
    fixture.advance(&failed, 71, &ReceiptStep::Failed { reason });
    fixture.error(80, "connect ECONNREFUSED 127.0.0.1:5432", Some("docker compose up -d db"));
    fixture.error(81, "cannot read property of undefined", None);
    fixture.strategy(90, "One refresh at a time, behind a lock.", Some("rust"));
    fixture.event(
        95,
        "verdict",
        json!({"role": "developer", "verdict": "complete", "summary": "Refreshes are safe."}),
    );
    fixture.event(96, "degraded", json!({"reason": "the store was busy"}));
    fixture
}

/// Research in two versions, a QA report, and a handoff that reached nobody; the ids of the first three.
fn packages(fixture: &Fixture, group: &GroupId) -> Vec<handover_model::PackageId> {
    let mut research =
        fixture.package(10, "requirements_engineer", "How tokens rotate", "# Rotation\n\nAlways.");
    research.consumers = vec![role("developer"), role("tech_lead")];
    let mut ids = fixture.register(&[research.clone()]);
    research.body =
        fixture.redactor.clean("# Rotation\n\nAfter *thirty* seconds.\n\n- `retry` is safe\n");
    research.content_hash = "corrected".to_owned();
    research.created_at = at(20);
    research.priority = Priority::High;
    ids.extend(fixture.register(&[research]));
    let mut report =
        fixture.package(30, "qa_expert", "Two refreshes sign the user out", "# Failures");
    report.kind = PackageKind::Failures;
    report.group = Some(group.clone());
    report.files = vec![fixture.redactor.clean("src/auth.rs")];
    ids.extend(fixture.register(&[report]));
    let mut lost = fixture.package(40, "developer", "What is left to do", "# Handoff");
    lost.kind = PackageKind::Handoff;
    lost.priority = Priority::Critical;
    fixture.register(&[lost]);
    ids
}

fn reasoning(fixture: &Fixture, group: &GroupId) {
    fixture.think(45, "developer", "Keep the old token for a moment.");
    let new = NewReasoning {
        session: fixture.session.clone(),
        group: Some(group.clone()),
        role: role("qa_expert"),
        agent_id: None,
        iteration: 1,
        phase: Phase::Blockers,
        confidence: Some(Confidence::High),
        content: fixture.redactor.clean("The test tenant is down."),
        references: Vec::new(),
        now: at(46),
        trust: Trust::Agent,
    };
    fixture.store.add_reasoning(&new).unwrap();
}

/// Confirmed, with items in every form, left out ones, and a specialization that was cut.
fn rich_receipt(fixture: &Fixture, group: &GroupId, packages: &[handover_model::PackageId]) {
    let item = |id: String, kind, form, score| ReceiptItem {
        kind,
        id,
        version: 2,
        form,
        score,
        terms: [("task".to_owned(), score * 0.75), ("priority".to_owned(), score * 0.25)].into(),
        tokens: 120,
        read_at: None,
        outdated: None,
        used: None,
        trust: Trust::Agent,
        flags: Vec::new(),
        stale: Vec::new(),
    };
    let left_out = |id: &str, reason, score| LeftOut {
        kind: ItemKind::Package,
        id: id.to_owned(),
        reason,
        score,
        amended_by: None,
    };
    let id = ReceiptId::new(RICH_RECEIPT).unwrap();
    let new = NewReceipt {
        id: id.clone(),
        session: fixture.session.clone(),
        group: Some(group.clone()),
        role: role("developer"),
        iteration: 2,
        model: Some(fixture.redactor.clean("claude-opus-4-5")),
        tokenizer: "claude".to_owned(),
        zone: Zone::SoftWarning,
        tokens: 4_321,
        prompt_hash: "5".repeat(64),
        sections: vec![
            Section { name: "packages".to_owned(), budget: 2_000, used: 1_900 },
            Section { name: "error_patterns".to_owned(), budget: 800, used: 10 },
        ],
        items: vec![
            item(packages[1].to_string(), ItemKind::Package, Form::Full, 0.9),
            item(packages[2].to_string(), ItemKind::Package, Form::Pointer, 0.4),
            item("1".to_owned(), ItemKind::Reasoning, Form::Short, 0.2),
        ],
        left_out: vec![
            left_out("4", Fate::LowPriority, 0.1),
            left_out("99", Fate::OverTheBudget, 0.05),
        ],
        left_out_counts: [
            ("over the budget".to_owned(), 7),
            ("low priority in this zone".to_owned(), 1),
        ]
        .into(),
        redactions: [("generic-password".to_owned(), 2)].into(),
        trimmed: vec!["specialization".to_owned()],
        provided: Provided {
            context: Provision::Present,
            specialization: Provision::Degraded { reason: "the template is too long".to_owned() },
            use_learning: None,
        },
        task: Some(fixture.redactor.clean("Rotate refresh tokens.")),
        text: Some(fixture.redactor.clean("## Context\n\nRotation after thirty seconds.\n")),
        claim: false,
        now: at(50),
    };
    fixture.store.put_receipt(&new).unwrap();
    fixture.advance(&id, 51, &ReceiptStep::Delivered { host: None });
    fixture.advance(&id, 52, &ReceiptStep::Confirmed);
    fixture.store.mark_read(&id, packages[1], at(53)).unwrap();
}
