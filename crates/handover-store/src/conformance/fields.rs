//! Every field of every record reads back as it was written: all values differ, so that none can be
//! mistaken for another.

use std::collections::BTreeMap;

use handover_model::learn::Trust;
use handover_model::{
    AgentId, BriefDelivery, Confidence, Delivery, EpicId, ErrorIncident, ErrorPattern, Event,
    EventType, Group, GroupStatus, Host, HostSessionId, HostVersion, JournalEntry, JournalKind,
    LockOwner, Package, PackageId, PackageKind, Phase, Priority, Reasoning, ReasoningId, ReceiptId,
    ReceiptState, RecordState, Run, RunId, RunState, Scope, Session, SessionCounts, SessionStatus,
    SkillName, SkillOutput, Strategy, Ticket, Token, TokenId, TokenKind, TokenScope, ToolUseId,
    Topic, Use,
};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{
    CleanSignature, ErrorFilter, ErrorSighting, EventFilter, EventKey, Given, GroupUpdate, Handed,
    Hold, ItemUse, Job, Judgement, LockClaim, NewEvent, NewJob, NewJournalEntry, NewPackage,
    NewReasoning, NewRun, NewSession, NewSkillOutput, NewStrategy, NewTicket, NewToken, Outline,
    PackageFilter, ReasoningFilter, ReceiptStep, RunFilter, SkillOutputFilter, StrategyFilter,
    Supersede, TrustAt, Versions,
};

/// A session that was closed, and its counts.
pub fn of_a_session(backend: &dyn Backend) {
    let store = backend.open();
    let new = NewSession {
        id: session_id("s1"),
        project: project(),
        metadata: clean_json(json!({"branch": "main", "depth": [1, null]})),
        now: at(1),
    };
    store.open_session(&new).unwrap();
    store.set_session_status(&new.id, SessionStatus::Failed, at(2)).unwrap();
    let expected = Session {
        id: session_id("s1"),
        project: project(),
        status: SessionStatus::Failed,
        metadata: json!({"branch": "main", "depth": [1, null]}),
        created_at: at(1),
        ended_at: Some(at(2)),
    };
    assert_eq!(store.session(&new.id).unwrap(), expected);
    assert_eq!(store.sessions(None).unwrap(), [expected]);

    // A different number of each kind.
    for n in 0..6 {
        if n < 2 {
            register(&*store, package(&new.id, "a.md", &n.to_string()));
        }
        if n < 3 {
            store.add_reasoning(&reasoning(&new.id, Phase::Risks, "x")).unwrap();
        }
        if n < 4 {
            store.save_skill_output(&skill_output(&new.id, "lint")).unwrap();
        }
        if n < 5 {
            store.log_event(&event(&new.id, "note", None)).unwrap();
        }
        store.put_receipt(&receipt(&new.id, &format!("r_{n}"), &[])).unwrap();
        store
            .set_group(&GroupUpdate::new(new.id.clone(), group_id(&format!("P{n}")), at(n)))
            .unwrap();
    }
    store.set_group(&GroupUpdate::new(new.id.clone(), group_id("P7"), at(7))).unwrap();
    let counts = SessionCounts {
        groups: 7,
        packages: 1,
        package_versions: 2,
        reasoning: 3,
        skill_outputs: 4,
        events: 5,
        receipts: 6,
    };
    assert_eq!(store.session_counts(&new.id).unwrap(), counts);
}

/// A group with everything set.
pub fn of_a_group(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let one = register(&*store, package(&session, "a.md", "a")).id;
    let two = register(&*store, package(&session, "b.md", "b")).id;
    let update = GroupUpdate {
        title: Some(clean("Checkout")),
        status: Some(GroupStatus::Merging),
        references: Some(vec![two, one]),
        specializations: Some(vec![clean("rust"), clean("axum")]),
        component: Some(clean("crates/pay")),
        count: vec![counter("revisions"), counter("failures"), counter("revisions")],
        ..GroupUpdate::new(session.clone(), group_id("P1"), at(3))
    };
    let expected = Group {
        session: session.clone(),
        id: group_id("P1"),
        title: Some("Checkout".to_owned()),
        status: GroupStatus::Merging,
        references: vec![two, one],
        specializations: vec!["rust".to_owned(), "axum".to_owned()],
        component: Some("crates/pay".to_owned()),
        counters: BTreeMap::from([("failures".to_owned(), 1), ("revisions".to_owned(), 2)]),
        created_at: at(3),
    };
    assert_eq!(store.set_group(&update).unwrap(), expected);
    assert_eq!(store.group(&session, &group_id("P1")).unwrap(), expected);
    assert_eq!(store.groups(&session).unwrap(), [expected]);
}

