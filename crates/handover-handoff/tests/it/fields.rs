//! Briefs, receipts and endings, field by field: whatever one of them should hold, it holds.

use std::collections::BTreeMap;
use std::time::Duration;

use handover_handoff::{Attempt, Debrief, Ending, HandoffRequest, Handoffs, PackageNote, Prepared};
use handover_model::models::Model;
use handover_model::{
    AgentId, Confidence, GroupStatus, Host, PackageKind, Phase, Priority, Provision, ReceiptState,
    Section, Verdict,
};
use handover_sqlite::{Patience, SqliteStore};
use handover_store::{
    GroupUpdate, Groups, NewReasoning, Packages, ReasoningFilter, Reasonings, Receipts, Store,
    VerdictFilter, Verdicts,
};

use crate::world::{World, at, group, receipt_id, role, session};

fn section(prepared: &Prepared, name: &str) -> Section {
    let sections = &prepared.brief.receipt.sections;
    sections.iter().find(|section| section.name == name).unwrap().clone()
}

#[test]
fn every_part_of_a_brief_is_in_its_text_its_sections_and_its_receipt() {
    let world = World::new();
    world.package("docs/oauth.md", "Tokens rotate.");
    let prepared = world.prepare("1", 1);
    let brief = &prepared.brief;
    let order = [
        "## Context for developer",
        "docs/oauth.md",
        "<!-- handover:receipt r_1 -->",
        "## SPECIALIZATION GUIDANCE (Advisory)",
        "## Your Role",
        "## Your Task\n\nRefresh the tokens\n",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|part| brief.text.find(part).unwrap_or_else(|| panic!("no {part}:\n{}", brief.text)))
        .collect();
    assert!(places.is_sorted(), "{places:?}\n{}", brief.text);
    assert_eq!(format!("{}\n## Your Task\n\nRefresh the tokens\n", brief.preface()), brief.text);

    let count = |text: &str| handover_text::tokens::count(Model::named(None).tokenizer, text);
    let special = brief.specialization.as_ref().unwrap();
    assert!(special.tokens > 0 && special.tokens == count(&special.text), "{special:?}");
    let context = &brief.context.as_ref().unwrap().markdown;
    let expected = BTreeMap::from([
        ("context", count(context)),
        ("specialization", special.tokens),
        ("role", count(&brief.text[places[4]..places[5]])),
        ("task", count("## Your Task\n\nRefresh the tokens\n")),
    ]);
    for part in ["context", "specialization", "task"] {
        assert_eq!(brief.sections[part], expected[part], "{part}");
    }
    assert!(brief.sections["role"].abs_diff(expected["role"]) <= 1, "{:?}", brief.sections);
    assert_eq!(brief.tokens, count(&brief.text));
    assert_eq!(brief.receipt.tokens, brief.tokens);
    for (name, used) in &brief.sections {
        assert_eq!(section(&prepared, name).used, *used, "{name}");
    }
    assert!(!brief.sections.contains_key("beside"), "it works alone: {:?}", brief.sections);
    assert_eq!(brief.receipt.trimmed, [""; 0]);
    assert_eq!(brief.receipt.provided.context, Provision::Present);
    assert_eq!(brief.receipt.provided.specialization, Provision::Present);
    assert_eq!(brief.receipt.text.as_ref().unwrap().as_str(), brief.preface());
}

#[test]
fn a_retry_leaves_less_room_for_general_advice() {
    let world = World::new();
    let tier = Model::named(None).tier;
    let (limits, cap) = (&world.config.brief, world.config.brief.preface(tier));
    for (name, attempt) in [("1", 0), ("2", 1)] {
        let request = handover_handoff::HandoffRequest {
            attempt: Attempt::Number(attempt),
            ..world.request(name, 1)
        };
        let prepared = world.handoffs().prepare(&request).unwrap();
        let floor = limits.specialization_floor(tier, attempt > 0);
        assert_eq!(section(&prepared, "context").budget, cap - floor, "attempt {attempt}");
        let left = cap - section(&prepared, "context").used;
        assert_eq!(section(&prepared, "specialization").budget, left, "attempt {attempt}");
    }
    assert!(limits.specialization_floor(tier, true) < limits.specialization_floor(tier, false));
}

