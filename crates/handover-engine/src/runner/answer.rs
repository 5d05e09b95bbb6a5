//! What a person says to a question of a run, written down while nobody works on it.

use handover_model::Run;

use super::Engine;
use crate::EngineError;
use crate::journal::{Journal, fold};
use crate::reducer::Event;

impl Engine<'_> {
    /// Writes an answer to the journal; the run goes on with it when it is resumed.
    pub fn answer(&self, run: &Run, story: &str, text: &str) -> Result<(), EngineError> {
        let fence = self.lock(&run.epic)?;
        let answered = self.write_answer(run, story, text, fence);
        // If it cannot be given back, its owner is known to be dead soon enough.
        let _ = self.store.unlock_epic(&run.epic, fence);
        answered
    }

    fn write_answer(
        &self,
        run: &Run,
        story: &str,
        text: &str,
        fence: u64,
    ) -> Result<(), EngineError> {
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        let is_asked = |state: &crate::reducer::State| {
            state.questions().iter().any(|(asked, _)| asked == story)
        };
        let Some(folded) = folded.filter(|folded| is_asked(&folded.state)) else {
            return Err(EngineError::NothingAsked { story: story.to_owned() });
        };
        let mut journal = Journal {
            store: self.store,
            redactor: self.redactor,
            run: run.id.clone(),
            fence,
            seq: folded.seq,
            longest: 0,
            death: self.death,
        };
        let event = Event::Answered { story: story.to_owned(), answer: text.to_owned() };
        journal.event(&event, (self.now)()).map(drop)
    }
}
