//! Where requests of servers are worked on: like a command, with project, configuration and store.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;

use handover_mcp::{Desk, Refusal, Seat, ToolError};
use handover_model::{ProjectId, Timestamp};
use handover_serve::House;
use handover_store::{ErrorFilter, Store, StoreError, StrategyFilter};

use crate::app::{App, Common, Guest};
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::input::Stdin;
use crate::project::write_new;
use crate::store::StorePlace;
use crate::ui::{ColorChoice, Ui};

/// How long what was found for one request serves others: a changed configuration is seen after it.
const KEEP_SECONDS: i64 = 2;

/// How many are kept for the next requests of the service's own project.
const KEEP: usize = 16;

/// The same for all other projects together.
const KEEP_GUESTS: usize = 32;

/// Works on every request like on a command.
pub(crate) struct Reception {
    common: Common,
    keeping: Keeping,
}

/// What is left of a request for the next one.
enum Keeping {
    /// Nothing: project, configuration and store are found anew.
    Nothing,
    /// Everything, for a moment, as long as the store is the same file. Other projects are kept
    /// apart, so that however many of them never push out the service's own.
    Moment { own: Mutex<Vec<Kept>>, guests: Mutex<Vec<Kept>> },
}

struct Kept {
    /// Another project that it is for.
    guest: Option<ProjectId>,
    app: App,
    since: Timestamp,
    file: Option<FileMark>,
}

/// What tells one state of a store's file from another: it was replaced, restored or written to by
/// something else. Our own writes go to the log beside it and change this only now and then.
type FileMark = (u64, u64, i64, i64, u64);

impl Reception {
    /// For one client, who asks now and then.
    pub(crate) fn new(common: Common) -> Self {
        Self { common, keeping: Keeping::Nothing }
    }

    /// For many clients, who ask hundreds of times a second. Makes no store but those of other
    /// projects.
    pub(crate) fn busy(common: Common) -> Self {
        let keeping = Keeping::Moment { own: Mutex::default(), guests: Mutex::default() };
        Self { common, keeping }
    }

    /// Where something for a project is kept, and how many there.
    fn shelf(&self, guest: Option<&ProjectId>) -> Option<(&Mutex<Vec<Kept>>, usize)> {
        match (&self.keeping, guest) {
            (Keeping::Nothing, _) => None,
            (Keeping::Moment { own, .. }, None) => Some((own, KEEP)),
            (Keeping::Moment { guests, .. }, Some(_)) => Some((guests, KEEP_GUESTS)),
        }
    }

    /// What an earlier request of the same project left behind, if it still holds.
    fn kept(&self, guest: Option<&ProjectId>) -> Option<(App, Timestamp)> {
        let kept = {
            let mut kept = self.shelf(guest)?.0.lock().ok()?;
            let last = kept.iter().rposition(|kept| kept.guest.as_ref() == guest)?;
            kept.remove(last)
        };
        let age = kept.app.now().as_micros() - kept.since.as_micros();
        let fresh = (0..KEEP_SECONDS * 1_000_000).contains(&age);
        (fresh && kept.file == file_mark(&kept.app)).then_some((kept.app, kept.since))
    }

    fn keep(&self, guest: Option<&ProjectId>, app: App, since: Timestamp) {
        let Some((kept, room)) = self.shelf(guest) else { return };
        let kept_one = Kept { guest: guest.cloned(), file: file_mark(&app), app, since };
        if let Ok(mut kept) = kept.lock() {
            // The oldest makes room: nobody may ask for its project any more.
            if kept.len() == room {
                kept.remove(0);
            }
            kept.push(kept_one);
        }
    }