fn full_package(session: &handover_model::SessionId) -> NewPackage {
    NewPackage {
        session: session.clone(),
        group: Some(group_id("P1")),
        scope: Scope::Group,
        kind: PackageKind::Investigation,
        path: "notes/a.md".to_owned(),
        title: Some(clean("Title")),
        summary: clean("Summary"),
        files: vec![clean("src/a.rs"), clean("src/b.rs")],
        body: clean("Body"),
        producer: role("investigator"),
        consumers: vec![role("developer"), role("qa_expert")],
        priority: Priority::Critical,
        iteration: Some(4),
        size_bytes: 1_001,
        tokens: 1_002,
        content_hash: "first".to_owned(),
        supersede: Supersede::SamePath,
        created_at: at(5),
        trust: handover_model::Trust::Project,
    }
}

/// Both versions of a package, its outline, and its deliveries.
pub fn of_a_package(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let first = register(&*store, full_package(&session)).id;
    let changed = NewPackage { content_hash: "second".to_owned(), ..full_package(&session) };
    let second = register(&*store, changed).id;
    let expected = Package {
        id: second,
        session: session.clone(),
        group: Some(group_id("P1")),
        scope: Scope::Group,
        kind: PackageKind::Investigation,
        path: "notes/a.md".to_owned(),
        title: Some("Title".to_owned()),
        summary: "Summary".to_owned(),
        files: vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()],
        producer: role("investigator"),
        consumers: vec![role("developer"), role("qa_expert")],
        priority: Priority::Critical,
        iteration: Some(4),
        version: 2,
        supersedes: Some(first),
        superseded_by: None,
        size_bytes: 1_001,
        tokens: 1_002,
        content_hash: "second".to_owned(),
        created_at: at(5),
        trust: handover_model::Trust::Project,
        state: RecordState::Live,
        reason: None,
    };
    let former = Package {
        id: first,
        version: 1,
        supersedes: None,
        superseded_by: Some(second),
        content_hash: "first".to_owned(),
        ..expected.clone()
    };
    assert_eq!(store.package(second).unwrap(), expected);
    assert_eq!(store.package_history(first).unwrap(), [former.clone(), expected.clone()]);
    let all = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
    assert_eq!(store.packages(&session, &all).unwrap(), [expected, former]);
    let outline = |id: PackageId, version, is_latest| Outline {
        id,
        name: "Title".to_owned(),
        producer: role("investigator"),
        version,
        is_latest,
        created_at: at(5),
    };
    assert_eq!(
        store.outlines(&session, None).unwrap(),
        [outline(first, 1, false), outline(second, 2, true)]
    );

    let receipt_id = ReceiptId::new("r_1").unwrap();
    let mut new = receipt(&session, "r_1", &[second]);
    new.group = Some(group_id("P1"));
    new.iteration = 3;
    let (role, version) = (new.role.clone(), new.items[0].version);
    store.put_receipt(&new).unwrap();
    let delivered = ReceiptStep::Delivered { host: Some(clean("claude")) };
    store.advance_receipt(&receipt_id, &delivered, at(8)).unwrap();
    store.mark_read(&receipt_id, second, at(9)).unwrap();
    let delivery = Delivery {
        receipt: receipt_id.clone(),
        group: Some(group_id("P1")),
        role,
        iteration: 3,
        version,
        state: ReceiptState::Delivered,
        read_at: Some(at(9)),
        delivered_at: at(8),
    };
    assert_eq!(store.package_deliveries(second).unwrap(), std::slice::from_ref(&delivery));
    let kind = handover_model::ItemKind::Package;
    let given = |project: &str, item: PackageId, limit| {
        store.given(&project.parse().unwrap(), kind, &item.to_string(), limit).unwrap()
    };
    let used = ItemUse { kind, item: second.to_string(), used: Use::Named };
    store.mark_used(&receipt_id, &[used]).unwrap();
    let one = Given { session: session.clone(), delivery, used: Some(Use::Named) };
    let project = store.session(&session).unwrap().project;
    assert_eq!(given(project.as_str(), second, 5), [one]);
    assert_eq!(given(project.as_str(), second, 0), []);
    assert_eq!(given(project.as_str(), first, 5), [], "of another version");
    assert_eq!(given("nobody", second, 5), [], "of another project");
    let handed = Handed {
        receipt: receipt_id,
        kind: handover_model::ItemKind::Package,
        item: second.to_string(),
        read_at: Some(at(9)),
    };
    assert_eq!(store.handed(&session).unwrap(), [handed]);
}

