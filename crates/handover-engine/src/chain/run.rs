//! Runs epics one after the other, each as an ordinary run that starts from its dependencies' commits.

use std::collections::BTreeMap;

use handover_model::{EpicId, Host, RunState, SessionId, SessionStatus, Timestamp};
use handover_store::{NewSession, RunFilter};
use serde_json::json;

use super::report::{EpicReport, Report};
use super::{ChainLink, in_order, links, record};
use crate::git::{GitError, Repo};
use crate::plan::RunRequest;
use crate::reducer::State;
use crate::runner::{Engine, Progress};
use crate::story::{Layout, StoryError, discover};
use crate::{EngineError, Spent};

/// A request to run a chain.
#[derive(Debug, Clone)]
pub struct ChainRequest {
    /// The epics, in the order in which the user named them.
    pub epics: Vec<EpicId>,
    /// The request for each epic; its epic and base commit are filled in.
    pub each: RunRequest,
}

/// Receives progress: the epic, its state and what happens.
pub type OnChain<'a> = &'a mut dyn FnMut(&EpicId, &State, &Progress<'_>);

/// The result of an epic that its dependents need.
#[derive(Debug, Clone)]
struct EpicEnd {
    head: String,
    state: RunState,
}

impl Engine<'_> {
    /// The epics in the order of work, without running them.
    pub fn chain_order(&self, epics: &[EpicId]) -> Result<Vec<ChainLink>, EngineError> {
        let layout = Layout::new(&self.config.runs);
        let order = in_order(links(&self.project, &layout, epics)?)?;
        for link in &order {
            discover(&self.project, &layout, &link.epic)?;
        }
        Ok(order)
    }

    /// Runs epics one after the other. A failed epic blocks only its dependents. Whatever stops the
    /// engine stops the chain, which can be resumed.
    pub fn chain(
        &self,
        request: &ChainRequest,
        on_progress: OnChain<'_>,
    ) -> Result<Report, EngineError> {
        let order = self.chain_order(&request.epics)?;
        let mut chain = Chain {
            engine: self,
            repo: Repo::open(&self.project, self.environment_of(Host::COMMAND))?,
            each: &request.each,
            begun: self.begin_chain(&order, request.each.resume)?,
            ended: BTreeMap::new(),
            spent: Spent::default(),
        };
        let mut reports: Vec<EpicReport> = Vec::new();
        let mut stopped = None;
        for link in &order {
            let mut report = EpicReport::new(link);
            if let Some(on) = chain.unmet_dependency(link) {
                report.block(format!("waits for epic `{on}`"));
                chain.end(link, String::new(), RunState::Blocked);
            } else if stopped.is_none() {
                let state = chain.run(link, &mut report, on_progress)?;
                stopped = Some(state).filter(|state| !state.is_final());
            }
            reports.push(report);
        }
        let report = Report::new(reports, stopped);
        if report.state.is_final() {
            self.end_chain(&order, &report)?;
        }
        Ok(report)
    }

    /// Records the start of a chain, or finds the start of the one to resume.
    fn begin_chain(&self, order: &[ChainLink], resume: bool) -> Result<Timestamp, EngineError> {
        let now = (self.now)();
        let session = session_of(order)?;
        let new = NewSession {
            id: session.clone(),
            project: self.project_id.clone(),
            metadata: self.redactor.clean_json(json!({"chain": names(order)})),
            now,
        };
        let opened = self.store.open_session(&new)?;
        let latest = record::latest(self.store, &session)?;
        // A chain that has ended is resumed too: questions may have been answered since, and epics that
        // are done are not repeated.
        if let Some(chain) = latest.filter(|_| resume) {
            return Ok(chain.begun);
        }
        if latest.is_some_and(|chain| !chain.ended)
            && let Some(run) = self.unfinished(order)?
        {
            return Err(run);
        }
        if opened.record.status != SessionStatus::Active {
            self.store.set_session_status(&session, SessionStatus::Active, now)?;
        }
        record::begin(self.store, self.redactor, &session, &names(order), now)?;
        Ok(now)
    }

    /// The unfinished run of one of the epics, as an error.
    fn unfinished(&self, order: &[ChainLink]) -> Result<Option<EngineError>, EngineError> {
        for link in order {
            let filter = RunFilter { epic: Some(link.epic.clone()), limit: Some(1) };
            if let Some(run) = self.store.runs(&filter)?.pop().filter(|run| !run.state.is_final()) {
                return Ok(Some(EngineError::Unfinished {
                    run: run.id.to_string(),
                    epic: run.epic.to_string(),
                    state: run.state,
                }));
            }
        }
        Ok(None)
    }

    fn end_chain(&self, order: &[ChainLink], report: &Report) -> Result<(), EngineError> {
        let (now, session) = ((self.now)(), session_of(order)?);
        record::end(self.store, self.redactor, &session, report, now)?;
        let is_done = report.state == RunState::Done;
        let status = if is_done { SessionStatus::Completed } else { SessionStatus::Failed };
        Ok(self.store.set_session_status(&session, status, now).map(drop)?)
    }
}

