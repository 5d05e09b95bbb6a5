//! Every method of the store, from its table: the right it needs, and that it reaches nothing in another
//! project, whatever the caller knows about it.

use handover_sqlite::SqliteStore;
use handover_store::conformance::fixture::*;
use serde_json::json;

use super::*;

macro_rules! names {
    ($($trait:ident {
        $($right:ident $name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty, $guard:ident($($what:expr)?);)+
    })+) => {
        /// All methods, with the right that each needs.
        const METHODS: &[(&str, TokenScope)] = &[$($((stringify!($name), scope!($right)),)+)+];
    };
}

handover_store::store_methods!(names);

/// The records of one project. Their names contain the project's name.
struct Records {
    project: ProjectId,
    session: SessionId,
    package: PackageId,
    receipt: ReceiptId,
    run: RunId,
    epic: EpicId,
    fence: u64,
    conversation: HostSessionId,
    call: ToolUseId,
    agent: AgentId,
    /// Of an error pattern.
    hash: String,
    strategy: String,
    token: TokenId,
}

impl Records {
    fn named(project: &str) -> Self {
        Self {
            project: ProjectId::new(project).unwrap(),
            session: session_id(&format!("session-{project}")),
            package: PackageId(0),
            receipt: ReceiptId::new(format!("r_{project}")).unwrap(),
            run: RunId::new(format!("run_{project}")).unwrap(),
            epic: EpicId::new(project).unwrap(),
            fence: 0,
            conversation: HostSessionId::new(format!("conversation-{project}")).unwrap(),
            call: ToolUseId::new(format!("call-{project}")).unwrap(),
            agent: AgentId::new(format!("agent-{project}")).unwrap(),
            hash: String::new(),
            strategy: String::new(),
            token: TokenId::new(format!("t_{project}")).unwrap(),
        }
    }

    /// One record of each kind.
    fn stored(store: &dyn Store, project: &str) -> Self {
        let mut records = Self::named(project);
        store.open_session(&records.new_session()).unwrap();
        store.set_group(&records.group_update()).unwrap();
        records.package = register(store, records.new_package("a.md")).id;
        let thought = store.add_reasoning(&records.thought()).unwrap();
        store.add_verdict(&records.new_verdict()).unwrap();
        store.save_skill_output(&skill_output(&records.session, "scan")).unwrap();
        store.log_event(&event(&records.session, "built", None)).unwrap();
        records.hash = store.record_error(&records.sighting()).unwrap().hash;
        let new = NewStrategy { source: thought.id, ..records.new_strategy() };
        records.strategy = store.learn_strategies(&[new]).unwrap().remove(0).id;
        store
            .put_receipt(&receipt(&records.session, records.receipt.as_str(), &[records.package]))
            .unwrap();
        store.open_ticket(&records.new_ticket()).unwrap();
        store.take_ticket(&records.receipt, &records.agent).unwrap();
        store.bind_host(Host::CLAUDE, &records.conversation, &records.session, at(1)).unwrap();
        records.fence = store.lock_epic(&records.claim()).unwrap();
        store.start_run(&records.new_run(records.run.as_str()), records.fence).unwrap();
        store.append_journal(&records.run, &records.entry(1), records.fence).unwrap();
        store.offer_job(&records.job(1)).unwrap();
        store.announce_helper(&records.hold(), 3).unwrap();
        store.create_token(&records.new_token(records.token.as_str())).unwrap();
        store.learn_notes(&records.project, &[records.new_unit()], at(1)).unwrap();
        store.log_operation(&records.operation("op_0", &records.note())).unwrap();
        records
    }

    fn new_unit(&self) -> NewUnit {
        unit("docs/a.md", &[self.text().as_str()])
    }

    fn amendment(&self) -> Amendment {
        let item = |id: &str| ItemRef { kind: ItemKind::Note, id: id.to_owned() };
        Amendment {
            project: self.project.clone(),
            earlier: item(self.note().as_str()),
            later: item(&format!("doc-{}", self.project)),
            decision: AmendmentDecision::Confirmed,
            decided_at: at(2),
        }
    }

    fn note(&self) -> NoteId {
        self.new_unit().notes[0].id.clone()
    }