/// Reasoning, skill outputs and events.
pub fn of_what_agents_report(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let added = store
        .add_reasoning(&NewReasoning {
            session: session.clone(),
            group: Some(group_id("P1")),
            role: role("tech_lead"),
            agent_id: Some(AgentId::new("a7").unwrap()),
            iteration: 2,
            phase: Phase::Pivot,
            confidence: Some(Confidence::Low),
            content: clean("Content"),
            references: vec![clean("one"), clean("two")],
            now: at(4),
            trust: handover_model::Trust::Outside,
        })
        .unwrap();
    let expected = Reasoning {
        id: added.id,
        session: session.clone(),
        group: Some(group_id("P1")),
        role: role("tech_lead"),
        agent_id: Some(AgentId::new("a7").unwrap()),
        iteration: 2,
        phase: Phase::Pivot,
        confidence: Some(Confidence::Low),
        content: "Content".to_owned(),
        references: vec!["one".to_owned(), "two".to_owned()],
        created_at: at(4),
        trust: handover_model::Trust::Outside,
    };
    assert_eq!(added, expected);
    assert_eq!(store.reasoning(&session, &ReasoningFilter::default()).unwrap(), [expected]);

    let saved = store
        .save_skill_output(&NewSkillOutput {
            session: session.clone(),
            skill: SkillName::new("scan").unwrap(),
            role: Some(role("qa_expert")),
            group: Some(group_id("P2")),
            output: clean_json(json!({"found": 3})),
            now: at(5),
        })
        .unwrap();
    let expected = SkillOutput {
        id: saved.id,
        session: session.clone(),
        skill: SkillName::new("scan").unwrap(),
        role: Some(role("qa_expert")),
        group: Some(group_id("P2")),
        iteration: 1,
        output: json!({"found": 3}),
        created_at: at(5),
    };
    assert_eq!(saved, expected);
    assert_eq!(store.skill_outputs(&session, &SkillOutputFilter::default()).unwrap(), [expected]);

    let logged = store
        .log_event(&NewEvent {
            session: session.clone(),
            group: Some(group_id("P3")),
            kind: EventType::new("review_done").unwrap(),
            payload: clean_json(json!({"by": "someone"})),
            key: Some(EventKey::new("k1", &handover_text::Redactor::default())),
            now: at(6),
        })
        .unwrap();
    let expected = Event {
        id: logged.id,
        session: session.clone(),
        group: Some(group_id("P3")),
        kind: EventType::new("review_done").unwrap(),
        payload: json!({"by": "someone"}),
        key: Some("k1".to_owned()),
        created_at: at(6),
    };
    assert_eq!(store.events(&session, &EventFilter::default()).unwrap(), [expected]);
}

