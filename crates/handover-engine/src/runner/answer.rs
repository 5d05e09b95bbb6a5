//! Questions for a person: a run that waits for an answer, and a run that never gets one.

use handover_model::{Run, RunState};

use super::{Engine, Runner};
use crate::EngineError;
use crate::git::Repo;
use crate::journal::fold;
use crate::reducer::Event;

impl Engine<'_> {
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
