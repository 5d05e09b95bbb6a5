//! Where requests of servers are worked on: like a command, with project, configuration and store.

use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use handover_mcp::{Desk, Refusal, Seat, Technology, ToolError};
use handover_model::{ReceiptId, Timestamp};
use handover_store::{Store, StoreError};

use crate::app::{App, Common};
use crate::commands::stack_of;
use crate::env;
use crate::error::CommandError;
use crate::input::Stdin;
use crate::store::StorePlace;
use crate::ui::{ColorChoice, Ui};

/// How long what was found for one request serves others: a changed configuration is seen after it.
const KEEP_SECONDS: i64 = 2;

/// How many are kept for the next requests.
const KEEP: usize = 16;

/// Works on every request like on a command.
pub(crate) struct Reception {
    common: Common,
    keeping: Keeping,
}

/// What is left of a request for the next one.
enum Keeping {
    /// Nothing: project, configuration and store are found anew.
    Nothing,
    /// Everything, for a moment, as long as the store is the same file.
    Moment(Mutex<Vec<Kept>>),
}

struct Kept {
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

    /// For many clients, who ask hundreds of times a second. Never makes a store.
    pub(crate) fn busy(common: Common) -> Self {
        Self { common, keeping: Keeping::Moment(Mutex::default()) }
    }

    /// What an earlier request left behind, if it still holds.
    fn kept(&self) -> Option<(App, Timestamp)> {
        let Keeping::Moment(kept) = &self.keeping else { return None };
        let kept = kept.lock().ok()?.pop()?;
        let age = kept.app.now().as_micros() - kept.since.as_micros();
        let fresh = (0..KEEP_SECONDS * 1_000_000).contains(&age);
        (fresh && kept.file == file_mark(&kept.app)).then_some((kept.app, kept.since))
    }

    fn keep(&self, app: App, since: Timestamp) {
        let Keeping::Moment(kept) = &self.keeping else { return };
        let file = file_mark(&app);
        if let Ok(mut kept) = kept.lock()
            && kept.len() < KEEP
        {
            kept.push(Kept { app, since, file });
        }
    }

    fn store<'a>(&self, app: &'a App) -> Result<&'a dyn Store, CommandError> {
        match &self.keeping {
            Keeping::Nothing => app.store(),
            Keeping::Moment(_) => app.existing_store(),
        }
    }

    fn seat<'a>(
        &self,
        app: &'a App,
        technology: &'a dyn Fn() -> Technology,
    ) -> Result<Seat<'a>, CommandError> {
        Ok(Seat {
            store: self.store(app)?,
            redactor: app.redactor()?,
            config: app.config()?,
            places: app.places()?,
            checkout: app.scan_roots()?.pop().unwrap_or_default(),
            technology,
            project: app.project_id()?,
            session: app.session().map_err(|error| refusal(&error)),
            bound: app.named_session()?.is_some(),
            group: app.group()?,
            may_write: true,
            machine: env::machine(),
            receipt: ReceiptId::new(format!("r_{}", uuid::Uuid::now_v7().simple()))?,
            now: app.now(),
        })
    }
}

impl Desk for Reception {
    fn sit(&self, work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>) -> Result<(), Refusal> {
        let (app, since) = self.kept().unwrap_or_else(|| {
            let ui = Ui::new(false, true, ColorChoice::Auto);
            let app = App::new(ui, Stdin::Text(String::new()), self.common.clone());
            app.hurry();
            let now = app.now();
            (app, now)
        });
        let technology =
            || Technology { stack: stack_of(&app).unwrap_or_default(), templates: app.templates() };
        let outcome = self.seat(&app, &technology).map(|seat| work(&seat));
        match outcome {
            Ok(Ok(())) => {
                self.keep(app, since);
                Ok(())
            }
            // A connection that failed may be of no more use; the next request gets a new one.
            Ok(Err(error)) => {
                if !matches!(error, ToolError::Store(StoreError::Backend { .. })) {
                    self.keep(app, since);
                }
                Err(refusal(&error.into()))
            }
            Err(error) => Err(refusal(&error)),
        }
    }
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