/// Error patterns with their incidents and history, and strategies.
pub fn of_what_a_project_learns(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let hints = ["npm".to_owned(), "ci".to_owned()];
    let redactor = handover_text::Redactor::default();
    let sighting = ErrorSighting {
        project: project(),
        signature: CleanSignature::new(Some("TypeError"), "x is undefined", &hints, &redactor),
        language: Some(clean("js")),
        ttl_days: 9,
        session: Some(session.clone()),
        group: Some(group_id("P1")),
        role: Some(role("developer")),
        command: Some(clean("npm test")),
        now: at(2),
        trust: handover_model::Trust::Person,
    };
    store.record_error(&sighting).unwrap();
    let solved = ErrorSighting { now: at(3), ..sighting.clone() };
    let pattern = store.resolve_error(&solved, &clean("define x")).unwrap();
    let signature = sighting.signature.signature();
    assert_eq!((signature.kind.as_str(), signature.hints.len()), ("TypeError", 2));
    let expected = ErrorPattern {
        project: project(),
        hash: signature.hash(),
        signature,
        example: Some("TypeError: x is undefined".to_owned()),
        solution: Some("define x".to_owned()),
        confidence: Trust::START,
        occurrences: 2,
        language: Some("js".to_owned()),
        first_seen: at(2),
        last_seen: at(3),
        ttl_days: 9,
        trust: handover_model::Trust::Person,
        state: RecordState::Live,
        reason: None,
    };
    assert_eq!(pattern, expected);
    assert_eq!(store.errors(&project(), &ErrorFilter::default()).unwrap(), [expected]);
    let incident = |now| ErrorIncident {
        hash: pattern.hash.clone(),
        session: Some(session.clone()),
        group: Some(group_id("P1")),
        role: Some(role("developer")),
        command: Some("npm test".to_owned()),
        created_at: now,
    };
    let incidents = store.error_incidents(&project(), &pattern.hash).unwrap();
    assert_eq!(incidents, [incident(at(3)), incident(at(2))]);
    let judged = store.judge_error(&project(), &pattern.hash, Judgement::Confirmed, at(4)).unwrap();
    assert_eq!(
        store.error_trust(&project(), &pattern.hash).unwrap(),
        [
            TrustAt { at: at(2), confidence: Trust::START },
            TrustAt { at: at(4), confidence: judged.confidence },
        ]
    );

    let learned = store
        .learn_strategies(&[NewStrategy {
            project: project(),
            topic: Topic::Architecture,
            insight: clean("Keep it simple"),
            language: Some(clean("rust")),
            framework: Some(clean("axum")),
            source: ReasoningId(1),
            now: at(5),
            trust: handover_model::Trust::Project,
        }])
        .unwrap();
    let helped = store.strategy_helped(&learned[0].id, at(6)).unwrap();
    let expected = Strategy {
        id: learned[0].id.clone(),
        project: project(),
        topic: Topic::Architecture,
        insight: "Keep it simple".to_owned(),
        helpfulness: 2,
        language: Some("rust".to_owned()),
        framework: Some("axum".to_owned()),
        created_at: at(5),
        last_seen: at(6),
        trust: handover_model::Trust::Project,
        state: RecordState::Live,
        reason: None,
    };
    assert_eq!(helped, expected);
    assert_eq!(store.strategies(&project(), &StrategyFilter::default()).unwrap(), [expected]);
}

/// Runs, journals, locks and jobs.
pub fn of_a_run(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let (epic, id) = (EpicId::new("12").unwrap(), RunId::new("run1").unwrap());
    let owner = LockOwner {
        host: "here".to_owned(),
        pid: 77,
        started: Some(5),
        boot: Some("b".to_owned()),
    };
    let claim = LockClaim {
        epic: epic.clone(),
        owner: owner.clone(),
        until: at(99),
        over: None,
        now: at(1),
    };
    let fence = store.lock_epic(&claim).unwrap();
    assert_eq!(store.epic_owner(&epic).unwrap(), Some((owner, fence)));
    let new = NewRun { id: id.clone(), epic: epic.clone(), session: session.clone(), now: at(2) };
    store.start_run(&new, fence).unwrap();
    let entry = NewJournalEntry {
        seq: 1,
        kind: JournalKind::Result,
        entry: clean_json(json!({"ok": true})),
        state: Some(RunState::Blocked),
        until: at(99),
        now: at(3),
    };
    store.append_journal(&id, &entry, fence).unwrap();
    let expected = Run {
        id: id.clone(),
        epic,
        session,
        state: RunState::Blocked,
        created_at: at(2),
        updated_at: at(3),
    };
    assert_eq!(store.run_record(&id).unwrap(), expected);
    assert_eq!(store.runs(&RunFilter::default()).unwrap(), [expected]);
    let expected = JournalEntry {
        seq: 1,
        kind: JournalKind::Result,
        entry: json!({"ok": true}),
        created_at: at(3),
    };
    assert_eq!(store.journal(&id, 1).unwrap(), [expected]);

    let work = clean_json(json!({"do": "it"}));
    store.offer_job(&NewJob { run: id.clone(), seq: 1, work, now: at(4) }).unwrap();
    let hold = Hold { run: id.clone(), taker: "there".to_owned(), until: at(50) };
    let taken = store.take_job(&hold, at(5)).unwrap().unwrap();
    let expected =
        Job { seq: 1, work: json!({"do": "it"}), taker: Some("there".to_owned()), result: None };
    assert_eq!(taken, expected);
    assert!(store.finish_job(&hold, 1, &clean_json(json!("done"))).unwrap());
    let finished = Job { result: Some(json!("done")), ..expected };
    assert_eq!(store.job(&id, 1).unwrap(), Some(finished));
    store.announce_helper(&hold, 3).unwrap();
    assert_eq!(store.helping_slots(&id, at(6)).unwrap(), 3);
}

