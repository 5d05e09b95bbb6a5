//! Request contexts for `handover mcp` and `handover serve`: project, configuration, session and store, found
//! in the same way as for a command.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use handover_files::NAME;
use handover_mcp::{ContextProvider, RequestContext, RequestError, ToolError};
use handover_model::{ProjectId, Timestamp};
#[cfg(feature = "service")]
use handover_serve::ProjectContextProvider;
use handover_store::{ErrorFilter, Store, StoreError, StrategyFilter};

use crate::app::{App, Common, Guest, STORE_FILE};
use crate::config;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::input::Stdin;
use crate::store::StoreLocation;
use crate::ui::{ColorChoice, Ui};

/// How long a context is reused. A changed configuration takes effect after that.
const CACHE_SECONDS: i64 = 2;

/// Cached contexts of the service's own project.
const CACHE_OWN: usize = 16;

/// Cached contexts of all other projects together.
const CACHE_OTHERS: usize = 32;

/// Opens a context per request by running the same lookup as a command.
pub(crate) struct AppContextProvider {
    common: Common,
    cache: Option<Cache>,
}

/// Recently used contexts, valid while the store is the same file. Other projects have their own list, so
/// that however many there are, they never evict the service's own.
#[derive(Default)]
struct Cache {
    own: Mutex<Vec<CachedApp>>,
    others: Mutex<Vec<CachedApp>>,
}

struct CachedApp {
    /// `None` for the service's own project.
    project: Option<ProjectId>,
    app: App,
    since: Timestamp,
    file: Option<FileStamp>,
}

/// Device, inode, mtime and size: changes when the store is replaced, restored or written by another program.
/// Our own writes go to the write-ahead log and rarely change it.
type FileStamp = (u64, u64, i64, i64, u64);

impl AppContextProvider {
    /// For a single client with few requests: every request does the whole lookup.
    pub(crate) fn uncached(common: Common) -> Self {
        Self { common, cache: None }
    }

