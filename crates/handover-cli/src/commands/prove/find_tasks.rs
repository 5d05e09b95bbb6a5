//! Tries the candidates that a history has: the judge must fail at the start and pass at the fix.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use handover_agents::{CancelToken, Ended};
use handover_engine::EngineError;
use handover_engine::git::{PastCommit, Repo};
use handover_model::{Role, Timestamp};
use handover_prove::Task;
use handover_prove::mine::{Ecosystem, HistoryCommit, Mined, TestFile, is_build_failure, prompt};

use super::judge::{TrialClone, in_words};
use super::record::work_folder;
use super::tasks::{PreparedTask, prepared};
use crate::app::App;
use crate::env;
use crate::error::CommandError;

/// What to look for, and for how long.
pub(super) struct Search<'a> {
    pub(super) app: &'a App,
    pub(super) repo: &'a Repo,
    pub(super) cancel: &'a CancelToken,
    pub(super) setup: Vec<String>,
    pub(super) limit: usize,
    pub(super) commits: usize,
    pub(super) timeout: u64,
    pub(super) until: Timestamp,
}

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) commits: usize,
    pub(super) candidates: usize,
    pub(super) tried: usize,
    pub(super) tasks: Vec<Mined>,
    /// How many candidates were rejected, by reason.
    pub(super) rejected: BTreeMap<&'static str, usize>,
}

/// A candidate that was tried.
enum Tried {
    Task(Box<Mined>),
    Rejected(&'static str),
}

/// Deletes the folder of clones at the end.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

pub(super) fn find(search: &Search<'_>) -> Result<Found, CommandError> {
    let head = search.repo.head().map_err(EngineError::from)?;
    let history = search.repo.history(&head, search.commits).map_err(EngineError::from)?;
    let mut found = Found { commits: history.len(), ..Found::default() };
    let candidates: Vec<(HistoryCommit, handover_prove::mine::Fix)> = history
        .into_iter()
        .map(commit)
        .filter_map(|commit| commit.fix().map(|fix| (commit, fix)))
        .collect();
    found.candidates = candidates.len();
    let scratch = Scratch(work_folder(&format!("init-{}", env::unique()))?);
    let mut ids = HashSet::new();
    for (commit, fix) in candidates {
        let over = search.cancel.is_cancelled() || search.app.now() >= search.until;
        if found.tasks.len() >= search.limit || over {
            break;
        }
        found.tried += 1;
        let tried = search.tried(&commit, &fix, &mut ids, &scratch.0)?;
        match tried {
            Tried::Task(task) => {
                search.app.ui.note(format_args!(
                    "{}/{} {}",
                    found.tasks.len() + 1,
                    search.limit,
                    commit.subject()
                ));
                found.tasks.push(*task);
            }
            Tried::Rejected(reason) => {
                tracing::debug!(commit = %commit.id, reason, "rejected");
                *found.rejected.entry(reason).or_default() += 1;
            }
        }
    }
    Ok(found)
}

fn commit(past: PastCommit) -> HistoryCommit {
    let PastCommit { id, parent, message, files, removed } = past;
    HistoryCommit { id, parent, message, files, removed }
}

impl Search<'_> {
    fn tried(
        &self,
        commit: &HistoryCommit,
        fix: &handover_prove::mine::Fix,
        ids: &mut HashSet<String>,
        scratch: &Path,
    ) -> Result<Tried, CommandError> {
        let Some(prompt) = prompt(&commit.message) else {
            return Ok(Tried::Rejected("its message does not say what was wrong"));
        };
        let Some(judge) = self.judge(commit, fix)? else {
            return Ok(Tried::Rejected("no single test of it can be named"));
        };
        let mut id = commit.id.get(..10).unwrap_or(&commit.id).to_owned();
        while !ids.insert(id.clone()) {
            id.push('x');
        }
        let task = Task {
            id,
            start: commit.parent.clone(),
            prompt,
            judge,
            judge_files: fix.tests.iter().map(|path| (path.clone(), commit.id.clone())).collect(),
            setup: self.setup.clone(),
            role: developer()?,
            timeout: None,
            judge_timeout: Some(self.timeout),
        };
        let ready = prepared(self.repo, &task)?;
        let before = match self.at(&ready.start, &ready, fix.ecosystem, scratch)? {
            Seen::Failed(words) => words,
            Seen::Passed => return Ok(Tried::Rejected("its test passes without the fix")),
            Seen::Broken(reason) => return Ok(Tried::Rejected(reason)),
        };
        match self.at(&commit.id, &ready, fix.ecosystem, scratch)? {
            Seen::Passed => {}
            Seen::Failed(_) => return Ok(Tried::Rejected("its test fails with the fix, too")),
            Seen::Broken(_) => return Ok(Tried::Rejected("its test cannot run at the fix")),
        }
        let seen = format!("judge: {before} at the start, exit 0 at the fix");
        Ok(Tried::Task(Box::new(Mined {
            task,
            fix: commit.id.clone(),
            subject: commit.subject().to_owned(),
            seen,
        })))
    }