    /// Retiring a note.
    fn operation(&self, id: &str, note: &NoteId) -> NewOperation {
        let changes = json!([{"of": "note", "id": note, "before": {"state": "live"},
            "after": {"state": "retired", "reason": self.text()}}]);
        NewOperation {
            id: OperationId::new(format!("{id}_{}", self.project)).unwrap(),
            project: self.project.clone(),
            session: Some(self.session.clone()),
            action: Action::Retire,
            changes: clean_json(changes),
            undoes: None,
            trust: Trust::Person,
            author: None,
            now: at(1),
        }
    }

    fn text(&self) -> Clean {
        clean(&format!("what {} knows", self.project))
    }

    fn new_session(&self) -> NewSession {
        let (id, project) = (self.session.clone(), self.project.clone());
        NewSession { id, project, metadata: CleanJson::default(), now: at(0) }
    }

    fn group_update(&self) -> GroupUpdate {
        let update = GroupUpdate::new(self.session.clone(), group_id("g"), at(1));
        GroupUpdate { title: Some(self.text()), ..update }
    }

    fn new_package(&self, path: &str) -> NewPackage {
        package(&self.session, path, self.text().as_str())
    }

    fn thought(&self) -> NewReasoning {
        reasoning(&self.session, Phase::Risks, self.text().as_str())
    }

    fn written(&self) -> WrittenBy {
        let session = self.session.clone();
        WrittenBy { session, group: None, role: role("developer"), since: at(1) }
    }

    fn new_verdict(&self) -> NewVerdict {
        NewVerdict {
            session: self.session.clone(),
            group: None,
            role: role("qa_expert"),
            agent_id: None,
            iteration: 0,
            receipt: None,
            verdict: Verdict::Failed,
            summary: Some(self.text()),
            findings: Vec::new(),
            now: at(1),
            trust: handover_model::Trust::Project,
        }
    }

    fn sighting(&self) -> ErrorSighting {
        ErrorSighting { project: self.project.clone(), ..sighting(self.text().as_str()) }
    }

    fn new_strategy(&self) -> NewStrategy {
        NewStrategy { project: self.project.clone(), ..strategy(self.text().as_str(), 1) }
    }

    fn new_ticket(&self) -> NewTicket {
        NewTicket {
            receipt: self.receipt.clone(),
            host: Host::CLAUDE,
            host_session: self.conversation.clone(),
            agent_type: clean("general-purpose"),
            task_hash: "hash".to_owned(),
            task: None,
            way: BriefDelivery::Rewrite,
            name: None,
            tool_use: Some(self.call.clone()),
            agent: None,
            now: at(1),
        }
    }

    fn claim(&self) -> LockClaim {
        let owner = LockOwner { host: self.project.to_string(), pid: 7, started: None, boot: None };
        LockClaim { epic: self.epic.clone(), owner, until: at(60), over: None, now: at(1) }
    }

    fn new_run(&self, id: &str) -> NewRun {
        let (epic, session) = (self.epic.clone(), self.session.clone());
        NewRun { id: RunId::new(id).unwrap(), epic, session, now: at(1) }
    }

    fn entry(&self, seq: u64) -> NewJournalEntry {
        let entry = clean_json(json!({"text": self.text().as_str()}));
        NewJournalEntry {
            seq,
            kind: JournalKind::Note,
            entry,
            state: None,
            until: at(60),
            now: at(1),
        }
    }

    fn job(&self, seq: u64) -> NewJob {
        NewJob {
            run: self.run.clone(),
            seq,
            work: clean_json(json!(self.text().as_str())),
            now: at(1),
        }
    }

    fn hold(&self) -> Hold {
        Hold { run: self.run.clone(), taker: self.project.to_string(), until: at(60) }
    }

    fn new_token(&self, id: &str) -> NewToken {
        NewToken {
            id: TokenId::new(id).unwrap(),
            name: Some(self.text()),
            kind: TokenKind::Bearer,
            scope: TokenScope::Read,
            project: Some(self.project.clone()),
            hash: "hash".to_owned(),
            expires_at: None,
            now: at(1),
        }
    }
}

/// The answer in its wire form.
type Call = fn(&dyn Store, &Records) -> Result<String>;

macro_rules! calls {
    ($of:ident: $($name:ident($($arg:expr),*);)+) => {
        vec![$((stringify!($name), |store, $of| {
            // Some methods have no arguments.
            let _ = $of;
            let answer = store.$name($($arg),*)?;
            Ok(serde_json::to_string(&answer).unwrap())
        })),+]
    };
}