/// A chain in progress.
struct Chain<'a> {
    engine: &'a Engine<'a>,
    repo: Repo,
    each: &'a RunRequest,
    begun: Timestamp,
    /// Finished epics.
    ended: BTreeMap<EpicId, EpicEnd>,
    spent: Spent,
}

impl Chain<'_> {
    /// A dependency that is not done.
    fn unmet_dependency(&self, link: &ChainLink) -> Option<EpicId> {
        let is_lost =
            |on: &&EpicId| self.ended.get(*on).is_some_and(|ended| ended.state != RunState::Done);
        link.builds_on.iter().find(is_lost).cloned()
    }

    fn end(&mut self, link: &ChainLink, head: String, state: RunState) {
        self.ended.insert(link.epic.clone(), EpicEnd { head, state });
    }

    /// Runs one epic and returns its state.
    fn run(
        &mut self,
        link: &ChainLink,
        report: &mut EpicReport,
        on_progress: OnChain<'_>,
    ) -> Result<RunState, EngineError> {
        let missing = self.never_run(link)?;
        let outcome = self.request(link).and_then(|request| {
            let mut shown = |state: &State, progress: &Progress<'_>| {
                on_progress(&link.epic, state, progress);
                if let (Progress::Started { .. }, Some(on)) = (progress, &missing) {
                    let text = format!(
                        "epic {} builds on epic {on}, which has never run: name it too, or its work is missing",
                        link.epic
                    );
                    on_progress(&link.epic, state, &Progress::Warning(text));
                }
            };
            self.engine.run(&request, &mut shown)
        });
        match outcome {
            Ok((run, state)) => {
                report.ran(&run, &state);
                self.spent = self.spent + state.spent();
                self.end(link, state.head.clone(), state.state);
                Ok(state.state)
            }
            Err(error) if is_about_the_epic(&error) => {
                report.fail(error.to_string());
                self.end(link, String::new(), RunState::Failed);
                Ok(RunState::Failed)
            }
            Err(error) => Err(error),
        }
    }

    fn request(&self, link: &ChainLink) -> Result<RunRequest, EngineError> {
        let mut each = self.each.clone();
        each.epic = link.epic.clone();
        each.from = self.base_of(link)?;
        let left = |most: f64| (most - self.spent.cost_usd).max(0.0);
        each.overrides.max_cost = each.overrides.max_cost.map(left);
        // Only runs of this chain are resumed; any other epic starts over.
        let filter = RunFilter { epic: Some(link.epic.clone()), limit: Some(1) };
        let latest = self.engine.store.runs(&filter)?.pop();
        each.resume &=
            latest.is_some_and(|run| run.created_at >= self.begun || !run.state.is_final());
        Ok(each)
    }

    /// An epic that this one builds on and that no run has ever worked on.
    fn never_run(&self, link: &ChainLink) -> Result<Option<EpicId>, EngineError> {
        for on in link.builds_on.iter().filter(|on| !self.ended.contains_key(*on)) {
            let filter = RunFilter { epic: Some(on.clone()), limit: Some(1) };
            if self.engine.store.runs(&filter)?.is_empty() {
                return Ok(Some(on.clone()));
            }
        }
        Ok(None)
    }

    /// The commit that an epic starts from: its dependency's head, or a merge of several. None means
    /// the user's branch.
    fn base_of(&self, link: &ChainLink) -> Result<Option<String>, EngineError> {
        let repo = &self.repo;
        let mut commits: Vec<String> = Vec::new();
        for on in &link.builds_on {
            let commit = match self.ended.get(on) {
                Some(ended) => Some(ended.head.clone()),
                None => repo.resolve(&format!("refs/heads/handover/epic-{on}"))?,
            };
            commits.extend(commit);
        }
        let what = format!("epic {}", link.epic);
        let Some(joined) = repo.joined(&commits, &what, self.begun)? else { return Ok(None) };
        // The user's branch may contain it already.
        let is_old = repo.is_ancestor(&joined, &repo.head()?)?;
        Ok(Some(joined).filter(|_| !is_old))
    }
}

