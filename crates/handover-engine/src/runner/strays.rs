//! Branches and other refs that appeared while an agent was at work.

use super::Runner;
use super::agent::Call;
use crate::EngineError;

impl Runner<'_, '_> {
    /// A new branch that is checked out in the agent's own folder is its own, and is removed: its work
    /// is what differs in the folder. Who made any other one cannot be told, so it is only reported.
    pub(super) fn clear_strays(&mut self, call: &Call) -> Result<(), EngineError> {
        let own = call.worktree.detach()?;
        let new: Vec<String> = self.repo.refs()?.difference(&call.refs).cloned().collect();
        for name in new {
            if own.as_ref() == Some(&name) {
                self.repo.delete_ref(&name)?;
                self.warn(format!("{}: removed `{name}`, which its agent had made", call.seat.id))?;
            } else if self.strays.insert(name.clone()) {
                let text = format!(
                    "`{name}` appeared while {} {} was at work; it is left as it is",
                    call.seat.id, call.seat.step.phase
                );
                self.warn(text)?;
            }
        }
        Ok(())
    }
}