/// Tickets, host versions and tokens.
pub fn of_hosts_and_tokens(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    store.put_receipt(&receipt(&session, "r_1", &[])).unwrap();
    let (receipt, conversation) =
        (ReceiptId::new("r_1").unwrap(), HostSessionId::new("c1").unwrap());
    let agent = AgentId::new("a1").unwrap();
    store
        .open_ticket(&NewTicket {
            receipt: receipt.clone(),
            host: Host::CODEX,
            host_session: conversation.clone(),
            agent_type: clean("reviewer"),
            task_hash: "hash".to_owned(),
            task: Some(clean("Review it")),
            way: BriefDelivery::Start,
            name: Some(clean("alice")),
            tool_use: Some(ToolUseId::new("toolu_1").unwrap()),
            agent: None,
            now: at(2),
        })
        .unwrap();
    assert!(store.take_ticket(&receipt, &agent).unwrap());
    assert!(store.ask_ticket(&receipt).unwrap());
    let expected = Ticket {
        receipt: receipt.clone(),
        host: Host::CODEX,
        host_session: conversation.clone(),
        agent_type: "reviewer".to_owned(),
        name: Some("alice".to_owned()),
        tool_use: ToolUseId::new("toolu_1").ok(),
        task_hash: "hash".to_owned(),
        task: Some("Review it".to_owned()),
        way: BriefDelivery::Start,
        agent: Some(agent.clone()),
        asked: true,
        ending: None,
        created_at: at(2),
        closed_at: None,
    };
    let open = store.open_tickets(Host::CODEX, &conversation).unwrap();
    assert_eq!(open, std::slice::from_ref(&expected));
    assert!(store.close_ticket(&receipt, at(3)).unwrap());
    assert!(store.end_ticket(&receipt, "hash of the last message", at(4)).unwrap());
    let ending = Some("hash of the last message".to_owned());
    let closed = Ticket { closed_at: Some(at(3)), ending, ..expected };
    assert_eq!(store.ticket_of(Host::CODEX, &agent).unwrap(), Some(closed));

    store.note_host_version(Host::CLAUDE, &clean("1.2"), true, at(4)).unwrap();
    let expected = HostVersion {
        host: Host::CLAUDE,
        version: "1.2".to_owned(),
        drops_rewrites: true,
        seen_at: at(4),
    };
    assert_eq!(store.host_versions().unwrap(), [expected]);

    let id = TokenId::new("t1").unwrap();
    let new = NewToken {
        id: id.clone(),
        name: Some(clean("laptop")),
        kind: TokenKind::Login,
        scope: TokenScope::Write,
        project: Some(project()),
        hash: "secret hash".to_owned(),
        expires_at: Some(at(60)),
        now: at(5),
    };
    store.create_token(&new).unwrap();
    assert!(store.end_token(&id, at(6)).unwrap());
    let expected = Token {
        id: id.clone(),
        name: Some("laptop".to_owned()),
        kind: TokenKind::Login,
        scope: TokenScope::Write,
        project: Some(project()),
        hash: "secret hash".to_owned(),
        created_at: at(5),
        expires_at: Some(at(60)),
        ended_at: Some(at(6)),
    };
    assert_eq!(store.token(&id).unwrap(), expected);
    assert_eq!(store.tokens().unwrap(), [expected]);
}