/// Whether the error concerns this epic only, so that others can continue.
fn is_about_the_epic(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Story(
            StoryError::NoStories { .. }
                | StoryError::Ambiguous { .. }
                | StoryError::Contradiction { .. }
                | StoryError::UnknownDependency { .. }
                | StoryError::Cycle { .. }
        ) | EngineError::Git(
            GitError::Diverged { .. } | GitError::CheckedOut { .. } | GitError::Conflict { .. }
        )
    )
}

fn names(order: &[ChainLink]) -> Vec<String> {
    let mut names: Vec<String> = order.iter().map(|link| link.epic.to_string()).collect();
    names.sort();
    names
}

/// The session that records a chain of these epics.
fn session_of(order: &[ChainLink]) -> Result<SessionId, EngineError> {
    let name = format!("chain-{}", names(order).join("-"));
    if name.len() <= 60 {
        return Ok(SessionId::new(name)?);
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    Ok(SessionId::new(format!("chain-{}", &hash[..16]))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(epics: &[&str]) -> Vec<ChainLink> {
        let link =
            |epic: &&str| ChainLink { epic: EpicId::new(*epic).unwrap(), builds_on: Vec::new() };
        epics.iter().map(link).collect()
    }

    #[test]
    fn a_chain_is_identified_by_its_epics_in_any_order() {
        let session = |epics: &[&str]| session_of(&order(epics)).unwrap().to_string();
        assert_eq!(session(&["2", "1"]), "chain-1-2");
        assert_eq!(session(&["1", "2"]), session(&["2", "1"]));
        let long: Vec<String> = (0..40).map(|n| format!("epic{n}")).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let name = session(&long);
        assert_eq!(name.len(), "chain-".len() + 16, "{name}");
        assert_ne!(name, session(&long[1..]));
        // Sixty characters are still a valid name, one more is not.
        let of = |length: usize| session(&[&"x".repeat(length - "chain-".len())]);
        assert_eq!(of(60).len(), 60);
        assert_eq!(of(61).len(), "chain-".len() + 16);
    }

    #[test]
    fn errors_of_one_epic_do_not_affect_the_others() {
        let (epic, branch) = ("1".to_owned(), "b".to_owned());
        let own: Vec<EngineError> = vec![
            StoryError::NoStories { epic: epic.clone(), folders: Vec::new() }.into(),
            StoryError::Cycle { stories: Vec::new() }.into(),
            StoryError::Ambiguous { what: "x".to_owned(), paths: Vec::new() }.into(),
            GitError::Diverged { branch: branch.clone() }.into(),
            GitError::CheckedOut { branch: branch.clone() }.into(),
            GitError::Conflict { one: "a".to_owned(), other: "b".to_owned() }.into(),
        ];
        for error in own {
            assert!(is_about_the_epic(&error), "{error}");
        }
        let everybodys: Vec<EngineError> = vec![
            StoryError::NotFound { epic, epics: Vec::new(), folders: Vec::new() }.into(),
            GitError::NoGit.into(),
            GitError::Moved { branch }.into(),
            EngineError::Interrupted,
            EngineError::Host { message: "no key".to_owned() },
        ];
        for error in everybodys {
            assert!(!is_about_the_epic(&error), "{error}");
        }
    }
}