#[test]
fn what_the_budget_leaves_out_is_named() {
    let world = World::new();
    for number in 0..40 {
        let summary = format!("Note {number}: {}", "tokens rotate when they are used. ".repeat(11));
        world.package(&format!("docs/long-{number}.md"), &summary);
    }
    let request = handover_handoff::HandoffRequest {
        limit: Some(40),
        model: Some("haiku".to_owned()),
        ..world.request("1", 1)
    };
    let brief = world.handoffs().prepare(&request).unwrap().brief;
    let trimmed = &brief.receipt.trimmed;
    assert!(trimmed.iter().any(|item| item.starts_with("package ")), "{trimmed:?}");
    assert_eq!(brief.document(ReceiptState::Assembled)["trimmed"], serde_json::json!(trimmed));
    let cap = world.config.brief.preface(Model::named(Some("haiku")).tier);
    let used = brief.sections["context"] + brief.sections["specialization"];
    assert!(used <= cap, "{used} of {cap}");
}

#[test]
fn parts_that_are_turned_off_cost_nothing() {
    let mut world = World::new();
    world.config.assembly.enabled = false;
    world.config.specialization.enabled = false;
    let brief = world.prepare("1", 1).brief;
    assert!(brief.context.is_none() && brief.specialization.is_none());
    assert_eq!(brief.sections["specialization"], 0);
    assert!(brief.text.starts_with("<!-- handover:receipt r_1 -->\n"), "{}", brief.text);
    let disabled = |key: &str| Provision::Disabled { by: key.to_owned() };
    assert_eq!(brief.receipt.provided.context, disabled("assembly.enabled"));
    assert_eq!(brief.receipt.provided.specialization, disabled("specialization.enabled"));
    // The receipt of a brief without context still says whose it is.
    let receipt = world.receipt("1");
    assert_eq!((receipt.session, receipt.group), (session(), Some(group())));
    assert_eq!((receipt.role, receipt.iteration), (role("developer"), 0));
}

#[test]
fn an_ending_is_kept_in_every_field() {
    let world = World::new();
    let handoff = world.started("qa_expert", "1", 1);
    fs_err::write(world.paths.root().join("report.md"), "# Report\n\n## Summary\nFrom the file.\n")
        .unwrap();
    let debrief = Debrief {
        receipt: Some(receipt_id("1")),
        verdict: Some(Verdict::Failed),
        summary: Some("Two refreshes sign the user out".to_owned()),
        findings: vec!["the lock is not held".to_owned()],
        confidence: Some(Confidence::Low),
        reasoning: BTreeMap::from([(Phase::Completion, "3 of 15 fail".to_owned())]),
        packages: vec![PackageNote {
            path: "report.md".to_owned(),
            kind: Some(PackageKind::Investigation),
            priority: Some(Priority::Critical),
            consumers: vec![role("developer")],
            summary: Some("From the debrief.".to_owned()),
        }],
        ..Debrief::default()
    };
    let agent = AgentId::new("a1").unwrap();
    let named = handoff.assignment.named(Some(agent.clone()));
    let ended = world.handoffs().ended(Ending::new(&named, &debrief, at(5))).unwrap();
    let kept = ended.kept().unwrap();

    let package = world.store.package(kept.packages[0]).unwrap();
    assert_eq!((package.kind, package.priority), (PackageKind::Investigation, Priority::Critical));
    assert_eq!(package.summary, "From the debrief.");
    assert_eq!((package.producer, package.consumers), (role("qa_expert"), vec![role("developer")]));
    assert_eq!((package.group, package.created_at), (Some(group()), at(5)));

    let entry = &world.store.reasoning(&session(), &ReasoningFilter::default()).unwrap()[0];
    assert_eq!((&entry.agent_id, entry.confidence), (&Some(agent.clone()), Some(Confidence::Low)));
    assert_eq!((&entry.group, &entry.role), (&Some(group()), &role("qa_expert")));

    let verdict = &world.store.verdicts(&session(), &VerdictFilter::default()).unwrap()[0];
    assert_eq!((verdict.verdict, &verdict.agent_id), (Verdict::Failed, &Some(agent)));
    assert_eq!(verdict.summary.as_deref(), Some("Two refreshes sign the user out"));
    assert_eq!(verdict.findings, ["the lock is not held"]);
    assert_eq!(verdict.receipt, Some(receipt_id("1")));
}

