//! Tries the candidates that a history has: the judge must fail at the start and pass at the fix.

use std::collections::BTreeMap;
use std::path::Path;

use handover_agents::{CancelToken, Ended};
use handover_engine::EngineError;
use handover_engine::git::{PastCommit, Repo};
use handover_model::{Role, Timestamp};
use handover_prove::Task;
use handover_prove::mine::{
    Ecosystem, Fix, HistoryCommit, Judge, Mined, TestFile, build_failure, is_source,
    merged_message, new_names, prompt, task_id, told_names,
};
use handover_text::short;

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
    /// Instead of what the ecosystem needs.
    pub(super) setup: Option<Vec<String>>,
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
    /// What tests said that did not build or load, and how often.
    pub(super) causes: BTreeMap<String, usize>,
}

impl Found {
    /// What kept most tests from building or loading.
    pub(super) fn cause(&self) -> Option<(&str, usize)> {
        let most = self.causes.iter().max_by_key(|(_, count)| **count)?;
        Some((most.0, *most.1))
    }

    /// Whether the project itself seems not to be set up for its tests: no task was found, and one after the other
    /// failed for the same reason.
    pub(super) fn is_stuck(&self) -> bool {
        self.tasks.is_empty() && self.cause().is_some_and(|(_, count)| count >= STUCK)
    }
}