    fn store<'a>(&self, app: &'a App) -> Result<&'a dyn Store, CommandError> {
        match &self.keeping {
            Keeping::Moment { .. } if !app.hosts() => app.existing_store(),
            Keeping::Moment { .. } | Keeping::Nothing => app.store(),
        }
    }

    /// Everything anew.
    fn fresh(&self) -> App {
        let ui = Ui::new(false, true, ColorChoice::Auto);
        let app = App::new(ui, Stdin::Text(String::new()), self.common.clone());
        app.hurry();
        app
    }

    /// Everything anew for another project, which gets a folder with a store of its own, or its schema
    /// in a database. If this one's file has records of it, as after `session new --project-id`, it
    /// stays there.
    fn fresh_for(&self, project: &ProjectId) -> Result<App, CommandError> {
        let app = self.fresh();
        let own = app.store_place()?;
        let beside = match &own {
            StorePlace::File(path) => path.file_name().unwrap_or_default().to_owned(),
            StorePlace::Shared(_) => OsString::from("shared"),
            StorePlace::Service(_) => {
                let message =
                    "this service has its records at another one, which knows other projects";
                return Err(
                    CommandError::new(Exit::Usage, "not_here", message).hinted("Ask that service.")
                );
            }
        };
        // Below `.handover`, where no path that a client names leads.
        let mut guests = app.project()?.folder().join(beside).into_os_string();
        guests.push(".projects");
        let root = PathBuf::from(guests).join(folder_name(project));
        let folder = root.join(".handover");
        let file = folder.join("store.db");
        let store = match &own {
            StorePlace::File(_) if file.exists() || !lodges(&app, project)? => {
                StorePlace::File(file)
            }
            StorePlace::File(_) | StorePlace::Shared(_) | StorePlace::Service(_) => own,
        };
        fs_err::create_dir_all(&folder).map_err(|error| io(&error))?;
        // Whoever looks into it by hand means this project too.
        let config = format!("[project]\nid = \"{project}\"\n");
        write_new(&folder.join("config.toml"), &config)?;
        Ok(self.fresh().host(Guest { project: project.clone(), root, store }))
    }

    fn seat<'a>(&self, app: &'a App) -> Result<Seat<'a>, CommandError> {
        Ok(Seat {
            store: self.store(app)?,
            redactor: app.redactor()?,
            config: app.config()?,
            places: app.places()?,
            checkout: match app.hosts() {
                true => app.places()?.root().to_owned(),
                false => app.scan_roots()?.pop().unwrap_or_default(),
            },
            technology: app,
            overrides: app.overrides()?,
            project: app.project_id()?,
            session: app.session().map_err(|error| refusal(&error)),
            bound: !app.hosts() && app.named_session()?.is_some(),
            group: if app.hosts() { None } else { app.group()? },
            may_write: true,
            machine: env::machine(),
            receipt: app.new_receipt()?,
            now: app.now(),
        })
    }

    fn work(
        &self,
        guest: Option<&ProjectId>,
        work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>,
    ) -> Result<(), Refusal> {
        let (app, since) = match (self.kept(guest), guest) {
            (Some(kept), _) => kept,
            (None, None) => (self.fresh(), env::now()),
            (None, Some(project)) => {
                (self.fresh_for(project).map_err(|error| refusal(&error))?, env::now())
            }
        };
        let outcome = self.seat(&app).map(|seat| work(&seat));
        match outcome {
            Ok(Ok(())) => {
                self.keep(guest, app, since);
                Ok(())
            }
            // A connection that failed may be of no more use; the next request gets a new one.
            Ok(Err(error)) => {
                if !matches!(error, ToolError::Store(StoreError::Backend { .. })) {
                    self.keep(guest, app, since);
                }
                Err(refusal(&error.into()))
            }
            Err(error) => Err(refusal(&error)),
        }
    }
}

impl Desk for Reception {
    fn sit(&self, work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>) -> Result<(), Refusal> {
        self.work(None, work)
    }
}

impl House for Reception {
    fn sit_for(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>,
    ) -> Result<(), Refusal> {
        self.work(Some(project), work)
    }
}

/// Whether a project has sessions in the store of another one, or something that it learned there.
fn lodges(host: &App, project: &ProjectId) -> Result<bool, CommandError> {
    let store = host.existing_store()?;
    Ok(store.sessions(None)?.iter().any(|session| session.project == *project)
        || !store.errors(project, &ErrorFilter::default())?.is_empty()
        || !store.strategies(project, &StrategyFilter::default())?.is_empty())
}

/// A project's name as a folder: two may differ in nothing but case, which not every disk sees.
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

fn file_mark(app: &App) -> Option<FileMark> {
    let StorePlace::File(path) = app.store_place().ok()? else {
        // It looks after its connection itself.
        return Some(FileMark::default());
    };
    let file = fs_err::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}

fn refusal(error: &CommandError) -> Refusal {
    Refusal { code: error.code, message: error.message.clone(), hint: error.hint.clone() }
}
