//! A store with one session, and the pages rendered from it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use handover_context::assemble::Freshness;
use handover_context::package_file::ProjectPaths;
use handover_model::config::Config;
use handover_model::{
    Coverage, EpicId, Form, ItemKind, JournalKind, LockOwner, NameCheck, NoteId, NoteKind,
    NoteState, OperationId, PackageId, PackageKind, Phase, Priority, ProjectId, Provided,
    ReceiptId, ReceiptItem, Role, RunId, RunState, Scope, Section, SessionId, StaleName, Timestamp,
    Topic, Trust, Zone,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, Events, LockClaim, NewEvent, NewJournalEntry,
    NewNote, NewPackage, NewReasoning, NewReceipt, NewRun, NewSession, NewStrategy, NewUnit, Notes,
    Packages, ReasoningFilter, Reasonings, ReceiptFilter, ReceiptStep, Receipts, Runs, Sessions,
    Strategies, Supersede,
};
use handover_text::Redactor;
use handover_web::{Method, PageRequest, PageResponse, Site, answer};
use serde_json::json;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) redactor: Redactor,
    pub(crate) session: SessionId,
    pub(crate) coverage: Option<BTreeMap<Coverage, u64>>,
    /// What every commit adds.
    pub(crate) added: String,
    operations: AtomicU32,
}

/// What forms send back.
pub(crate) const FORM_TOKEN: &str = "form-token-of-the-tests";

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000 + seconds * 1_000_000)
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

