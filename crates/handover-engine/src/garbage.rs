//! What runs leave behind and nothing needs any more: the folders of runs that are over, with their worktrees, and
//! where Cargo built in them.
//!
//! A folder stays if its run can be resumed, if its session is open, if git keeps work of the run under a ref, if a
//! worktree in it holds a tree that no branch has, if it is younger than asked for, or if somebody else owns it.
//! It is renamed before it is deleted, so whatever an interrupted deletion leaves is deleted the next time.

use std::collections::HashSet;

use handover_files::{Folder, Kind};
use handover_model::{RunId, RunState, SessionStatus, Timestamp};
use handover_store::{RunFilter, Store, StoreError};
use serde::Serialize;

use crate::EngineError;
use crate::git::{GitError, Repo, Worktree};
use crate::journal::fold;
use crate::runner::LOGS;

/// The folder of all runs, in `.handover/`.
const RUNS: &str = "runs";
/// Where Cargo builds in the worktrees of all runs.
const CACHE: &str = "cargo-target";
/// What the name of a folder begins with that is being deleted.
const DOOMED: &str = "gc-";

/// A file or folder that can be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Garbage {
    /// Its path below `.handover/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Why nothing needs it.
    pub reason: String,
}

/// Something that stays although it is old.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Its path below `.handover/`.
    pub path: String,
    /// What still needs it.
    pub reason: String,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What can be deleted, by path.
    pub garbage: Vec<Garbage>,
    /// What stays although it is old, by path.
    pub kept: Vec<Kept>,
}

/// A project's leftovers of runs.
pub struct Leftovers<'a> {
    /// Knows which runs are over.
    pub store: &'a dyn Store,
    /// `.handover/`
    pub folder: Folder,
    /// The project's repository, if it has one.
    pub repo: Option<&'a Repo>,
    /// What was changed after this time stays.
    pub before: Timestamp,
}

impl std::fmt::Debug for Leftovers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leftovers").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The trees that git keeps, once they were asked for, and a folder for indexes of our own.
struct Trees {
    scratch: tempfile::TempDir,
    kept: Option<HashSet<String>>,
}

/// Why a run's folder goes, or why it stays.
type Verdict = Result<&'static str, String>;

/// The size of the logs of a run that did not get as far as to keep them.
fn logs_of(folder: &Folder, run: &str) -> Result<u64, EngineError> {
    let logs = folder.inside(LOGS);
    Ok(if logs.inside(run).is_there() { logs.bytes(run)? } else { 0 })
}

/// Whether Cargo has built anything there; every run notes which worktree could.
fn is_built(cache: &Folder) -> Result<bool, EngineError> {
    Ok(cache.entries()?.iter().any(|entry| entry.kind == Kind::Folder))
}