/// One call of each method, about these records.
fn calls() -> Vec<(&'static str, Call)> {
    calls! { of:
        open_session(&of.new_session());
        session(&of.session);
        sessions(None);
        session_counts(&of.session);
        set_session_status(&of.session, SessionStatus::Failed, at(2));
        set_group(&of.group_update());
        group(&of.session, &group_id("g"));
        groups(&of.session);
        register_packages(&[of.new_package("b.md")]);
        package(of.package);
        packages_by_id(&[of.package]);
        packages(&of.session, &PackageFilter::default());
        slice(&of.session, None, None, 0, 10);
        outlines(&of.session, None);
        set_package_state(&[of.package], RecordState::Retired, None);
        package_history(of.package);
        package_deliveries(of.package);
        package_body(of.package);
        package_bodies(&[of.package]);
        add_reasoning(&of.thought());
        reasoning(&of.session, &ReasoningFilter::default());
        lower_trust(&of.written(), Trust::Outside);
        add_verdict(&of.new_verdict());
        verdicts(&of.session, &VerdictFilter::default());
        save_skill_output(&skill_output(&of.session, "scan"));
        skill_outputs(&of.session, &SkillOutputFilter::default());
        record_error(&of.sighting());
        resolve_error(&of.sighting(), &of.text());
        judge_error(&of.project, &of.hash, Judgement::Rejected, at(2));
        set_error_state(&of.project, &of.hash, RecordState::Retired, Some(&of.text()));
        errors(&of.project, &ErrorFilter::default());
        error_incidents(&of.project, &of.hash);
        error_trust(&of.project, &of.hash);
        learn_strategies(&[of.new_strategy()]);
        strategy_helped(&of.strategy, at(2));
        set_strategy_state(&of.project, &of.strategy, RecordState::Retired, None);
        strategies(&of.project, &StrategyFilter::default());
        learn_notes(&of.project, &[of.new_unit()], at(2));
        note(&of.project, &of.note());
        notes(&of.project, &NoteFilter::default());
        notes_by_number(&of.project, &[1, 2]);
        note_units(&of.project, NoteKind::Doc);
        note_postings(&of.project, &["knows".to_owned()]);
        note_numbers(&of.project, NoteKind::Doc);
        note_words_like(&of.project, "knwos", 1);
        set_note_state(&of.project, &of.note(), NoteState::Stale, None, at(2));
        log_operation(&of.operation("op_1", &of.note()));
        operations(&of.project, &OperationFilter::default());
        decide_amendment(&of.amendment());
        amendments(&of.project);
        log_event(&event(&of.session, "built", None));
        events(&of.session, &EventFilter::default());
        put_receipt(&receipt(&of.session, "r_new", &[of.package]));
        claim_receipt(&of.receipt, at(2));
        advance_receipt(&of.receipt, &ReceiptStep::Delivered { host: None }, at(2));
        deliveries(&of.session, None, &role("developer"), at(2));
        mark_read(&of.receipt, of.package, at(2));
        mark_used(&of.receipt, &[]);
        use_tallies(&of.project, ItemKind::Package, &[]);
        receipt_sums(&of.project, at(0));
        item_sums(&of.project, at(0));
        receipt(&of.receipt);
        receipts(&ReceiptFilter::default());
        handed(&of.session);
        handed_by(&of.session, std::slice::from_ref(&of.receipt));
        given(&of.project, ItemKind::Package, "1", 5);
        consumed(&of.session, None, &role("developer"), 0, at(2));
        lock_epic(&LockClaim { over: Some(of.fence), ..of.claim() });
        keep_epic(&of.epic, of.fence, at(90));
        epic_owner(&of.epic);
        start_run(&of.new_run("run_new"), of.fence);
        append_journal(&of.run, &of.entry(2), of.fence);
        unlock_epic(&of.epic, of.fence);
        journal(&of.run, 1);
        run_record(&of.run);
        runs(&RunFilter::default());
        agent_costs(&of.project, at(0));
        decided(&of.project, 5);
        offer_job(&of.job(2));
        take_job(&of.hold(), at(2));
        keep_job(&of.hold(), 1);
        finish_job(&of.hold(), 1, &clean_json(json!("done")));
        job(&of.run, 1);
        withdraw_job(&of.run, 1);
        announce_helper(&of.hold(), 1);
        helping_slots(&of.run, at(2));
        bind_host(Host::CLAUDE, &of.conversation, &of.session, at(2));
        bound_session(Host::CLAUDE, &of.conversation);
        open_ticket(&of.new_ticket());
        open_tickets(Host::CLAUDE, &of.conversation);
        tickets(Host::CLAUDE, &of.conversation);
        latest_tickets(Host::CLAUDE, &of.conversation, 5);
        unsettled_tickets(Host::CLAUDE, at(9));
        ticket_of_call(Host::CLAUDE, &of.conversation, &of.call);
        ticket_of(Host::CLAUDE, &of.agent);
        take_ticket(&of.receipt, &of.agent);
        bind_ticket(&of.receipt, &of.agent);
        ask_ticket(&of.receipt);
        end_ticket(&of.receipt, "hash", at(2));
        close_ticket(&of.receipt, at(2));
        note_host_version(Host::CLAUDE, &clean("1.2.3"), false, at(2));
        host_versions();
        postings(&of.session, &["knows".to_owned()]);
        words_like(&of.session, "knwos", 1);
        reindex(Some(&of.session));
        changes(0, 100);
        feed_span();
        create_token(&of.new_token("t_new"));
        token(&of.token);
        tokens();
        end_token(&of.token, at(2));
        drop_operations(&of.project, at(9));
        erase_delivered(&of.project, &[of.note()]);
        purge_note(&of.project, &of.note(), at(2));
        forget_notes(&of.project, NoteKind::Doc, None, at(2));
        delete_packages(&[of.package]);
        purge_session(&of.session);
    }
}

