//! What is kept of an experiment, below `.handover/experiments/`: its plan, its journal, its prompts and what its agents
//! printed. A line of the journal is on the disk before the next step begins.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use handover_files::{Folder, Sync, read_text_bounded};
use handover_model::{Host, SessionId, SessionStatus};
use handover_prove::file::MAX_BYTES;
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

    /// Keeps the budget that an experiment continues with.
    pub(super) fn keep(&self, plan: &Plan) -> Result<(), CommandError> {
        if *plan != self.plan {
            let text = serde_json::to_vec_pretty(plan).unwrap_or_default();
            self.folder.replace(PLAN, &text, Sync::Yes)?;
        }
        Ok(())
    }

    /// The last experiment with these tasks, if any.
    pub(super) fn last(app: &App, file: &TaskFile) -> Result<Option<Self>, CommandError> {
        let all = app.project()?.folder().inside(FOLDER);
        let mut names: Vec<String> =
            all.entries().unwrap_or_default().into_iter().map(|entry| entry.name).collect();
        names.sort();
        let mut unreadable = None;
        for name in names.into_iter().rev() {
            let folder = all.inside(&name);
            // A plan that was never written belongs to an experiment that never began.
            let Some(text) = folder.read_text(PLAN, MAX_PLAN)? else { continue };
            let plan = match Plan::read(&text) {
                Ok(plan) => plan,
                // It may be another one's.
                Err(error) => {
                    unreadable.get_or_insert_with(|| damaged(&name, &error));
                    continue;
                }
            };
            if plan.fingerprint == file.fingerprint {
                if plan.id != name {
                    return Err(damaged(&name, &"it belongs to another experiment"));
                }
                return Ok(Some(Self { plan, folder, journal: RefCell::new(None) }));
            }
        }
        unreadable.map_or(Ok(None), Err)
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

    /// Where the agent of a trial works. The journal has the path, too, but is a file that others may have written,
    /// and what is here gets deleted.
    pub(super) fn clone_of(&self, trial: usize) -> Result<PathBuf, CommandError> {
        Ok(work_folder(&self.plan.id)?.join(format!("trial-{trial}")))
    }

    /// Deletes the clones.
    pub(super) fn finish(&self) -> Result<(), CommandError> {
        let _ = fs_err::remove_dir_all(work_folder(&self.plan.id)?);
        Ok(())
    }
}

/// What an agent of this program cost on average in earlier experiments, if one of them says so.
pub(super) fn usual_cost(app: &App, host: Host) -> Result<Option<f64>, CommandError> {
    let all = all_experiments(app)?;
    let (mut sum, mut count) = (0.0, 0_u32);
    for entry in all.entries()? {
        let folder = all.inside(&entry.name);
        let plan = folder.read_text(PLAN, MAX_PLAN).ok().flatten();
        let Some(plan) = plan.and_then(|text| Plan::read(&text).ok()) else { continue };
        if plan.host != host {
            continue;
        }
        let journal = folder.read(JOURNAL, MAX_JOURNAL)?.unwrap_or_default();
        let Ok(progress) = Progress::read(&plan, &String::from_utf8_lossy(&journal)) else {
            continue;
        };
        let seen = progress.observations();
        for usd in seen.iter().filter_map(|one| one.outcome.cost_usd) {
            sum += usd;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / f64::from(count)))
}

/// What an experiment in `.handover/experiments/` is good for.
pub(crate) enum Standing {
    /// Its plan was never written.
    NeverBegan,
    /// Somebody holds its lock.
    UnderWay,
    /// Its file has the same tasks still.
    CanBeResumed { done: usize, planned: usize },
    /// Its file was changed or deleted before it was done.
    GivenUp,
    /// Every trial was done.
    Over,
    /// Nobody can tell.
    Damaged(String),
}

/// The folder of all experiments.
pub(crate) fn all_experiments(app: &App) -> Result<Folder, CommandError> {
    Ok(app.project()?.folder().inside(FOLDER))
}

/// Whether the name of a folder is that of an experiment.
pub(crate) fn is_experiment(name: &str) -> bool {
    name.strip_prefix("x_")
        .is_some_and(|id| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit()))
}

/// How an experiment stands. The lock is held as long as the file lives.
pub(crate) fn standing(app: &App, name: &str) -> Result<(Standing, Option<File>), CommandError> {
    let folder = all_experiments(app)?.inside(name);
    let lock = folder.open_file(LOCK)?;
    if lock.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
        return Ok((Standing::UnderWay, None));
    }
    let Some(text) = folder.read_text(PLAN, MAX_PLAN)? else {
        return Ok((Standing::NeverBegan, lock));
    };
    let plan = match Plan::read(&text) {
        Ok(plan) => plan,
        Err(error) => return Ok((Standing::Damaged(error.to_string()), lock)),
    };
    let journal = folder.read(JOURNAL, MAX_JOURNAL)?.unwrap_or_default();
    let progress = match Progress::read(&plan, &String::from_utf8_lossy(&journal)) {
        Ok(progress) => progress,
        Err(error) => return Ok((Standing::Damaged(error.to_string()), lock)),
    };
    if progress.next().is_none() {
        return Ok((Standing::Over, lock));
    }
    let tasks = read_text_bounded(&plan.file, MAX_BYTES).ok().flatten();
    let is_same = tasks
        .and_then(|text| TaskFile::parse(&text).ok())
        .is_some_and(|file| file.fingerprint == plan.fingerprint);
    let (done, planned) = (progress.judged() + progress.dropped(), progress.trials.len());
    let standing =
        if is_same { Standing::CanBeResumed { done, planned } } else { Standing::GivenUp };
    Ok((standing, lock))
}

/// Deletes the clones of an experiment that is given up.
pub(crate) fn drop_clones(name: &str) {
    if let Some(state) = env::user_state_folder() {
        let _ = fs_err::remove_dir_all(state.join(FOLDER).join(name));
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
