//! The end of a run: the user's branch is fast-forwarded if asked for, and everything but the run's
//! branches is removed from git.

use handover_model::{RunState, SessionStatus};

use super::Runner;
use crate::EngineError;
use crate::git::GitError;
use crate::plan::own_session;
use crate::reducer::Event;

impl Runner<'_, '_> {
    pub(super) fn merge(&mut self) -> Result<Event, EngineError> {
        let plan = &self.state.plan;
        let refused =
            if self.repo.current_branch()? != plan.user_branch || plan.user_branch.is_none() {
                Some("another branch is checked out now".to_owned())
            } else {
                match self.repo.fast_forward(&self.state.head) {
                    Ok(()) => None,
                    Err(GitError::Failed { message, .. }) => Some(message),
                    Err(error) => return Err(error.into()),
                }
            };
        Ok(Event::Merged { refused })
    }

    pub(super) fn finish(&mut self) -> Result<Event, EngineError> {
        self.clear_worktrees()?;
        if !self.state.options.no_commit {
            self.repo.delete_refs(&format!("refs/handover/{}/", self.journal.run))?;
            self.clean_remote();
        }
        let state = self.state.verdict();
        let own = own_session(&self.state.plan.epic)?;
        if self.state.plan.records_in != own {
            // A session named by the user is left open.
            return Ok(Event::Ended { state });
        }
        let status = match state {
            RunState::Done => SessionStatus::Completed,
            // It waits for a person, and so does its session.
            RunState::Blocked => SessionStatus::Active,
            RunState::Running
            | RunState::Interrupted
            | RunState::Budget
            | RunState::Environment
            | RunState::Failed => SessionStatus::Failed,
        };
        self.engine.store.set_session_status(&self.state.plan.records_in, status, self.now())?;
        Ok(Event::Ended { state })
    }
}