/// Both projects in one store.
struct Shared {
    _folder: tempfile::TempDir,
    store: SqliteStore,
    mine: Records,
    theirs: Records,
}

impl Shared {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let (mine, theirs) = (Records::stored(&store, "mine"), Records::stored(&store, "theirs"));
        Self { _folder: folder, store, mine, theirs }
    }

    /// What a caller with full access reads about a project's records.
    fn everything(&self, of: &Records) -> Vec<(&'static str, String)> {
        let reads = calls().into_iter().filter(|(name, _)| need(name) == TokenScope::Read);
        // Host versions belong to no project.
        let reads = reads.filter(|(name, _)| *name != "host_versions");
        let read = |(name, call): (&'static str, Call)| (name, call(&self.store, of).unwrap());
        reads
            .map(read)
            .chain([read(("tokens", |store, _| Ok(format!("{:?}", store.tokens()?))))])
            .collect()
    }
}

fn need(method: &str) -> TokenScope {
    METHODS.iter().find(|(name, _)| *name == method).unwrap().1
}

fn access(scope: TokenScope, project: &str) -> Access {
    let project = ProjectId::new(project).ok();
    Access { scope, project, other_project: None, token: None, private: false }
}

#[test]
fn every_method_is_called() {
    let mut expected: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
    let mut called: Vec<&str> = calls().into_iter().map(|(name, _)| name).collect();
    expected.sort_unstable();
    called.sort_unstable();
    assert_eq!(called, expected);
}

#[test]
fn every_method_needs_its_right() {
    for scope in [TokenScope::Read, TokenScope::Write, TokenScope::Admin] {
        let shared = Shared::new();
        let access = access(scope, "mine");
        let guard = Guarded::new(&shared.store, &shared.store, &access);
        let before = shared.everything(&shared.theirs);
        for (name, call) in calls() {
            let denied = match call(&guard, &shared.mine) {
                Err(StoreError::Denied { need }) => Some(need),
                _ => None,
            };
            let expected = Some(need(name)).filter(|need| *need > scope);
            assert_eq!(denied, expected, "{name} with {scope}");
        }
        if scope == TokenScope::Read {
            assert_eq!(shared.everything(&shared.theirs), before, "nothing was written");
        }
    }
}

#[test]
fn a_project_reads_its_own_records() {
    let shared = Shared::new();
    let access = access(TokenScope::Read, "mine");
    let guard = Guarded::new(&shared.store, &shared.store, &access);
    for (name, call) in calls().into_iter().filter(|(name, _)| need(name) == TokenScope::Read) {
        let answer = call(&guard, &shared.mine).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!answer.contains("theirs"), "{name}: {answer}");
        // Lists over the whole store are shorter; everything else matches the store.
        if !["sessions", "receipts", "runs", "changes", "unsettled_tickets"].contains(&name) {
            assert_eq!(answer, call(&shared.store, &shared.mine).unwrap(), "{name}");
        }
    }
}

