//! A store with a session in it, and its pages.

use handover_context::package_file::ProjectPaths;
use handover_model::config::Config;
use handover_model::{
    Form, ItemKind, PackageId, PackageKind, Phase, Priority, ProjectId, Provided, ReceiptId,
    ReceiptItem, Role, Scope, Section, SessionId, Timestamp, Zone,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    NewPackage, NewReasoning, NewReceipt, NewSession, Packages, Reasonings, ReceiptStep, Receipts,
    Sessions, Supersede,
};
use handover_text::Redactor;
use handover_web::{PageRequest, PageResponse, Site, answer};
use serde_json::json;

pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) redactor: Redactor,
    pub(crate) session: SessionId,
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000 + seconds * 1_000_000)
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let scene = Self {
            folder,
            store,
            redactor: Redactor::default(),
            session: SessionId::new("s1").unwrap(),
        };
        let metadata = scene.redactor.clean_json(json!({}));
        let new = NewSession {
            id: scene.session.clone(),
            project: scene.project(),
            metadata,
            now: at(0),
        };
        scene.store.open_session(&new).unwrap();
        scene
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
        };
        self.store.add_reasoning(&new).unwrap();
    }

    /// A receipt that was confirmed, and whose first package was read.
    pub(crate) fn receipt(
        &self,
        seconds: i64,
        who: &str,
        packages: &[PackageId],
        text: &str,
    ) -> ReceiptId {
        let id = ReceiptId::new(format!("r_{seconds:08}")).unwrap();
        let item = |package: &PackageId| ReceiptItem {
            kind: ItemKind::Package,
            id: package.to_string(),
            version: 1,
            form: Form::Full,
            score: 1.0,
            terms: [("task".to_owned(), 0.7), ("priority".to_owned(), 0.3)].into(),
            tokens: 30,
            read_at: None,
        };
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
            items: packages.iter().map(item).collect(),
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: Default::default(),
            trimmed: vec![text.to_owned()],
            provided: Provided::default(),
            text: Some(self.redactor.clean(text)),
            claim: false,
            now: at(seconds),
        };
        self.store.put_receipt(&new).unwrap();
        let step = ReceiptStep::Delivered { host: None };
        self.store.advance_receipt(&id, &step, at(seconds)).unwrap();
        self.store.advance_receipt(&id, &ReceiptStep::Confirmed, at(seconds)).unwrap();
        if let Some(first) = packages.first() {
            self.store.mark_read(&id, *first, at(seconds + 1)).unwrap();
        }
        id
    }

    pub(crate) fn get(&self, path: &str, query: &[(&str, &str)]) -> PageResponse {
        let config = Config::default();
        let paths = ProjectPaths::new(self.folder.path(), &[]).unwrap();
        let project = self.project();
        let site = Site {
            store: &self.store,
            redactor: &self.redactor,
            config: &config,
            paths: &paths,
            project: &project,
            may_write: false,
            machine: "here",
            now: at(100_000),
        };
        let mut request = PageRequest::get(path);
        request.query =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        answer(&site, &request)
    }

    /// A page that is there.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let response = self.get(path, &[]);
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body).unwrap()
    }
}
