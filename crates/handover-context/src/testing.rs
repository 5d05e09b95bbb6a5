//! A project with a store, for tests.

use std::path::{Path, PathBuf};

use handover_model::{
    GroupId, Package, PackageKind, Phase, Priority, ProjectId, Reasoning, Role, Scope, SessionId,
    Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    NewPackage, NewReasoning, NewSession, Packages, Reasonings, Sessions, Supersede,
};
use handover_text::{CleanJson, Redactor};

use crate::package_file::{DraftContext, Located, ProjectPaths};

/// A folder with a store and one session, `s1`, of project `p`.
pub(crate) struct TestProject {
    folder: tempfile::TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) paths: ProjectPaths,
    pub(crate) redactor: Redactor,
    pub(crate) session: SessionId,
    pub(crate) groups: Vec<GroupId>,
}

impl TestProject {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("project")).unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let session = SessionId::new("s1").unwrap();
        let new = NewSession {
            id: session.clone(),
            project: project(),
            metadata: CleanJson::default(),
            now: at(0),
        };
        store.open_session(&new).unwrap();
        let paths = ProjectPaths::new(&folder.path().join("project"), &[]).unwrap();
        let groups = vec![group("P1")];
        Self { folder, store, paths, redactor: Redactor::default(), session, groups }
    }

    /// A path next to the project, outside of it.
    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn context(&self) -> DraftContext<'_> {
        DraftContext {
            paths: &self.paths,
            redactor: &self.redactor,
            session: &self.session,
            groups: &self.groups,
            warn_bytes: 1_000,
            max_bytes: 10_000,
            now: at(100),
            trust: handover_model::Trust::Project,
        }
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.paths.root().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.paths.root().join(path)).unwrap()
    }

    pub(crate) fn locate(&self, path: &str) -> Located {
        self.paths.locate(self.paths.root(), Path::new(path)).unwrap()
    }

    /// A global research package by a developer, created at the start of 1970.
    pub(crate) fn package(&self, path: &str, summary: &str, body: &str) -> NewPackage {
        NewPackage {
            session: self.session.clone(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: path.to_owned(),
            title: None,
            summary: self.redactor.clean(summary),
            files: Vec::new(),
            body: self.redactor.clean(body),
            producer: role("developer"),
            consumers: Vec::new(),
            priority: Priority::Medium,
            iteration: None,
            size_bytes: body.len() as u64,
            tokens: 1,
            content_hash: crate::package_file::content_hash(body.as_bytes()),
            supersede: Supersede::SamePath,
            created_at: at(0),
            trust: handover_model::Trust::Project,
        }
    }

    pub(crate) fn register(&self, new: NewPackage) -> Package {
        self.store.register_packages(&[new]).unwrap().remove(0).package
    }

    pub(crate) fn reason(&self, group: &GroupId, phase: Phase, content: &str) -> Reasoning {
        let new = NewReasoning {
            session: self.session.clone(),
            group: Some(group.clone()),
            role: role("developer"),
            agent_id: None,
            iteration: 0,
            phase,
            confidence: None,
            content: self.redactor.clean(content),
            references: Vec::new(),
            now: at(10),
            trust: handover_model::Trust::Project,
        };
        self.store.add_reasoning(&new).unwrap()
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

pub(crate) fn project() -> ProjectId {
    ProjectId::new("p").unwrap()
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

pub(crate) fn group(name: &str) -> GroupId {
    GroupId::new(name).unwrap()
}