#[test]
fn no_method_reaches_another_project() {
    let shared = Shared::new();
    let access = access(TokenScope::Admin, "mine");
    let guard = Guarded::new(&shared.store, &shared.store, &access);
    let before = shared.everything(&shared.theirs);
    for (name, call) in calls() {
        match call(&guard, &shared.theirs) {
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => panic!("{name} reveals more than that it is not there: {error}"),
            Ok(answer) => assert!(!answer.contains("theirs"), "{name}: {answer}"),
        }
        assert_eq!(shared.everything(&shared.theirs), before, "{name} has changed something");
    }
}

/// Own records that refer to records of the other project.
#[test]
fn writes_cannot_take_over_records_of_another_project() {
    let shared = Shared::new();
    let access = access(TokenScope::Admin, "mine");
    let guard = Guarded::new(&shared.store, &shared.store, &access);
    let (mine, theirs) = (&shared.mine, &shared.theirs);
    let before = shared.everything(theirs);
    let hidden = |outcome: Result<()>| {
        assert!(matches!(outcome, Err(StoreError::NotFound { .. })), "{outcome:?}");
        let unchanged: Vec<_> =
            shared.everything(theirs).into_iter().filter(|one| !before.contains(one)).collect();
        assert_eq!(unchanged, []);
    };
    hidden(guard.bind_host(Host::CLAUDE, &theirs.conversation, &mine.session, at(2)));
    let run = NewRun { epic: theirs.epic.clone(), ..mine.new_run("run_new") };
    hidden(guard.start_run(&run, theirs.fence));
    let next =
        NewPackage { supersede: Supersede::Package(theirs.package), ..mine.new_package("b.md") };
    hidden(guard.register_packages(&[mine.new_package("c.md"), next]).map(drop));
    hidden(
        guard
            .record_error(&ErrorSighting {
                session: Some(theirs.session.clone()),
                ..mine.sighting()
            })
            .map(drop),
    );
    hidden(guard.learn_strategies(&[mine.new_strategy(), theirs.new_strategy()]).map(drop));
    hidden(guard.packages_by_id(&[mine.package, theirs.package]).map(drop));
    hidden(
        guard
            .open_session(&NewSession { id: theirs.session.clone(), ..mine.new_session() })
            .map(drop),
    );
    hidden(guard.create_token(&NewToken { project: None, ..mine.new_token("t_all") }).map(drop));
    let references = GroupUpdate { references: Some(vec![theirs.package]), ..mine.group_update() };
    hidden(guard.set_group(&references).map(drop));
    hidden(guard.mark_read(&mine.receipt, theirs.package, at(2)).map(drop));
}

#[test]
fn rights_apply_inside_transactions() {
    let shared = Shared::new();
    let reader = access(TokenScope::Read, "mine");
    let guard = Guarded::new(&shared.store, &shared.store, &reader);
    let denied = guard.exclusively(&mut |_| panic!("a reader cannot lock the store"));
    assert!(matches!(denied, Err(StoreError::Denied { need: TokenScope::Write })), "{denied:?}");
    let (theirs, mine) = (&shared.theirs, &shared.mine);
    let mut look = |store: &dyn Store| {
        assert!(matches!(store.session(&theirs.session), Err(StoreError::NotFound { .. })));
        assert!(matches!(store.package(theirs.package), Err(StoreError::NotFound { .. })));
        assert_eq!(store.session(&mine.session)?.id, mine.session);
        // Also in a nested one.
        store.consistently(&mut |store| {
            assert!(matches!(store.receipt(&theirs.receipt), Err(StoreError::NotFound { .. })));
            Ok(())
        })
    };
    guard.consistently(&mut look).unwrap();
    let writer = access(TokenScope::Write, "mine");
    let guard = Guarded::new(&shared.store, &shared.store, &writer);
    guard.exclusively(&mut look).unwrap();
    let purge = guard.exclusively(&mut |store| store.purge_session(&mine.session).map(drop));
    assert!(matches!(purge, Err(StoreError::Denied { need: TokenScope::Admin })), "{purge:?}");
    shared.store.session(&mine.session).unwrap();
}

