//! What is kept of an experiment, below `.handover/experiments/`: its plan, its journal, its prompts and what its agents
//! printed. A line of the journal is on the disk before the next step begins.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use handover_files::{Folder, Sync};
use handover_model::{SessionId, SessionStatus};
use handover_prove::{Entry, Plan, Progress, TaskFile};
use handover_store::NewSession;
use serde_json::json;

use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};

const FOLDER: &str = "experiments";
const PLAN: &str = "plan.json";
const JOURNAL: &str = "journal.jsonl";
const LOCK: &str = "lock";

/// The most that is read of a plan and of a journal.
const MAX_PLAN: u64 = 4 << 20;
const MAX_JOURNAL: u64 = 256 << 20;

/// One experiment.
pub(super) struct Record {
    pub(super) plan: Plan,
    folder: Folder,
    journal: RefCell<Option<File>>,
}

/// The error of a command that needs an experiment.
pub(super) fn none(file: &Path) -> CommandError {
    let message =
        format!("there is no experiment with the tasks of `{}` as they are now", file.display());
    CommandError::new(Exit::Usage, "not_found", message)
        .hinted("Without `--resume` a new one begins. A file that was changed belongs to another experiment.")
}

impl Record {
    /// Begins an experiment: from here on it can be resumed.
    pub(super) fn create(app: &App, plan: Plan) -> Result<Self, CommandError> {
        let folder = app.project()?.folder().inside(FOLDER).inside(&plan.id);
        folder.create()?;
        let record = Self { plan, folder, journal: RefCell::new(None) };
        app.store()?.open_session(&NewSession {
            id: record.session()?,
            project: app.project_id()?,
            metadata: app.redactor()?.clean_json(json!({"experiment": record.plan.id})),
            now: app.now(),
        })?;
        // It must not become the session of other commands, which pick the only active one.
        app.store()?.set_session_status(&record.session()?, SessionStatus::Completed, app.now())?;
        let text = serde_json::to_vec_pretty(&record.plan).unwrap_or_default();
        record.folder.replace(PLAN, &text, Sync::Yes)?;
        Ok(record)
    }

    /// The last experiment with these tasks, if any.
    pub(super) fn last(app: &App, file: &TaskFile) -> Result<Option<Self>, CommandError> {
        let all = app.project()?.folder().inside(FOLDER);
        let mut names: Vec<String> =
            all.entries().unwrap_or_default().into_iter().map(|entry| entry.name).collect();
        names.sort();
        for name in names.into_iter().rev() {
            let folder = all.inside(&name);
            // A plan that was never written belongs to an experiment that never began.
            let Some(text) = folder.read_text(PLAN, MAX_PLAN)? else { continue };
            let plan: Plan = serde_json::from_str(&text).map_err(|error| damaged(&name, &error))?;
            if plan.fingerprint == file.fingerprint {
                if plan.version != Plan::VERSION || plan.id != name {
                    return Err(damaged(&name, &"another version of Handover wrote it"));
                }
                return Ok(Some(Self { plan, folder, journal: RefCell::new(None) }));
            }
        }
        Ok(None)
    }

    /// Keeps others from doing the same trials.
    pub(super) fn lock(&self) -> Result<File, CommandError> {
        let file = self.folder.append(LOCK)?;
        file.try_lock().map_err(|_| {
            let message = format!("experiment {} is already under way", self.plan.id);
            CommandError::new(Exit::Blocked, "locked", message)
                .hinted("Wait for it, or stop it; `--show` shows how far it is.")
        })?;
        Ok(file)
    }

    /// The session that its receipts belong to.
    pub(super) fn session(&self) -> Result<SessionId, CommandError> {
        Ok(SessionId::new(format!("prove-{}", self.plan.id))?)
    }

    /// What the journal says.
    pub(super) fn progress(&self) -> Result<Progress, CommandError> {
        let text = self.folder.read(JOURNAL, MAX_JOURNAL)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        Progress::read(&self.plan, &text).map_err(|error| damaged(&self.plan.id, &error))
    }

    /// Adds a line, durably. What a killed program left of a line is ended first, so that it spoils no other.
    pub(super) fn add(&self, entry: &Entry) -> Result<(), CommandError> {
        let mut line =
            serde_json::to_string(entry).map_err(|error| damaged(&self.plan.id, &error))?;
        line.push('\n');
        let mut journal = self.journal.borrow_mut();
        if journal.is_none() {
            self.drop_half_line()?;
            *journal = Some(self.folder.append(JOURNAL)?);
        }
        let Some(file) = journal.as_mut() else { return Ok(()) };
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| io(&error))
    }

    fn drop_half_line(&self) -> Result<(), CommandError> {
        let Some(bytes) = self.folder.read(JOURNAL, MAX_JOURNAL)? else { return Ok(()) };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            self.folder.replace(JOURNAL, &bytes[..whole], Sync::Yes)?;
        }
        Ok(())
    }

    /// Where prompts are kept.
    pub(super) fn prompts(&self) -> Folder {
        self.folder.inside("prompts")
    }

    /// Where the output of agents and judges is kept.
    pub(super) fn logs(&self) -> Folder {
        self.folder.inside("logs")
    }

    /// Deletes the clones.
    pub(super) fn finish(&self) -> Result<(), CommandError> {
        let _ = fs_err::remove_dir_all(work_folder(&self.plan.id)?);
        Ok(())
    }
}

/// Where clones are: outside of the project, because agent programs file conversations by folder, and those of trials
/// are not the project's; and because nothing above a clone may lead back to it.
pub(super) fn work_folder(name: &str) -> Result<PathBuf, CommandError> {
    let Some(state) = env::user_state_folder() else {
        let message = "there is no home folder for the clones of an experiment";
        return Err(CommandError::new(Exit::Environment, "no_home", message)
            .hinted("Set HOME or XDG_STATE_HOME."));
    };
    let folder = state.join(FOLDER).join(name);
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| io(&error))?;
    fs_err::canonicalize(folder).map_err(|error| io(&error))
}

fn damaged(name: &str, error: &dyn std::fmt::Display) -> CommandError {
    let message = format!("the record of experiment {name} cannot be used: {error}");
    CommandError::new(Exit::Environment, "damaged", message)
        .hinted(format!("Look at .handover/{FOLDER}/{name}, or begin another experiment."))
}