impl Leftovers<'_> {
    /// Finds what can be deleted, and what is old but stays. Changes nothing.
    pub fn find(&self) -> Result<Findings, EngineError> {
        let mut findings = Findings::default();
        let runs = self.folder.inside(RUNS);
        let owner = self.folder.owner();
        let mut trees = Trees { scratch: tempfile::tempdir().map_err(GitError::from)?, kept: None };
        for entry in runs.entries()? {
            let name = entry.name.as_str();
            let is_run = name.starts_with("run_") && RunId::new(name).is_ok();
            if !is_run && name != CACHE && !name.starts_with(DOOMED) {
                continue;
            }
            let is_young =
                Timestamp::from_micros(entry.modified.0.saturating_mul(1_000_000)) >= self.before;
            let verdict = match entry.kind {
                Kind::Other => Err("is not a folder".to_owned()),
                Kind::File => continue,
                Kind::Folder if owner.is_some_and(|owner| owner != entry.owner) => {
                    Err("belongs to another user".to_owned())
                }
                Kind::Folder if name.starts_with(DOOMED) => Ok("its deletion was interrupted"),
                Kind::Folder if is_young => continue,
                Kind::Folder if name == CACHE && !is_built(&runs.inside(CACHE))? => continue,
                Kind::Folder if name == CACHE => self.cache()?,
                Kind::Folder => self.run(name, owner, &mut trees)?,
            };
            let path = format!("{RUNS}/{name}");
            match verdict {
                Ok(reason) => {
                    let bytes = runs.bytes(name)? + logs_of(&self.folder, name)?;
                    findings.garbage.push(Garbage { path, bytes, reason: reason.to_owned() });
                }
                Err(reason) => findings.kept.push(Kept { path, reason }),
            }
        }
        Ok(findings)
    }

    /// Deletes what [`find`](Self::find) found, if that still holds; whether it did.
    pub fn delete(&self, garbage: &Garbage) -> Result<bool, EngineError> {
        let Some(name) = garbage.path.strip_prefix("runs/") else { return Ok(false) };
        if name == CACHE && self.cache()?.is_err() {
            return Ok(false);
        }
        let runs = self.folder.inside(RUNS);
        let had_worktrees = runs.inside(name).inside("worktrees").is_there();
        let doomed = match name.starts_with(DOOMED) {
            true => name.to_owned(),
            false => {
                let doomed = format!("{DOOMED}{name}");
                // Left by an interrupted deletion of the same folder.
                runs.remove_folder(&doomed)?;
                runs.rename(name, &doomed)?;
                doomed
            }
        };
        runs.remove_folder(&doomed)?;
        self.folder.inside(LOGS).remove_folder(name)?;
        if let Some(repo) = self.repo.filter(|_| had_worktrees || name.starts_with(DOOMED)) {
            repo.prune()?;
        }
        Ok(true)
    }

    /// The build cache goes with the last run that could use it.
    fn cache(&self) -> Result<Verdict, EngineError> {
        let runs = self.store.runs(&RunFilter::default())?;
        let needed =
            runs.iter().find(|run| !matches!(run.state, RunState::Done | RunState::Failed));
        if let Some(run) = needed {
            return Ok(Err(format!("run {} may need it", run.id)));
        }
        Ok(match runs.iter().map(|run| run.updated_at).max() {
            Some(last) if last >= self.before => Err("the last run is not old enough".to_owned()),
            Some(_) | None => Ok("no run needs this build cache"),
        })
    }

    fn run(
        &self,
        name: &str,
        owner: Option<u32>,
        trees: &mut Trees,
    ) -> Result<Verdict, EngineError> {
        let id = RunId::new(name)?;
        let why = match self.store.run_record(&id) {
            Err(StoreError::NotFound { .. }) => "the store does not know this run",
            Err(error) => return Err(error.into()),
            Ok(run) => {
                let journal = self.store.journal(&id, 1)?;
                let is_over = fold(&id, &journal)?.is_some_and(|folded| folded.state.is_over());
                if !is_over || !matches!(run.state, RunState::Done | RunState::Failed) {
                    return Ok(Err(format!("the run is {} and can be resumed", run.state)));
                }
                if run.updated_at >= self.before {
                    return Ok(Err("the run has not been over for long enough".to_owned()));
                }
                match self.store.session(&run.session) {
                    Ok(session) if session.status == SessionStatus::Active => {
                        return Ok(Err(format!("session {} is open", session.id)));
                    }
                    Ok(_) => "the run and its session are over",
                    Err(StoreError::NotFound { .. }) => "the session was purged",
                    Err(error) => return Err(error.into()),
                }
            }
        };
        Ok(match self.work_in(name, owner, trees)? {
            Some(work) => Err(work),
            None => Ok(why),
        })
    }

    /// What of a run's work would be lost with its folder.
    fn work_in(
        &self,
        name: &str,
        owner: Option<u32>,
        trees: &mut Trees,
    ) -> Result<Option<String>, EngineError> {
        let worktrees = self.folder.inside(RUNS).inside(name).inside("worktrees");
        let entries = worktrees.entries()?;
        let Some(repo) = self.repo else {
            let reason = "the project's repository cannot be opened".to_owned();
            return Ok((!entries.is_empty()).then_some(reason));
        };
        if repo.keeps_work_of(name)? {
            return Ok(Some(format!("git keeps work of the run under refs/handover/{name}/")));
        }
        for entry in entries {
            let named = format!("worktree {}", entry.name);
            if entry.kind != Kind::Folder {
                return Ok(Some(format!("{named} is not a folder")));
            }
            if owner.is_some_and(|owner| owner != entry.owner) {
                return Ok(Some(format!("{named} belongs to another user")));
            }
            let index = trees.scratch.path().join(format!("{name}-{}.index", entry.name));
            let path = worktrees.path().join(&entry.name);
            let Some(worktree) = Worktree::left_at(repo, path, index) else {
                return Ok(Some(format!("git does not know {named}")));
            };
            let kept = match &mut trees.kept {
                Some(kept) => kept,
                none => none.insert(repo.kept_trees()?),
            };
            if !kept.contains(&worktree.snapshot()?) {
                return Ok(Some(format!("{named} holds work that is on no branch")));
            }
        }
        Ok(None)
    }
}