/// An item of a receipt.
pub(crate) fn item(kind: ItemKind, id: &str) -> ReceiptItem {
    ReceiptItem {
        kind,
        id: id.to_owned(),
        version: 1,
        form: Form::Full,
        score: 1.0,
        terms: [("task".to_owned(), 0.7), ("priority".to_owned(), 0.3)].into(),
        tokens: 30,
        read_at: None,
        outdated: None,
        used: None,
        trust: Trust::Agent,
        flags: Vec::new(),
        stale: Vec::new(),
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let fixture = Self {
            folder,
            store,
            redactor: Redactor::default(),
            session: SessionId::new("s1").unwrap(),
            coverage: None,
            added: "<b>bold</b>".to_owned(),
            operations: AtomicU32::new(1),
        };
        let metadata = fixture.redactor.clean_json(json!({}));
        let new = NewSession {
            id: fixture.session.clone(),
            project: fixture.project(),
            metadata,
            now: at(0),
        };
        fixture.store.open_session(&new).unwrap();
        fixture
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Writes what an agent of a run printed: `RUN/STORY/dev-1.log`.
    pub(crate) fn log(&self, path: &str, text: &str) {
        let path = self.root().join(".handover/runs").join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(crate) fn project(&self) -> ProjectId {
        ProjectId::new("shop").unwrap()
    }

    pub(crate) fn package(
        &self,
        number: i64,
        producer: &str,
        title: &str,
        body: &str,
    ) -> NewPackage {
        let redactor = &self.redactor;
        NewPackage {
            session: self.session.clone(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: format!("docs/{number}.md"),
            title: Some(redactor.clean(title)),
            summary: redactor.clean(title),
            files: vec![redactor.clean(title)],
            body: redactor.clean(body),
            producer: role(producer),
            consumers: Vec::new(),
            priority: Priority::Medium,
            iteration: None,
            size_bytes: body.len() as u64,
            tokens: 10,
            content_hash: number.to_string(),
            supersede: Supersede::SamePath,
            created_at: at(number),
            trust: Trust::Agent,
        }
    }

    pub(crate) fn register(&self, new: &[NewPackage]) -> Vec<PackageId> {
        let registered = self.store.register_packages(new).unwrap();
        registered.into_iter().map(|registered| registered.package.id).collect()
    }

    pub(crate) fn think(&self, seconds: i64, who: &str, text: &str) {
        let new = NewReasoning {
            session: self.session.clone(),
            group: None,
            role: role(who),
            agent_id: None,
            iteration: 0,
            phase: Phase::Decisions,
            confidence: None,
            content: self.redactor.clean(text),
            references: vec![self.redactor.clean(text)],
            now: at(seconds),
            trust: Trust::Agent,
        };
        self.store.add_reasoning(&new).unwrap();
    }

    /// A confirmed receipt whose first package was read.
    pub(crate) fn receipt(
        &self,
        seconds: i64,
        who: &str,
        packages: &[PackageId],
        text: &str,
    ) -> ReceiptId {
        let id = self.assemble(seconds, who, packages, text);
        let step = ReceiptStep::Delivered { host: None };
        self.store.advance_receipt(&id, &step, at(seconds)).unwrap();
        self.store.advance_receipt(&id, &ReceiptStep::Confirmed, at(seconds)).unwrap();
        if let Some(first) = packages.first() {
            self.store.mark_read(&id, *first, at(seconds + 1)).unwrap();
        }
        id
    }

    /// A receipt of an agent with this task.
    pub(crate) fn task(&self, seconds: i64, who: &str, task: &str) -> ReceiptId {
        self.assemble_for(task, seconds, who, &[], "block")
    }

    /// A receipt that was assembled but not delivered.
    pub(crate) fn assemble(
        &self,
        seconds: i64,
        who: &str,
        packages: &[PackageId],
        text: &str,
    ) -> ReceiptId {
        self.assemble_for("Rotate the tokens.", seconds, who, packages, text)
    }

    /// A receipt with these items, delivered.
    pub(crate) fn given(&self, seconds: i64, who: &str, items: Vec<ReceiptItem>) -> ReceiptId {
        let id = self.put("Rotate the tokens.", seconds, who, items, "block");
        self.advance(&id, seconds, &ReceiptStep::Delivered { host: None });
        id
    }

    fn assemble_for(
        &self,
        task: &str,
        seconds: i64,
        who: &str,
        packages: &[PackageId],
        text: &str,
    ) -> ReceiptId {
        let packages = packages.iter().map(|id| item(ItemKind::Package, &id.to_string()));
        self.put(task, seconds, who, packages.collect(), text)
    }

    fn put(
        &self,
        task: &str,
        seconds: i64,
        who: &str,
        items: Vec<ReceiptItem>,
        text: &str,
    ) -> ReceiptId {
        let id = ReceiptId::new(format!("r_{seconds:08}")).unwrap();
        let new = NewReceipt {
            id: id.clone(),
            session: self.session.clone(),
            group: None,
            role: role(who),
            iteration: 0,
            model: Some(self.redactor.clean(text)),
            tokenizer: "claude".to_owned(),
            zone: Zone::Normal,
            tokens: 300,
            prompt_hash: "0".repeat(64),
            sections: vec![Section { name: "packages".to_owned(), budget: 1_000, used: 300 }],
            items,
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: Default::default(),
            trimmed: vec![self.redactor.clean(text).as_str().to_owned()],
            provided: Provided::default(),
            task: handover_store::kept_task(&self.redactor, Some(task)),
            text: Some(self.redactor.clean(text)),
            claim: false,
            now: at(seconds),
        };
        self.store.put_receipt(&new).unwrap();
        id
    }

    /// How many receipts there are.
    pub(crate) fn receipts(&self) -> usize {
        self.store.receipts(&ReceiptFilter::default()).unwrap().len()
    }

    pub(crate) fn advance(&self, id: &ReceiptId, seconds: i64, step: &ReceiptStep) {
        self.store.advance_receipt(id, step, at(seconds)).unwrap();
    }

    /// An error pattern with or without a solution; its hash.
    pub(crate) fn error(&self, seconds: i64, message: &str, solution: Option<&str>) -> String {
        let clean = |text: &str| self.redactor.clean(text);
        let sighting = ErrorSighting {
            project: self.project(),
            signature: CleanSignature::new(Some("TypeError"), message, &[], &self.redactor),
            language: Some(clean("typescript")),
            ttl_days: 90,
            session: Some(self.session.clone()),
            group: None,
            role: Some(role("developer")),
            command: Some(clean("npm test")),
            now: at(seconds),
            trust: Trust::Agent,
        };
        let pattern = match solution {
            Some(solution) => self.store.resolve_error(&sighting, &clean(solution)),
            None => self.store.record_error(&sighting),
        };
        pattern.unwrap().hash
    }

    pub(crate) fn strategy(&self, seconds: i64, insight: &str, language: Option<&str>) {
        self.think(seconds, "developer", insight);
        let latest = ReasoningFilter { limit: Some(1), ..ReasoningFilter::default() };
        let source = self.store.reasoning(&self.session, &latest).unwrap()[0].id;
        let new = NewStrategy {
            project: self.project(),
            topic: Topic::Architecture,
            insight: self.redactor.clean(insight),
            language: language.map(|language| self.redactor.clean(language)),
            framework: None,
            source,
            now: at(seconds),
            trust: Trust::Agent,
        };
        self.store.learn_strategies(&[new]).unwrap();
    }

    /// A note that mentions `src/price.rs`.
    pub(crate) fn note(&self, seconds: i64, kind: NoteKind, text: &str) -> NoteId {
        let id = NoteId::new(format!("{kind}-{seconds:08}")).unwrap();
        let clean = |text: &str| self.redactor.clean(text);
        let unit = NewUnit {
            kind,
            source: format!("source-{seconds}"),
            fingerprint: Some("1".to_owned()),
            notes: vec![NewNote {
                id: id.clone(),
                origin: clean(&format!("docs/{seconds}.md § Prices")),
                title: clean(text.lines().next().unwrap_or_default()),
                text: clean(text),
                trust: Trust::Agent,
                paths: vec![clean("src/price.rs")],
                symbols: Vec::new(),
                state: NoteState::Live,
                reason: None,
                hash: "hash".to_owned(),
                created_at: at(seconds),
            }],
        };
        self.store.learn_notes(&self.project(), &[unit], at(seconds)).unwrap();
        id
    }

    pub(crate) fn event(&self, seconds: i64, kind: &str, payload: serde_json::Value) {
        let new = NewEvent {
            session: self.session.clone(),
            group: None,
            kind: kind.parse().unwrap(),
            payload: self.redactor.clean_json(payload),
            key: None,
            now: at(seconds),
        };
        self.store.log_event(&new).unwrap();
    }

    /// A run on this machine whose journal was never planned.
    pub(crate) fn crashed_run(&self, id: &str, epic: &str) -> RunId {
        self.run_on("here", id, epic)
    }

    /// A run of an engine on a machine, without a journal.
    pub(crate) fn run_on(&self, machine: &str, id: &str, epic: &str) -> RunId {
        let run = RunId::new(id).unwrap();
        let epic = EpicId::new(epic).unwrap();
        let new = NewRun { id: run.clone(), epic, session: self.session.clone(), now: at(10) };
        let owner = LockOwner { host: machine.to_owned(), pid: 1, started: None, boot: None };
        let claim =
            LockClaim { epic: new.epic.clone(), owner, until: at(20), over: None, now: at(10) };
        let fence = self.store.lock_epic(&claim).unwrap();
        self.store.start_run(&new, fence).unwrap();
        run
    }

    /// As an engine does when it ends.
    pub(crate) fn let_go_of(&self, epic: &str) {
        let epic = EpicId::new(epic).unwrap();
        let (_, fence) = self.store.epic_owner(&epic).unwrap().unwrap();
        self.store.unlock_epic(&epic, fence).unwrap();
    }

    /// Appends raw entries to the journal of a run.
    pub(crate) fn journal(&self, run: &RunId, entries: &[(JournalKind, serde_json::Value)]) {
        for (kind, entry) in entries {
            self.append(run, *kind, entry.clone(), None);
        }
    }

    /// Appends an entry to the journal of a run, and sets the state of its record.
    pub(crate) fn append(
        &self,
        run: &RunId,
        kind: JournalKind,
        entry: serde_json::Value,
        state: Option<RunState>,
    ) {
        let epic = self.store.run_record(run).unwrap().epic;
        let (_, fence) = self.store.epic_owner(&epic).unwrap().unwrap();
        // What a run says comes after the briefs that it gave.
        let newest = ReceiptFilter { limit: Some(1), ..ReceiptFilter::default() };
        let newest = self.store.receipts(&newest).unwrap().pop();
        let now = newest.map_or_else(|| at(10), |receipt| receipt.created_at.max(at(10)));
        let new = NewJournalEntry {
            seq: self.store.journal(run, 1).unwrap().len() as u64 + 1,
            kind,
            entry: self.redactor.clean_json(entry),
            state,
            until: at(20),
            now,
        };
        self.store.append_journal(run, &new, fence).unwrap();
    }

    pub(crate) fn get(&self, path: &str, query: &[(&str, &str)]) -> PageResponse {
        let mut request = PageRequest::get(path);
        request.query =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.answer(&request, false)
    }

    pub(crate) fn answer(&self, request: &PageRequest, may_write: bool) -> PageResponse {
        self.with_site(may_write, |site| answer(site, request))
    }

    pub(crate) fn with_site<T>(&self, may_write: bool, work: impl FnOnce(&Site<'_>) -> T) -> T {
        let config = Config::default();
        let paths = ProjectPaths::new(self.folder.path(), &[]).unwrap();
        let project = self.project();
        let site = Site {
            store: &self.store,
            redactor: &self.redactor,
            config: &config,
            paths: &paths,
            fresh: &Renamed,
            coverage: &|| self.coverage.clone(),
            candidates: &|_, _| Vec::new(),
            patch: &|from, to, _| {
                let added = &self.added;
                Some(format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n-{from}\n+{to} {added}\n"))
            },
            project: &project,
            author: "dashboard, token t1",
            operation: OperationId::new(format!("op_{:04}", self.operations.fetch_add(1, Relaxed)))
                .unwrap(),
            form_token: FORM_TOKEN,
            may_write,
            machine: "here",
            now: at(100_000),
        };
        work(&site)
    }

    /// Sends a form, with the right to write.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> PageResponse {
        self.post_as(true, path, fields)
    }

    pub(crate) fn post_as(
        &self,
        may_write: bool,
        path: &str,
        fields: &[(&str, &str)],
    ) -> PageResponse {
        let mut request = PageRequest::get(path);
        request.method = Method::Post;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        request.form = fields.iter().map(own).collect();
        if !fields.iter().any(|(name, _)| *name == "token") {
            request.form.push(("token".to_owned(), FORM_TOKEN.to_owned()));
        }
        self.answer(&request, may_write)
    }

    /// The HTML of a page that exists.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let response = self.get(path, &[]);
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body).unwrap()
    }

    /// The HTML of a page with a query.
    #[track_caller]
    pub(crate) fn page_with(&self, path: &str, query: &[(&str, &str)]) -> String {
        let response = self.get(path, query);
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body).unwrap()
    }
}

/// Asserts that a page contains each text.
#[track_caller]
pub(crate) fn shows(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "no {text:?} in {page}");
    }
}

/// Asserts that a page contains none of the texts.
#[track_caller]
pub(crate) fn hides(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(!page.contains(text), "{text:?} in {page}");
    }
}

/// A checkout in which one file has another name than before.
struct Renamed;

impl Freshness for Renamed {
    fn names(&self, text: &str) -> NameCheck {
        let (name, to) = ("src/price.rs".to_owned(), "src/in_cents.rs".to_owned());
        let stale = text.contains(&name).then_some(StaleName::Renamed { name, to });
        NameCheck { named: 1, stale: stale.into_iter().collect() }
    }
}
