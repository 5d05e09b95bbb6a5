//! Branches and other refs that appeared while an agent was working.

use super::Runner;
use super::agent::AgentCall;
use crate::EngineError;

impl Runner<'_, '_> {
    /// Removes a new branch that is checked out in the agent's worktree: its work is the difference in the
    /// folder. Other refs could come from anyone, so they are only reported.
    pub(super) fn handle_unexpected_refs(&mut self, call: &AgentCall) -> Result<(), EngineError> {
        let own = call.worktree.detach()?;
        let new: Vec<String> = self.repo.refs()?.difference(&call.refs).cloned().collect();
        for name in new {
            if own.as_ref() == Some(&name) {
                self.repo.delete_ref(&name)?;
                self.warn(format!(
                    "{}: removed `{name}`, which its agent created",
                    call.attempt.story
                ))?;
            } else if self.reported_refs.insert(name.clone()) {
                let text = format!(
                    "`{name}` appeared while {} {} was working; it is left alone",
                    call.attempt.story, call.attempt.step.phase
                );
                self.warn(text)?;
            }
        }
        Ok(())
    }
}
