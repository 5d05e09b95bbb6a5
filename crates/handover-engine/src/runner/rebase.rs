//! Rebases the work on a story onto the head that other stories have moved forward.

use super::Runner;
use crate::EngineError;
use crate::journal::Intent;
use crate::reducer::Event;

impl Runner<'_, '_> {
    /// Only merges trees: the worktree is updated when it is needed next.
    pub(super) fn rebase(
        &mut self,
        intent: &Intent,
        id: &str,
        onto: &str,
    ) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let (Some(base), Some(tree)) = (&story.base, &story.tree) else {
            return Err(self.inconsistent("a rebase without work"));
        };
        let work = self.keep_tree(id, base, tree, intent.at)?;
        let merged = self.repo.merge_trees(onto, &work)?;
        self.keep_tree(id, onto, &merged.tree, intent.at)?;
        self.tree_in_worktree.remove(id);
        Ok(Event::Rebased {
            story: id.to_owned(),
            base: onto.to_owned(),
            tree: merged.tree,
            conflicts: merged.conflicts,
        })
    }
}
