//! What a person decides about a run that waits, without an engine: skipping or retrying a story, giving the run
//! up, approving what only a person can check. The
//! decision is an event of the journal; the next `--resume` carries it out. For the API and the dashboard.

use handover_model::config::Config;
use handover_model::{RunId, RunState, ScenarioKind, ScenarioOutcome, Timestamp};
use handover_store::{RunFilter, Store};
use handover_text::Redactor;

use crate::EngineError;
use crate::data::ScenarioResult;
use crate::journal::{Journal, fold};
use crate::lock::{lease, lock};
use crate::reducer::{Approval, Event, State, StoryRun};

/// The longest reason, in characters.
const REASON: usize = 400;

/// What is needed to write a decision to a journal.
pub struct Control<'a> {
    /// The store with the journal.
    pub store: &'a dyn Store,
    /// Redacts the reason.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// The name of this machine, for the lock.
    pub machine: &'a str,
    /// Who decides, as the journal says it.
    pub author: &'a str,
    /// The current time.
    pub now: Timestamp,
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl Control<'_> {
    /// Ends one story that is not settled; its work is put aside when the run is resumed.
    pub fn skip(&self, run: &RunId, story: &str, why: &str) -> Result<(), EngineError> {
        let reason = self.reason("skipped", why);
        self.decide(run, |state| {
            if !may_skip(state, story) {
                return Err(EngineError::NothingAsked { story: Some(story.to_owned()) });
            }
            Ok(vec![self.gave_up(story.to_owned(), &reason)])
        })
    }

    /// Ends everything that is not settled. Resuming the run puts its work aside and ends it.
    pub fn abandon(&self, run: &RunId, why: &str) -> Result<(), EngineError> {
        let reason = self.reason("the run was abandoned", why);
        self.decide(run, |state| {
            let open = if state.is_over() { Vec::new() } else { open(state) };
            Ok(open.into_iter().map(|story| self.gave_up(story, &reason)).collect())
        })
    }

    /// Has a story tried again when the run is resumed, even if the run is over.
    pub fn retry(&self, run: &RunId, story: &str, why: &str) -> Result<(), EngineError> {
        let reason: String = why.trim().chars().take(REASON).collect();
        self.decide(run, |state| {
            if !may_retry(state, story) {
                return Err(EngineError::NothingAsked { story: Some(story.to_owned()) });
            }
            let by = Some(self.author.to_owned());
            Ok(vec![Event::Retried { story: story.to_owned(), reason, by }])
        })
    }

    /// Says whether a scenario holds that no program can run.
    pub fn approve(
        &self,
        run: &RunId,
        scenario: &str,
        holds: bool,
        note: &str,
    ) -> Result<(), EngineError> {
        let note: String = note.trim().chars().take(REASON).collect();
        let by = Some(self.author.to_owned());
        let approval = Approval { scenario: scenario.to_owned(), holds, note, by, at: self.now };
        self.decide(run, |state| {
            let asked = to_check(state).iter().any(|one| one.id == scenario);
            Ok(asked.then_some(Event::Approved { approval }).into_iter().collect())
        })
    }

    fn gave_up(&self, story: String, reason: &str) -> Event {
        Event::GaveUp { story, reason: reason.to_owned(), by: Some(self.author.to_owned()) }
    }

    fn reason(&self, what: &str, why: &str) -> String {
        let why: String = why.trim().chars().take(REASON).collect();
        let why = if why.is_empty() { why } else { format!(": {why}") };
        format!("{what} by {}{why}", self.author)
    }

    fn decide(
        &self,
        id: &RunId,
        what: impl FnOnce(&State) -> Result<Vec<Event>, EngineError>,
    ) -> Result<(), EngineError> {
        let epic = self.store.run_record(id)?.epic;
        let fence = lock(self.store, self.config, self.machine, &epic, self.now)?;
        let done = self.write(id, fence, what);
        // A lock that cannot be released expires soon.
        let _ = self.store.unlock_epic(&epic, fence);
        done
    }

    /// Checks under the lock what is still open.
    fn write(
        &self,
        id: &RunId,
        fence: u64,
        what: impl FnOnce(&State) -> Result<Vec<Event>, EngineError>,
    ) -> Result<(), EngineError> {
        let entries = self.store.journal(id, 1)?;
        let nothing = |epic: String| EngineError::NothingUnfinished { epic };
        let Some(folded) = fold(id, &entries)? else { return Err(nothing(id.to_string())) };
        let epic = folded.state.plan.epic.clone();
        let latest = RunFilter { epic: Some(epic.clone()), limit: Some(1) };
        let is_latest = self.store.runs(&latest)?.first().is_some_and(|run| run.id == *id);
        let events = if is_latest { what(&folded.state)? } else { Vec::new() };
        if events.is_empty() {
            return Err(nothing(epic.to_string()));
        }
        let mut journal = Journal {
            store: self.store,
            redactor: self.redactor,
            run: id.clone(),
            fence,
            seq: entries.last().map_or(0, |entry| entry.seq),
            lease: lease(self.config, 0),
            death: None,
        };
        for event in events {
            let reopens = matches!(event, Event::Retried { .. }) && folded.state.is_over();
            journal.event_in(&event, reopens.then_some(RunState::Blocked), self.now)?;
        }
        Ok(())
    }
}

/// Whether a story can be skipped: it is not settled, and the run is not over.
pub fn may_skip(state: &State, story: &str) -> bool {
    !state.is_over() && open(state).iter().any(|open| open == story)
}

/// Whether a story can be tried again.
pub fn may_retry(state: &State, story: &str) -> bool {
    state.story(story).is_some_and(StoryRun::may_be_retried)
}

/// Whether the run waits and has something that can be given up.
pub fn may_abandon(state: &State) -> bool {
    !state.is_over() && !open(state).is_empty()
}

/// The scenarios that only a person can check.
pub fn to_check(state: &State) -> Vec<&ScenarioResult> {
    let results = state.closing.as_ref().and_then(|closing| closing.uat.as_ref());
    let all = results.into_iter().flat_map(|uat| &uat.results);
    all.filter(|one| one.outcome == ScenarioOutcome::NotRun && one.kind != ScenarioKind::Auto)
        .collect()
}

/// The units that are not settled.
fn open(state: &State) -> Vec<String> {
    let open = state.units().filter(|unit| !unit.is_settled());
    open.map(|unit| unit.planned.id.clone()).collect()
}
