//! Questions for a person: a run that waits for an answer, the answer, and a run that never gets one.

use handover_model::{Run, RunState};

use super::{Engine, Runner};
use crate::EngineError;
use crate::git::Repo;
use crate::journal::{Journal, fold};
use crate::reducer::{Event, State};

impl Engine<'_> {
    /// Writes an answer to the journal; the run goes on with it when it is resumed.
    pub fn answer(&self, run: &Run, story: &str, text: &str) -> Result<(), EngineError> {
        let fence = self.lock(&run.epic)?;
        let answered = self.write_answer(run, story, text, fence);
        // If it cannot be given back, its owner is known to be dead soon enough.
        let _ = self.store.unlock_epic(&run.epic, fence);
        answered
    }

    /// A run that waits for an answer and is not resumed is given up: nothing of it stays in git but its
    /// branches.
    pub(super) fn leave_behind(&self, run: &Run, repo: &Repo) -> Result<(), EngineError> {
        if run.state != RunState::Blocked {
            return Ok(());
        }
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        if folded.is_some_and(|folded| !folded.state.is_over()) {
            let folder = self.project.join(".handover/runs").join(run.id.as_str());
            let _ = fs_err::remove_dir_all(folder.join("worktrees"));
            repo.prune()?;
            repo.delete_refs(&format!("refs/handover/{}/", run.id))?;
        }
        Ok(())
    }

    fn write_answer(
        &self,
        run: &Run,
        story: &str,
        text: &str,
        fence: u64,
    ) -> Result<(), EngineError> {
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        let is_asked = |state: &State| state.questions().iter().any(|(asked, _)| asked == story);
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

impl Runner<'_, '_> {
    /// Nobody works any more until a person has answered; the trees of the stories are kept.
    pub(super) fn ask(&mut self) -> Result<Event, EngineError> {
        self.clear_worktrees()?;
        let open = self.state.questions();
        let stories: Vec<String> = open.into_iter().map(|(story, _)| story).collect();
        let reason = format!("a person must answer for {}", stories.join(", "));
        Ok(Event::Stopped { state: RunState::Blocked, reason })
    }
}