    /// For many clients with hundreds of requests per second. Creates the stores of other projects, but
    /// never the service's own.
    #[cfg_attr(
        not(feature = "service"),
        expect(dead_code, reason = "only the service has many clients")
    )]
    pub(crate) fn cached(common: Common) -> Self {
        Self { common, cache: Some(Cache::default()) }
    }

    /// The list that a project's contexts are cached in, and its capacity.
    fn slots(&self, project: Option<&ProjectId>) -> Option<(&Mutex<Vec<CachedApp>>, usize)> {
        let cache = self.cache.as_ref()?;
        Some(match project {
            None => (&cache.own, CACHE_OWN),
            Some(_) => (&cache.others, CACHE_OTHERS),
        })
    }

    /// Takes a cached context of the same project, if it is still valid.
    fn take_cached(&self, project: Option<&ProjectId>) -> Option<(App, Timestamp)> {
        let cached = {
            let mut slots = self.slots(project)?.0.lock().ok()?;
            let last = slots.iter().rposition(|cached| cached.project.as_ref() == project)?;
            slots.remove(last)
        };
        let age = cached.app.now().as_micros() - cached.since.as_micros();
        let fresh = (0..CACHE_SECONDS * 1_000_000).contains(&age);
        (fresh && cached.file == file_stamp(&cached.app)).then_some((cached.app, cached.since))
    }

    fn put_cached(&self, project: Option<&ProjectId>, app: App, since: Timestamp) {
        let Some((slots, capacity)) = self.slots(project) else { return };
        let cached = CachedApp { project: project.cloned(), file: file_stamp(&app), app, since };
        if let Ok(mut slots) = slots.lock() {
            // Evict the oldest.
            if slots.len() == capacity {
                slots.remove(0);
            }
            slots.push(cached);
        }
    }

    fn store<'a>(&self, app: &'a App) -> Result<&'a dyn Store, CommandError> {
        match &self.cache {
            Some(_) if !app.hosts() => app.existing_store(),
            Some(_) | None => app.store(),
        }
    }

    fn new_app(&self) -> App {
        let ui = Ui::new(false, true, ColorChoice::Auto);
        let app = App::new(ui, Stdin::Text(String::new()), self.common.clone());
        app.shorten_patience();
        app.keep_older_format();
        app.tolerate_unknown_keys();
        app
    }

    /// An app for another project, which has its own directory and store file, or its schema in a shared
    /// database. If the service's own file already has records of that project, as after `session new
    /// --project-id`, it stays there.
    fn new_app_for(&self, project: &ProjectId) -> Result<App, CommandError> {
        let app = self.new_app();
        let own = app.store_location()?;
        let name = match &own {
            StoreLocation::File(path) => path.file_name().unwrap_or_default().to_owned(),
            StoreLocation::Shared(_) => OsString::from("shared"),
            StoreLocation::Service(_) => {
                let message = "this service stores its records in another service and serves no other projects";
                return Err(CommandError::new(Exit::Usage, "not_here", message)
                    .hinted("Use that service instead."));
            }
        };
        // Below `.handover`, which no path of a client may point into.
        let others = format!("{}.projects", name.to_string_lossy());
        let root = app.project()?.folder().inside(others).inside(folder_name(project));
        let folder = root.inside(NAME);
        let file = folder.path().join(STORE_FILE);
        let store = match &own {
            StoreLocation::File(_) if file.exists() || !has_records_in(&app, project)? => {
                StoreLocation::File(file)
            }
            StoreLocation::File(_) | StoreLocation::Shared(_) | StoreLocation::Service(_) => own,
        };
        // So that `handover --project DIR` uses the right project id.
        let text = format!("[project]\nid = \"{project}\"\n");
        folder.publish(config::FILE, text.as_bytes())?;
        Ok(self.new_app().host(Guest { project: project.clone(), root: root.path(), store }))
    }

    fn open<'a>(&self, app: &'a App) -> Result<RequestContext<'a>, CommandError> {
        Ok(RequestContext {
            store: self.store(app)?,
            redactor: app.redactor()?,
            config: app.config()?,
            paths: app.places()?,
            checkout: match app.hosts() {
                true => app.places()?.root().to_owned(),
                false => app.scan_roots()?.pop().unwrap_or_default(),
            },
            technology: app,
            files: app,
            coverage: app,
            // A service takes receipts from others, and it is the only one that writes.
            spool: if self.cache.is_none() { app.spool().ok() } else { None },
            overrides: app.overrides()?,
            project: app.project_id()?,
            session: app.session().map_err(|error| request_error(&error)),
            bound: !app.hosts() && app.named_session()?.is_some(),
            group: if app.hosts() { None } else { app.group()? },
            may_write: true,
            machine: env::machine(),
            receipt: app.new_receipt()?,
            now: app.now(),
        })
    }

    fn run(
        &self,
        project: Option<&ProjectId>,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        let (app, since) = match (self.take_cached(project), project) {
            (Some(cached), _) => cached,
            (None, None) => {
                tracing::debug!("opening the store");
                (self.new_app(), env::now())
            }
            (None, Some(project)) => {
                tracing::debug!(%project, "opening the store of another project");
                (self.new_app_for(project).map_err(|error| request_error(&error))?, env::now())
            }
        };
        self.run_in(app, since, project, work)
    }

    fn run_in(
        &self,
        app: App,
        since: Timestamp,
        project: Option<&ProjectId>,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        let outcome = self.open(&app).map(|context| work(&context));
        match outcome {
            Ok(Ok(())) => {
                self.put_cached(project, app, since);
                Ok(())
            }
            // A failed connection may be unusable; the next request opens a new one.
            Ok(Err(error)) => {
                if matches!(error, ToolError::Store(StoreError::Backend { .. })) {
                    tracing::warn!(%error, "store connection discarded");
                } else {
                    self.put_cached(project, app, since);
                }
                Err(request_error(&error.into()))
            }
            Err(error) => Err(request_error(&error)),
        }
    }
}

impl ContextProvider for AppContextProvider {
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(None, work)
    }

    fn with_prompt_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        if self.cache.is_some() {
            return self.run(None, work);
        }
        let app = self.new_app();
        app.answer_within_a_second();
        self.run_in(app, env::now(), None, work)
    }
}

#[cfg(feature = "service")]
impl ProjectContextProvider for AppContextProvider {
    fn with_project_context(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(Some(project), work)
    }
}

/// Whether the service's own store has sessions or learned records of another project.
fn has_records_in(host: &App, project: &ProjectId) -> Result<bool, CommandError> {
    let store = host.existing_store()?;
    Ok(store.sessions(None)?.iter().any(|session| session.project == *project)
        || !store.errors(project, &ErrorFilter::default())?.is_empty()
        || !store.strategies(project, &StrategyFilter::default())?.is_empty())
}

/// A directory name for a project id. Ids may differ in case only, which some file systems ignore.
fn folder_name(project: &ProjectId) -> String {
    let letters = project.as_str().chars();
    letters.fold(String::new(), |mut name, letter| {
        if letter.is_ascii_uppercase() {
            name.push('=');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}

fn file_stamp(app: &App) -> Option<FileStamp> {
    let StoreLocation::File(path) = app.store_location().ok()? else {
        // Database and service clients reconnect on their own.
        return Some(FileStamp::default());
    };
    let file = fs_err::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}

fn request_error(error: &CommandError) -> RequestError {
    RequestError {
        code: error.code.as_str(),
        message: error.message.clone(),
        hint: error.hint.clone(),
    }
}
