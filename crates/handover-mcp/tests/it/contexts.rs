//! Contexts over SQLite stores in a temporary folder, opened for each request as the command line does. The
//! service's tests also use this file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_handoff::Technology;
use handover_knowledge::places::{Index, IndexSource};
use handover_mcp::{ContextProvider, CoverageSource, RequestContext, RequestError, ToolError};
use handover_model::config::Config;
use handover_model::{GroupId, ProjectId, ReceiptId, SessionId, SessionStatus, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{NewSession, Sessions};
use handover_text::{CleanJson, Redactor};

/// The project of requests that name none.
pub(crate) const PROJECT: &str = "shop";

pub(crate) struct Contexts {
    folder: tempfile::TempDir,
    redactor: Redactor,
    config: Config,
    /// Seconds.
    clock: AtomicI64,
    /// How many pass with each request.
    pub(crate) tick: i64,
    receipts: AtomicU64,
    /// The session that the server was started for.
    pub(crate) bound: Option<SessionId>,
    pub(crate) group: Option<GroupId>,
    pub(crate) may_write: bool,
}

impl Contexts {
    /// With an empty store for the own project.
    pub(crate) fn new() -> Self {
        let contexts = Self {
            folder: tempfile::tempdir().unwrap(),
            redactor: Redactor::default(),
            config: Config::default(),
            clock: AtomicI64::new(1_800_000_000),
            tick: 0,
            receipts: AtomicU64::new(1),
            bound: None,
            group: None,
            may_write: true,
        };
        contexts.store(None);
        contexts
    }

    /// The folder of the own project, or of another one.
    pub(crate) fn root(&self, project: Option<&ProjectId>) -> PathBuf {
        let root = match project {
            None => self.folder.path().join("own"),
            Some(project) => self.folder.path().join("projects").join(project.as_str()),
        };
        fs_err::create_dir_all(root.join(".handover")).unwrap();
        root
    }

    pub(crate) fn file(&self, project: Option<&ProjectId>) -> PathBuf {
        self.root(project).join(".handover/store.db")
    }

    pub(crate) fn store(&self, project: Option<&ProjectId>) -> SqliteStore {
        SqliteStore::open(&self.file(project)).unwrap()
    }

    /// Opens a session of a project in a store, which may be another project's.
    pub(crate) fn open_session(&self, store: Option<&ProjectId>, project: &str, id: &str) {
        let new = NewSession {
            id: SessionId::new(id).unwrap(),
            project: ProjectId::new(project).unwrap(),
            metadata: CleanJson::default(),
            now: self.now(),
        };
        self.store(store).open_session(&new).unwrap();
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::SeqCst) * 1_000_000)
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn run(
        &self,
        project: Option<&ProjectId>,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        let file = self.file(project);
        if project.is_none() && !file.exists() {
            return Err(request_error("no_store", "there is no store".to_owned()));
        }
        let store = SqliteStore::open(&file)
            .map_err(|error| request_error("store_broken", error.to_string()))?;
        let root = self.root(project);
        let paths = ProjectPaths::new(&root, &[]).unwrap();
        let technology =
            Technology { stack: Stack::default(), templates: Templates::load(None, None) };
        let mut active = store.sessions(Some(SessionStatus::Active)).unwrap_or_default();
        let session = match (&self.bound, active.len()) {
            (Some(bound), _) => Ok(bound.clone()),
            (None, 1) => Ok(active.remove(0).id),
            (None, count) => {
                Err(request_error("no_session", format!("there are {count} active sessions")))
            }
        };
        let receipt = self.receipts.fetch_add(1, Ordering::SeqCst);
        let context = RequestContext {
            store: &store,
            redactor: &self.redactor,
            config: &self.config,
            paths: &paths,
            checkout: root,
            technology: &technology,
            files: self,
            coverage: self,
            spool: None,
            overrides: Vec::new(),
            project: project.cloned().unwrap_or_else(|| ProjectId::new(PROJECT).unwrap()),
            session,
            bound: self.bound.is_some(),
            group: self.group.clone(),
            may_write: self.may_write,
            machine: "test".to_owned(),
            receipt: ReceiptId::new(format!("r_{receipt}")).unwrap(),
            now: self.now(),
        };
        self.advance(self.tick);
        work(&context).map_err(|error| {
            if let ToolError::Request(error) = error {
                return error;
            }
            request_error(error.code(), error.to_string())
        })
    }
}

/// No agent program works in these projects.
impl CoverageSource for Contexts {}

/// These projects are not in a repository.
impl IndexSource for Contexts {
    fn index(&self) -> Option<Index> {
        None
    }
}

impl ContextProvider for Contexts {
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(None, work)
    }
}

/// The codes of the command line, with the same hint for all.
fn request_error(code: &'static str, message: String) -> RequestError {
    let hint = match code {
        "store_broken" => Some("Run `handover doctor`.".to_owned()),
        "no_session" => Some("Pass `session`.".to_owned()),
        _ => None,
    };
    RequestError { code, message, hint }
}
