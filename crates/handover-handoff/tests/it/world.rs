//! A project with a real SQLite store, and shorthands for handoffs in it.

use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::detect;
use handover_files::Folder;
use handover_handoff::{Handoff, HandoffRequest, Handoffs, Prepared, Technology};
use handover_model::config::Config;
use handover_model::{
    Event, GroupId, KnownEvent, PackageId, PackageKind, Priority, ProjectId, Receipt, ReceiptId,
    Role, Scope, SessionId, Timestamp, Trust,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    EventFilter, Events, GroupUpdate, Groups, NewPackage, NewSession, Packages, Receipts, Sessions,
    Store, Supersede,
};
use handover_text::{CleanJson, Redactor};
use serde_json::Value;

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) config: Config,
    pub(crate) redactor: Redactor,
    pub(crate) paths: ProjectPaths,
    technology: Technology,
    pub(crate) spool: Folder,
}

pub(crate) fn session() -> SessionId {
    SessionId::new("s1").unwrap()
}

pub(crate) fn group() -> GroupId {
    GroupId::new("login").unwrap()
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

pub(crate) fn receipt_id(name: &str) -> ReceiptId {
    ReceiptId::new(format!("r_{name}")).unwrap()
}

/// So many seconds after the session was opened.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000)
}

impl World {
    /// A Rust project with session `s1` and group `login`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::write(root.join("Cargo.toml"), "[package]\nname = \"shop\"\nedition = \"2024\"\n")
            .unwrap();
        let store = SqliteStore::open(&root.join("store.db")).unwrap();
        let project = ProjectId::new("p").unwrap();
        let metadata = CleanJson::default();
        store.open_session(&NewSession { id: session(), project, metadata, now: at(0) }).unwrap();
        store.set_group(&GroupUpdate::new(session(), group(), at(0))).unwrap();
        let technology = Technology { stack: detect(&root), templates: Templates::built_in() };
        Self {
            store,
            config: Config::default(),
            redactor: Redactor::default(),
            paths: ProjectPaths::new(&root, &[]).unwrap(),
            technology,
            spool: Folder::at(&root).inside("spool"),
            _folder: folder,
        }
    }

    pub(crate) fn handoffs(&self) -> Handoffs<'_> {
        Handoffs {
            store: Ok(&self.store),
            redactor: &self.redactor,
            config: &self.config,
            paths: &self.paths,
            technology: &self.technology,
            spool: Some(&self.spool),
            overrides: &[],
        }
    }

    /// A package for everyone, with its file.
    pub(crate) fn package(&self, path: &str, summary: &str) -> PackageId {
        self.package_of(Trust::Project, path, summary)
    }

    /// The same, of a trust class.
    pub(crate) fn package_of(&self, trust: Trust, path: &str, summary: &str) -> PackageId {
        let body = format!("# {path}\n\n## Summary\n{summary}\n");
        let file = self.paths.root().join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, &body).unwrap();
        let new = NewPackage {
            session: session(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: path.to_owned(),
            title: None,
            summary: self.redactor.clean(summary),
            files: Vec::new(),
            body: self.redactor.clean(&body),
            producer: role("requirements_engineer"),
            consumers: Vec::new(),
            priority: Priority::High,
            iteration: None,
            size_bytes: body.len() as u64,
            tokens: 10,
            content_hash: handover_context::package_file::content_hash(body.as_bytes()),
            supersede: Supersede::SamePath,
            created_at: at(0),
            trust,
        };
        self.store.register_packages(&[new]).unwrap()[0].package.id
    }

    /// A request for a developer of the group.
    pub(crate) fn request(&self, name: &str, seconds: i64) -> HandoffRequest {
        self.request_for("developer", name, seconds)
    }

    pub(crate) fn request_for(&self, who: &str, name: &str, seconds: i64) -> HandoffRequest {
        HandoffRequest {
            group: Some(group()),
            task: Some("Refresh the tokens".to_owned()),
            ..HandoffRequest::new(session(), role(who), receipt_id(name), at(seconds))
        }
    }

    pub(crate) fn prepare(&self, name: &str, seconds: i64) -> Prepared {
        self.handoffs().prepare(&self.request(name, seconds)).unwrap()
    }

    /// An agent that has started.
    pub(crate) fn started(&self, who: &str, name: &str, seconds: i64) -> Handoff {
        let request = self.request_for(who, name, seconds);
        let handoff = self.handoffs().prepare(&request).unwrap().handoff;
        self.handoffs().started(handoff.prompt.receipt(), None, at(seconds)).unwrap();
        handoff
    }

    pub(crate) fn receipt(&self, name: &str) -> Receipt {
        self.store.receipt(&receipt_id(name)).unwrap()
    }

    /// The ids of the packages in a receipt.
    pub(crate) fn packages_in(&self, name: &str) -> Vec<String> {
        let items = self.receipt(name).items.into_iter();
        items
            .filter(|item| item.kind == handover_model::ItemKind::Package)
            .map(|item| item.id)
            .collect()
    }

    /// The payloads of the events of a kind, oldest first.
    pub(crate) fn events(&self, kind: KnownEvent) -> Vec<Value> {
        let filter = EventFilter { kind: Some(kind.into()), ..EventFilter::default() };
        let mut events: Vec<Event> = self.store.events(&session(), &filter).unwrap();
        events.sort_by_key(|event| event.id);
        events.into_iter().map(|event| event.payload).collect()
    }

    pub(crate) fn as_store(&self) -> &dyn Store {
        &self.store
    }
}