/// What a machine learned from its user's conversations does not leave it, by whatever method.
#[test]
fn private_notes_stay_with_their_user() {
    let shared = Shared::new();
    let (store, mine) = (&shared.store, &shared.mine);
    let secret = "We agreed with the bank on zanzibar";
    let mut talk = NewUnit { kind: NoteKind::Conversation, ..unit("talk", &[secret]) };
    talk.notes[0].id = secret_note();
    let id = secret_note();
    store.learn_notes(&mine.project, &[talk.clone()], at(1)).unwrap();
    let mut shows = receipt(&mine.session, "r_shows", &[]);
    shows.text = Some(clean(secret));
    shows.items = vec![ReceiptItem {
        trust: handover_model::Trust::Agent,
        flags: Vec::new(),
        stale: vec![handover_model::StaleName::Gone { name: "src/zanzibar.rs".to_owned() }],
        kind: ItemKind::Note,
        id: id.to_string(),
        version: 1,
        form: Form::Full,
        score: 1.0,
        terms: std::collections::BTreeMap::new(),
        tokens: 9,
        read_at: None,
        outdated: None,
        used: None,
    }];
    store.put_receipt(&shows).unwrap();
    let retired = mine.operation("op_talk", &id);
    store.log_operation(&retired).unwrap();

    let reads: Vec<(&str, Call)> = calls! { _of:
        note(&project_of_mine(), &secret_note());
        notes(&project_of_mine(), &NoteFilter::default());
        notes(&project_of_mine(), &NoteFilter { kind: Some(NoteKind::Conversation), ..NoteFilter::default() });
        notes_by_number(&project_of_mine(), &[1, 2, 3, 4, 5]);
        note_units(&project_of_mine(), NoteKind::Conversation);
        note_numbers(&project_of_mine(), NoteKind::Conversation);
        note_words_like(&project_of_mine(), "zanzibra", 2);
        receipt(&ReceiptId::new("r_shows").unwrap());
        advance_receipt(&ReceiptId::new("r_shows").unwrap(), &ReceiptStep::Delivered { host: None }, at(2));
        set_note_state(&project_of_mine(), &secret_note(), NoteState::Retired, None, at(2));
        forget_notes(&project_of_mine(), NoteKind::Conversation, None, at(2));
        purge_note(&project_of_mine(), &secret_note(), at(2));
    };
    let visitor = access(TokenScope::Admin, "mine");
    let guard = Guarded::new(store, store, &visitor);
    for (name, call) in &reads {
        match call(&guard, mine) {
            Err(StoreError::NotFound { .. }) => {}
            Ok(answer) => assert!(
                !answer.contains("zanzibar") && !answer.contains("talk"),
                "{name}: {answer}"
            ),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let word = ["zanzibar".to_owned()];
    assert_eq!(guard.note_postings(&mine.project, &word).unwrap().lists[0].count(), 0);
    assert!(matches!(guard.learn_notes(&mine.project, &[talk], at(3)), Err(StoreError::Private)));
    assert!(matches!(guard.log_operation(&retired), Err(StoreError::Private)));
    let listed = |guard: &Guarded<'_>, limit| {
        let filter = OperationFilter { limit, ..OperationFilter::default() };
        guard.operations(&mine.project, &filter).unwrap().len()
    };
    assert_eq!((listed(&guard, None), listed(&guard, Some(1))), (1, 1));
    // Nothing was changed, and the user still has it.
    let own = Guarded::new(store, store, &Access::LOCAL);
    assert_eq!(own.note(&mine.project, &id).unwrap().state, NoteState::Live);
    assert_eq!(own.note_postings(&mine.project, &word).unwrap().lists[0].count(), 1);
    assert_eq!(own.note_words_like(&mine.project, "zanzibra", 2).unwrap(), ["zanzibar"]);
    let kept = own.receipt(&ReceiptId::new("r_shows").unwrap()).unwrap();
    assert_eq!(kept.text.as_deref(), Some(secret));
    assert_eq!(listed(&own, None), 2);
    // Other notes are there for everybody.
    assert_eq!(guard.notes(&mine.project, &NoteFilter::default()).unwrap().len(), 1);
}

fn project_of_mine() -> ProjectId {
    ProjectId::new("mine").unwrap()
}

fn secret_note() -> NoteId {
    NoteId::new("n_1").unwrap()
}