#[test]
fn agents_of_the_session_that_are_at_work_stand_in_the_brief() {
    let world = World::new();
    let request =
        |name: &str, seconds| HandoffRequest { beside: true, ..world.request(name, seconds) };
    let beside = |name: &str, seconds| {
        let brief = world.handoffs().preview(&request(name, seconds));
        (brief.text.matches("- developer in group login, at work").count(), brief.sections)
    };
    let first = world.started("developer", "1", 1);
    let (count, sections) = beside("9", 2);
    assert_eq!(count, 1);
    assert!(sections["beside"] > 0, "{sections:?}");
    world.started("developer", "2", 3);
    assert_eq!(beside("9", 4).0, 2);
    // One has ended.
    let debrief = Debrief { verdict: Some(Verdict::Complete), ..Debrief::default() };
    world.handoffs().ended(Ending::new(&first.assignment, &debrief, at(5))).unwrap();
    assert_eq!(beside("9", 6).0, 1);
    // No agent works for longer than it may.
    let timeout = i64::try_from(world.config.agents.timeout).unwrap();
    assert_eq!(beside("9", 2 + timeout).0, 1);
    assert_eq!(beside("9", 4 + timeout).0, 0);
}

#[test]
fn the_status_of_a_group_follows_the_verdicts_on_it() {
    let world = World::new();
    let status = || world.store.group(&session(), &group()).unwrap().status;
    let mut number = 0;
    let mut end = |who: &str, verdict| {
        number += 1;
        let handoff = world.started(who, &number.to_string(), number);
        let debrief = Debrief { verdict: Some(verdict), ..Debrief::default() };
        world.handoffs().ended(Ending::new(&handoff.assignment, &debrief, at(number))).unwrap();
        world.store.group(&session(), &group()).unwrap().status
    };
    assert_eq!(status(), GroupStatus::Pending);
    assert_eq!(end("developer", Verdict::Complete), GroupStatus::InProgress);
    assert_eq!(end("qa_expert", Verdict::Passed), GroupStatus::InProgress);
    assert_eq!(end("tech_lead", Verdict::Passed), GroupStatus::ApprovedPendingMerge);
    assert_eq!(end("qa_expert", Verdict::Failed), GroupStatus::InProgress);
    assert_eq!(end("tech_lead", Verdict::PassedWithFixes), GroupStatus::ApprovedPendingMerge);
    assert_eq!(end("developer", Verdict::Failed), GroupStatus::ApprovedPendingMerge);
    assert_eq!(end("project_manager", Verdict::Blocked), GroupStatus::ApprovedPendingMerge);
    assert_eq!(end("project_manager", Verdict::Complete), GroupStatus::Completed);
}

#[test]
fn reasoning_of_another_group_is_not_counted_as_handed_over() {
    let world = World::new();
    let other = handover_model::GroupId::new("other").unwrap();
    world.store.set_group(&GroupUpdate::new(session(), other.clone(), at(0))).unwrap();
    for (owner, text) in [(group(), "one lock"), (other, "something else entirely")] {
        let new = NewReasoning {
            session: session(),
            group: Some(owner),
            role: role("developer"),
            agent_id: None,
            iteration: 0,
            phase: Phase::Completion,
            confidence: None,
            content: world.redactor.clean(text),
            references: Vec::new(),
            now: at(1),
            trust: handover_model::Trust::Project,
        };
        world.store.add_reasoning(&new).unwrap();
    }
    world.started("qa_expert", "1", 2);
    let events = world.events(handover_model::KnownEvent::ReasoningHandoff);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["length"], 8);
    assert_eq!(events[0]["phases"], serde_json::json!(["completion"]));
}

#[test]
fn a_delivery_that_cannot_be_written_waits_in_the_spool() {
    let world = World::new();
    let prepared = world.prepare("1", 1);
    let file = world.paths.root().join("store.db");
    let holder = SqliteStore::open(&file).unwrap();
    let hasty = SqliteStore::open_within(&file, Patience::new(Duration::from_millis(20))).unwrap();
    (&holder as &dyn Store)
        .writing(|_| {
            let handoffs = Handoffs { store: Ok(&hasty), ..world.handoffs() };
            let receipt = prepared.handoff.prompt.receipt();
            handoffs.started(receipt, Some(Host::CODEX), at(7)).unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(world.receipt("1").state, ReceiptState::Assembled);
    let text = fs_err::read_to_string(world.spool.path().join("r_1.json")).unwrap();
    let spooled: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(spooled["state"], "delivered", "{spooled:#}");
    assert_eq!(spooled["host"], "codex", "{spooled:#}");
    // The next handoff brings it in.
    world.prepare("2", 9);
    let receipt = world.store.receipt(&receipt_id("1")).unwrap();
    assert_eq!(receipt.state, ReceiptState::Delivered);
    assert_eq!((receipt.host.as_deref(), receipt.delivered_at), (Some("codex"), Some(at(7))));
}
