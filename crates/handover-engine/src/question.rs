//! Questions of runs to people, and their answers, for the command line, the API and the dashboard
//! alike.

use std::collections::BTreeSet;

use handover_model::config::Config;
use handover_model::{Run, RunId, RunState, Timestamp};
use handover_store::{RunFilter, Store};
use handover_text::Redactor;

use crate::EngineError;
use crate::journal::{Journal, fold};
use crate::lock::{lease, lock};
use crate::reducer::Event;

/// The longest answer, in bytes. The next agent gets all of it.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// An open question of a run.
#[derive(Debug, Clone)]
pub struct Question {
    /// The run that waits for an answer.
    pub run: Run,
    /// The story that is blocked.
    pub story: String,
    /// The question.
    pub question: String,
}

/// What is needed to write an answer to a journal.
pub struct AnswerContext<'a> {
    /// The store with the journal.
    pub store: &'a dyn Store,
    /// Redacts the answer.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// The name of this machine, for the lock.
    pub machine: &'a str,
    /// Who answers, as the journal says it.
    pub author: &'a str,
    /// The current time.
    pub now: Timestamp,
}

/// Open questions of one run, or of the latest run of every epic.
pub fn open(store: &dyn Store, named: Option<&RunId>) -> Result<Vec<Question>, EngineError> {
    let epic = match named {
        Some(id) => Some(store.run_record(id)?.epic),
        None => None,
    };
    let mut epics = BTreeSet::new();
    let mut runs = store.runs(&RunFilter { epic, limit: None })?;
    // Questions of earlier runs of the same epic are superseded.
    runs.retain(|run| epics.insert(run.epic.clone()));
    runs.retain(|run| matches!(run.state, RunState::Blocked | RunState::Failed));
    runs.retain(|run| named.is_none_or(|id| run.id == *id));
    let mut open = Vec::new();
    for run in runs {
        let Some(folded) = fold(&run.id, &store.journal(&run.id, 1)?)? else { continue };
        for story in &folded.state.stories {
            let Some(question) = story.asks() else { continue };
            let (story, question) = (story.planned.id.clone(), question.to_owned());
            open.push(Question { run: run.clone(), story, question });
        }
    }
    Ok(open)
}

/// Selects the question of a story, or the only one if no story is named.
pub fn meant(mut open: Vec<Question>, story: Option<&str>) -> Result<Question, EngineError> {
    open.retain(|open| story.is_none_or(|story| open.story == story));
    match (open.pop(), open.is_empty()) {
        (Some(asked), true) => Ok(asked),
        (Some(_), false) => Err(EngineError::SeveralAsked),
        (None, _) => Err(EngineError::NothingAsked { story: story.map(str::to_owned) }),
    }
}

impl AnswerContext<'_> {
    /// Writes an answer to the journal; a resumed run continues with it.
    pub fn answer(&self, asked: &Question, text: &str) -> Result<(), EngineError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EngineError::EmptyAnswer);
        }
        if text.len() > MAX_ANSWER_BYTES {
            return Err(EngineError::LongAnswer { bytes: text.len(), most: MAX_ANSWER_BYTES });
        }
        let epic = &asked.run.epic;
        let fence = lock(self.store, self.config, self.machine, epic, self.now)?;
        let answered = self.write(asked, text, fence);
        // A lock that cannot be released expires soon.
        let _ = self.store.unlock_epic(epic, fence);
        answered
    }

    /// Checks under the lock that the question is still open.
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
        let by = Some(self.author.to_owned());
        let event = Event::Answered { story: story.clone(), answer: text.to_owned(), by };
        journal.event_in(&event, Some(RunState::Blocked), self.now).map(drop)
    }
}
