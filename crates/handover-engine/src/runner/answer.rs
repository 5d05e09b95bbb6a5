//! Questions for a person: a run that stops to wait for answers, and one that is abandoned without.

use handover_model::{Run, RunState};

use super::{Engine, Runner};
use crate::EngineError;
use crate::git::Repo;
use crate::journal::fold;
use crate::reducer::Event;

impl Engine<'_> {
    /// Abandons a run that waits for an answer: everything but its branches is removed from git.
    pub(super) fn abandon(&self, run: &Run, repo: &Repo) -> Result<(), EngineError> {
        if run.state != RunState::Blocked {
            return Ok(());
        }
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        if folded.is_some_and(|folded| !folded.state.is_over()) {
            let _ = self.run_folder(&run.id).remove_folder("worktrees");
            repo.prune()?;
            repo.delete_refs(&format!("refs/handover/{}/", run.id))?;
        }
        Ok(())
    }
}

impl Runner<'_, '_> {
    /// Ends everything that is not settled, so that its work is put aside and the run ends.
    pub(super) fn give_up_all(&mut self) -> Result<(), EngineError> {
        let open = self.state.units().filter(|unit| !unit.is_settled());
        let open: Vec<String> = open.map(|unit| unit.planned.id.clone()).collect();
        for story in open {
            let reason = "the run was abandoned".to_owned();
            if let Some(error) = self.record(&Event::GaveUp { story, reason, by: None })? {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Stops the run until a person answers. The trees of the stories are kept.
    pub(super) fn ask(&mut self) -> Result<Event, EngineError> {
        self.clear_worktrees()?;
        let open = self.state.questions();
        let stories: Vec<String> = open.into_iter().map(|(story, _)| story).collect();
        let reason = format!("a person must answer for {}", stories.join(", "));
        Ok(Event::Stopped { state: RunState::Blocked, reason })
    }
}
