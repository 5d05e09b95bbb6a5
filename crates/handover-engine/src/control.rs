//! What a person decides about a run that waits, without an engine: leaving a story out, giving the run up. The
//! decision is an event of the journal; the next `--resume` carries it out. For the API and the dashboard.

use handover_model::config::Config;
use handover_model::{RunId, Timestamp};
use handover_store::Store;
use handover_text::Redactor;

use crate::EngineError;
use crate::journal::{Journal, fold};
use crate::lock::{lease, lock};
use crate::reducer::{Event, State};

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
        let asked = || EngineError::NothingAsked { story: Some(story.to_owned()) };
        self.give_up(run, &self.reason("skipped", why), |state| {
            let open = open(state);
            open.contains(&story.to_owned()).then(|| vec![story.to_owned()]).ok_or_else(asked)
        })
    }

    /// Ends everything that is not settled. Resuming the run puts its work aside and ends it.
    pub fn abandon(&self, run: &RunId, why: &str) -> Result<(), EngineError> {
        self.give_up(run, &self.reason("the run was abandoned", why), |state| Ok(open(state)))
    }

    fn reason(&self, what: &str, why: &str) -> String {
        let why: String = why.trim().chars().take(REASON).collect();
        let why = if why.is_empty() { why } else { format!(": {why}") };
        format!("{what} by {}{why}", self.author)
    }

    fn give_up(
        &self,
        id: &RunId,
        reason: &str,
        which: impl FnOnce(&State) -> Result<Vec<String>, EngineError>,
    ) -> Result<(), EngineError> {
        let epic = self.store.run_record(id)?.epic;
        let fence = lock(self.store, self.config, self.machine, &epic, self.now)?;
        let done = self.write(id, fence, reason, which);
        // A lock that cannot be released expires soon.
        let _ = self.store.unlock_epic(&epic, fence);
        done
    }

    /// Checks under the lock what is still open.
    fn write(
        &self,
        id: &RunId,
        fence: u64,
        reason: &str,
        which: impl FnOnce(&State) -> Result<Vec<String>, EngineError>,
    ) -> Result<(), EngineError> {
        let entries = self.store.journal(id, 1)?;
        let nothing = |epic: String| EngineError::NothingUnfinished { epic };
        let Some(folded) = fold(id, &entries)? else { return Err(nothing(id.to_string())) };
        let state = folded.state;
        let stories = if state.is_over() { Vec::new() } else { which(&state)? };
        if stories.is_empty() {
            return Err(nothing(state.plan.epic.to_string()));
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
        for story in stories {
            journal.event(&Event::GaveUp { story, reason: reason.to_owned() }, self.now)?;
        }
        Ok(())
    }
}

/// The units that are not settled.
fn open(state: &State) -> Vec<String> {
    let open = state.units().filter(|unit| !unit.is_settled());
    open.map(|unit| unit.planned.id.clone()).collect()
}