/// A candidate that was tried.
enum Tried {
    Task(Box<Mined>),
    Rejected(&'static str),
    /// Its test did not build or load, for this reason.
    Unbuilt(String),
}

/// Why a candidate whose test did not build or load is no task.
const UNBUILT: &str = "its test does not build or load without the fix";

/// After so many failures for the same reason, and no task, nothing more is tried.
const STUCK: usize = 12;

/// Deletes the folder of clones at the end.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

/// More files of data than that are rarely about one thing.
const MOST_DATA: usize = 10;

/// More new names than that are not looked up.
const MOST_NAMES: usize = 50;

/// A commit that might make a task.
struct Candidate {
    commit: HistoryCommit,
    fix: Fix,
    is_merge: bool,
}

pub(super) fn find(search: &Search<'_>) -> Result<Found, CommandError> {
    let (commits, candidates) = search.candidates()?;
    let mut found = Found { commits, candidates: candidates.len(), ..Found::default() };
    let scratch = Scratch(work_folder(&format!("init-{}", env::unique()))?);
    for candidate in candidates {
        let over = search.cancel.is_cancelled() || search.app.now() >= search.until;
        if found.tasks.len() >= search.limit || over || found.is_stuck() {
            break;
        }
        found.tried += 1;
        let tried = search.tried(&candidate, &found.tasks, &scratch.0)?;
        let commit = &candidate.commit;
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
            Tried::Unbuilt(cause) => {
                tracing::debug!(commit = %commit.id, cause, "rejected");
                *found.rejected.entry(UNBUILT).or_default() += 1;
                *found.causes.entry(cause).or_default() += 1;
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
    /// The commits that might make a task, the best first, and how many there are in all. What a merge brought may
    /// have its code and its test in different commits; those that have both in one come first.
    fn candidates(&self) -> Result<(usize, Vec<Candidate>), CommandError> {
        let head = self.repo.head().map_err(EngineError::from)?;
        let history = self.repo.history(&head, self.commits).map_err(EngineError::from)?;
        let merges = self.repo.merges(&head, self.commits).map_err(EngineError::from)?;
        let count = history.len();
        let merges = merges.into_iter().filter_map(|past| {
            let message = merged_message(&past.message)?.to_owned();
            Some((HistoryCommit { message, ..commit(past) }, true))
        });
        let all = history.into_iter().map(|past| (commit(past), false)).chain(merges);
        let mut candidates: Vec<Candidate> = all
            .filter_map(|(commit, is_merge)| {
                commit.fix().map(|fix| Candidate { commit, fix, is_merge })
            })
            .collect();
        candidates.sort_by_key(|one| (!one.fix.is_sure, one.is_merge));
        Ok((count, candidates))
    }

    fn tried(
        &self,
        candidate: &Candidate,
        others: &[Mined],
        scratch: &Path,
    ) -> Result<Tried, CommandError> {
        let Candidate { commit, fix, .. } = candidate;
        if candidate.is_merge && self.brings(commit, others)? {
            return Ok(Tried::Rejected("it merges another task"));
        }
        let Some(prompt) = prompt(&commit.message) else {
            return Ok(Tried::Rejected("its message does not say what was wrong"));
        };
        let files = self.test_files(commit, fix)?;
        let manifest = |path: &str| self.text_of(&commit.id, path);
        let Some(Judge { words: judge, setup }) = fix.ecosystem.judge(&files, &manifest) else {
            return Ok(Tried::Rejected("it is not known how to run its test"));
        };
        if others.iter().any(|other| other.task.judge == judge) {
            return Ok(Tried::Rejected("another task has the same test"));
        }
        if let Some(reason) = self.names_are_new(commit, fix, &files, &prompt)? {
            return Ok(Tried::Rejected(reason));
        }
        let id = task_id(&commit.id, &commit.message);
        if others.iter().any(|other| other.task.id == id) {
            return Ok(Tried::Rejected("another task has the same id"));
        }
        let judge_files = fix.tests.iter().chain(&fix.support);
        let task = Task {
            id,
            start: commit.parent.clone(),
            prompt,
            judge,
            judge_files: judge_files.map(|path| (path.clone(), commit.id.clone())).collect(),
            setup: self.setup.clone().unwrap_or(setup),
            role: developer()?,
            timeout: None,
            judge_timeout: Some(self.timeout),
        };
        let ready = prepared(self.repo, &task)?;
        let before = match self.at(&ready.start, &ready, fix.ecosystem, scratch)? {
            Seen::Failed(words) => words,
            Seen::Passed => return Ok(Tried::Rejected("its test passes without the fix")),
            Seen::Unbuilt(cause) => return Ok(Tried::Unbuilt(cause)),
            Seen::Broken(reason) => return Ok(Tried::Rejected(reason)),
        };
        match self.at(&commit.id, &ready, fix.ecosystem, scratch)? {
            Seen::Passed => {}
            Seen::Failed(_) => return Ok(Tried::Rejected("its test fails with the fix, too")),
            Seen::Unbuilt(_) | Seen::Broken(_) => {
                return Ok(Tried::Rejected("its test cannot run at the fix"));
            }
        }
        let seen = format!("judge: {before} at the start, exit 0 at the fix");
        Ok(Tried::Task(Box::new(Mined {
            task,
            fix: commit.id.clone(),
            subject: commit.subject().to_owned(),
            seen,
        })))
    }

    /// Whether a merge brings a commit that is a task already.
    fn brings(&self, merge: &HistoryCommit, others: &[Mined]) -> Result<bool, CommandError> {
        let brought =
            self.repo.commits_between(&merge.parent, &merge.id).map_err(EngineError::from)?;
        Ok(others.iter().any(|other| brought.contains(&other.fix)))
    }

    fn text_of(&self, commit: &str, path: &str) -> Option<String> {
        let bytes = self.repo.file_of(commit, Path::new(path)).ok().flatten()?;
        String::from_utf8(bytes).ok()
    }

    /// The tests that a commit changed; if it changed only their data, the tests that name it.
    fn test_files(&self, commit: &HistoryCommit, fix: &Fix) -> Result<Vec<TestFile>, CommandError> {
        let mut files = Vec::new();
        for path in &fix.tests {
            let Some(text) = self.text_of(&commit.id, path) else { continue };
            let changed = self
                .repo
                .added_lines(&commit.parent, &commit.id, path)
                .map_err(EngineError::from)?;
            files.push(TestFile { path: path.clone(), text, changed });
        }
        if !fix.tests.is_empty() {
            return Ok(files);
        }
        for data in fix.support.iter().take(MOST_DATA) {
            let name = data.rsplit('/').next().unwrap_or(data);
            let all = self.repo.files_with(&commit.id, name).map_err(EngineError::from)?;
            for path in all.into_iter().filter(|path| fix.ecosystem.is_test(path)) {
                let Some(text) = self.text_of(&commit.id, &path) else { continue };
                let named = text.lines().enumerate().filter(|(_, line)| line.contains(name));
                let changed = named.map(|(at, _)| at + 1..=at + 1).collect();
                if files.iter().all(|file| file.path != path) {
                    files.push(TestFile { path, text, changed });
                }
            }
        }
        Ok(files)
    }

    /// Whether a test relies on a name that neither the start nor the prompt has, such as that of a new function: no
    /// agent could guess it. Or whether the prompt has a name that only the fix has: then it says what was done.
    fn names_are_new(
        &self,
        commit: &HistoryCommit,
        fix: &Fix,
        files: &[TestFile],
        prompt: &str,
    ) -> Result<Option<&'static str>, CommandError> {
        let is_code = |path: &&String| {
            is_source(path) && !fix.tests.contains(path) && !fix.support.contains(path)
        };
        let mut code = Vec::new();
        for path in commit.files.iter().filter(is_code) {
            let Some(text) = self.text_of(&commit.id, path) else { continue };
            let changed = self
                .repo
                .added_lines(&commit.parent, &commit.id, path)
                .map_err(EngineError::from)?;
            code.push(TestFile { path: path.clone(), text, changed });
        }
        let tests: Vec<&str> = files.iter().flat_map(TestFile::changed_lines).collect();
        let code: Vec<&str> = code.iter().flat_map(TestFile::changed_lines).collect();
        for name in new_names(&tests, &code).into_iter().take(MOST_NAMES) {
            let is_known = self.repo.has_word(&commit.parent, &name).map_err(EngineError::from)?;
            if !is_known && !prompt.contains(&name) {
                tracing::debug!(commit = %commit.id, name, "a new name");
                return Ok(Some("its test has a name that only the fix brought"));
            }
        }
        let before = |path: &String| self.text_of(&commit.parent, path).unwrap_or_default();
        let before: Vec<String> = commit.files.iter().filter(is_code).map(before).collect();
        let told = told_names(prompt, &tests, &code);
        let is_told = told.iter().any(|name| !before.iter().any(|text| text.contains(name)));
        Ok(is_told.then_some("its message names what only the fix has"))
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
        // A partial clone has no files of old commits.
        if let Err(error) = self.repo.isolated_clone(commit, &path) {
            tracing::debug!(commit, %error, "no clone");
            return Ok(Seen::Broken("its files are not all in this repository"));
        }
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
        let unbuilt = build_failure(ecosystem, &said);
        Ok(match (outcome.ended, unbuilt) {
            (Ended::Exited(0), _) => Seen::Passed,
            (Ended::Exited(code), None) if ecosystem.is_failure(code) => {
                Seen::Failed(in_words(&outcome))
            }
            (Ended::Exited(_), Some(cause)) => {
                Seen::Unbuilt(self.app.redactor()?.clean(short(cause).as_ref()).to_string())
            }
            (Ended::WallTimeout, _) => Seen::Broken("its test takes too long"),
            (
                Ended::Exited(_)
                | Ended::Signalled(_)
                | Ended::IdleTimeout
                | Ended::OutputFlood
                | Ended::OverLimit(_)
                | Ended::Cancelled,
                _,
            ) => Seen::Broken("its test cannot run here"),
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
    Unbuilt(String),
    Broken(&'static str),
}