    /// The command that runs the tests which a commit changed.
    fn judge(
        &self,
        commit: &HistoryCommit,
        fix: &handover_prove::mine::Fix,
    ) -> Result<Option<Vec<String>>, CommandError> {
        let text = |path: &str| {
            let bytes = self.repo.file_of(&commit.id, Path::new(path)).ok().flatten()?;
            String::from_utf8(bytes).ok()
        };
        let mut files = Vec::new();
        for path in &fix.tests {
            let Some(text) = text(path) else { continue };
            let changed = self
                .repo
                .added_lines(&commit.parent, &commit.id, path)
                .map_err(EngineError::from)?;
            files.push(TestFile { path: path.clone(), text, changed });
        }
        Ok(fix.ecosystem.judge(&files, &text).map(|judge| judge.words))
    }

    /// What the judge says at a commit, with its own files.
    fn at(
        &self,
        commit: &str,
        task: &PreparedTask,
        ecosystem: Ecosystem,
        scratch: &Path,
    ) -> Result<Seen, CommandError> {
        let path = scratch.join("clone");
        let _ = fs_err::remove_dir_all(&path);
        self.repo.isolated_clone(commit, &path).map_err(EngineError::from)?;
        let mut clone = TrialClone::at(self.app, self.repo, path, self.cancel);
        // Where tools would use the checkout's code, nothing could be said.
        if clone.redirect().is_err() {
            return Ok(Seen::Broken("its tools would use the code of the checkout"));
        }
        // All tries share what is compiled; their files are newer, so nothing old is used.
        clone.share_builds(&scratch.join("target"));
        if !task.task.setup.is_empty() {
            let outcome = clone.command(&task.task.setup, Some(self.timeout))?;
            if outcome.ended != Ended::Exited(0) {
                return Ok(Seen::Broken("its setup fails"));
            }
        }
        let outcome = clone.judge(task)?;
        let said = format!("{}\n{}", outcome.stdout.text(), outcome.stderr.text());
        Ok(match outcome.ended {
            Ended::Exited(0) => Seen::Passed,
            Ended::Exited(code)
                if ecosystem.is_failure(code) && !is_build_failure(ecosystem, &said) =>
            {
                Seen::Failed(in_words(&outcome))
            }
            Ended::Exited(_) if is_build_failure(ecosystem, &said) => {
                Seen::Broken("its test does not build or load without the fix")
            }
            Ended::WallTimeout => Seen::Broken("its test takes too long"),
            Ended::Exited(_)
            | Ended::Signalled(_)
            | Ended::IdleTimeout
            | Ended::OutputFlood
            | Ended::OverLimit(_)
            | Ended::Cancelled => Seen::Broken("its test cannot run here"),
        })
    }
}

fn developer() -> Result<Role, CommandError> {
    Ok(Role::new("developer")?)
}

/// What a judge said.
enum Seen {
    Passed,
    Failed(String),
    Broken(&'static str),
}
