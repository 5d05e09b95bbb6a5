//! Work that was done beside that of others, moved to where they have moved the branch.

use super::Runner;
use crate::EngineError;
use crate::journal::Intent;
use crate::reducer::Event;

impl Runner<'_, '_> {
    /// Only trees are made: the worktree follows when it is needed next.
    pub(super) fn rebase(
        &mut self,
        intent: &Intent,
        id: &str,
        onto: &str,
    ) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let (Some(base), Some(tree)) = (&story.base, &story.tree) else {
            return Err(self.out_of_step("work to be moved that is not there"));
        };
        let work = self.keep(id, base, tree, intent.at)?;
        let merged = self.repo.merge_trees(onto, &work)?;
        self.keep(id, onto, &merged.tree, intent.at)?;
        self.in_place.remove(id);
        Ok(Event::Rebased {
            story: id.to_owned(),
            base: onto.to_owned(),
            tree: merged.tree,
            conflicts: merged.conflicts,
        })
    }
}
