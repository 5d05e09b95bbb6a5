//! What runs ask people, and the answers: found and written in the same way wherever a person is, at the
//! command line, behind the API or before a page.

use std::collections::BTreeSet;

use handover_model::config::Config;
use handover_model::{Run, RunId, RunState, Timestamp};
use handover_store::{RunFilter, Store};
use handover_text::Redactor;

use crate::EngineError;
use crate::journal::{Journal, fold};
use crate::reducer::Event;
use crate::runner::lock::{lease, lock};

/// How long an answer may be, in bytes: the next agent reads all of it.
pub const MOST_BYTES: usize = 64 * 1024;

/// A question of a run that nobody has answered.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who asks.
    pub run: Run,
    /// The story that cannot go on.
    pub story: String,
    /// What is asked.
    pub question: String,
}

/// What writing an answer takes.
pub struct Clerk<'a> {
    /// Where the journal is.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The configuration.
    pub config: &'a Config,
    /// The name of this machine.
    pub machine: &'a str,
    /// Now.
    pub now: Timestamp,
}

/// The questions that are open: of one run, or of the latest run of every epic.
pub fn open(store: &dyn Store, named: Option<&RunId>) -> Result<Vec<Question>, EngineError> {
    let epic = match named {
        Some(id) => Some(store.run_record(id)?.epic),
        None => None,
    };
    let mut epics = BTreeSet::new();
    let mut runs = store.runs(&RunFilter { epic, limit: None })?;
    // A later run of the same epic has left the questions of an earlier one behind.
    runs.retain(|run| epics.insert(run.epic.clone()) && run.state == RunState::Blocked);
    runs.retain(|run| named.is_none_or(|id| run.id == *id));
    let mut open = Vec::new();
    for run in runs {
        let Some(folded) = fold(&run.id, &store.journal(&run.id, 1)?)? else { continue };
        for (story, question) in folded.state.questions() {
            open.push(Question { run: run.clone(), story, question });
        }
    }
    Ok(open)
}

/// The one question that is meant: that of a story, or the only one.
pub fn meant(mut open: Vec<Question>, story: Option<&str>) -> Result<Question, EngineError> {
    open.retain(|open| story.is_none_or(|story| open.story == story));
    match (open.pop(), open.is_empty()) {
        (Some(asked), true) => Ok(asked),
        (Some(_), false) => Err(EngineError::SeveralAsked),
        (None, _) => Err(EngineError::NothingAsked { story: story.map(str::to_owned) }),
    }
}

impl Clerk<'_> {
    /// Writes an answer to the journal; the run goes on with it when it is resumed.
    pub fn answer(&self, asked: &Question, text: &str) -> Result<(), EngineError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EngineError::EmptyAnswer);
        }
        if text.len() > MOST_BYTES {
            return Err(EngineError::LongAnswer { bytes: text.len(), most: MOST_BYTES });
        }
        let epic = &asked.run.epic;
        let fence = lock(self.store, self.config, self.machine, epic, self.now)?;
        let answered = self.write(asked, text, fence);
        // If it cannot be given back, it runs out soon enough.
        let _ = self.store.unlock_epic(epic, fence);
        answered
    }

    /// Only who holds the lock knows that it is still asked.
    fn write(&self, asked: &Question, text: &str, fence: u64) -> Result<(), EngineError> {
        let Question { run, story, .. } = asked;
        meant(open(self.store, Some(&run.id))?, Some(story))?;
        let entries = self.store.journal(&run.id, 1)?;
        let mut journal = Journal {
            store: self.store,
            redactor: self.redactor,
            run: run.id.clone(),
            fence,
            seq: entries.last().map_or(0, |entry| entry.seq),
            lease: lease(self.config, 0),
            death: None,
        };
        let event = Event::Answered { story: story.clone(), answer: text.to_owned() };
        journal.event(&event, self.now).map(drop)
    }
}
