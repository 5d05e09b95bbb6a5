//! The worktrees of a run: one per story, each holding exactly the tree that the journal last named.

use std::path::PathBuf;

use handover_model::Timestamp;

use super::Runner;
use crate::EngineError;
use crate::git::{NewCommit, Worktree, ref_part};
use crate::reducer::StoryRun;
use crate::story::StoryError;

impl Runner<'_, '_> {
    /// A story's worktree, recreated if it is gone, with the tree that was last recorded.
    pub(super) fn worktree(&mut self, story: &StoryRun) -> Result<Worktree, EngineError> {
        let (Some(base), Some(tree)) = (&story.base, &story.tree) else {
            return Err(self.inconsistent("a story without a worktree"));
        };
        let worktree = self.worktree_at(&story.planned.id, base);
        if self.tree_in_worktree.get(&story.planned.id) != Some(tree) {
            worktree.ensure()?;
            worktree.restore(tree)?;
            self.tree_in_worktree.insert(story.planned.id.clone(), tree.clone());
        }
        Ok(worktree)
    }

    pub(super) fn worktree_at(&self, story: &str, base: &str) -> Worktree {
        let name = ref_part(story);
        let path = self.folder.inside("worktrees").path().join(&name);
        let index = self.folder.path().join(format!("{name}.index"));
        Worktree::at(self.repo, path, index, base)
    }

    /// The path of a file in a worktree, for writing. A link must not lead out of the worktree.
    pub(super) fn writable(&self, worktree: &Worktree, path: &str) -> Result<PathBuf, EngineError> {
        worktree.inside(path).ok_or_else(|| {
            let reason = "a link leads out of the worktree".to_owned();
            StoryError::BadFile { path: path.to_owned(), reason }.into()
        })
    }

    /// Commits a tree under a ref of the run, so that git does not collect it as garbage.
    pub(super) fn keep_tree(
        &self,
        story: &str,
        base: &str,
        tree: &str,
        at: Timestamp,
    ) -> Result<String, EngineError> {
        let new = NewCommit {
            tree,
            parents: vec![base.to_owned()],
            subject: format!("work on {story}"),
            trailers: Vec::new(),
            at,
        };
        let commit = self.repo.commit(&new)?;
        self.repo.set_ref(&self.work_ref(story), &commit)?;
        Ok(commit)
    }

    /// The ref that keeps the work on a story.
    pub(super) fn work_ref(&self, story: &str) -> String {
        format!("refs/handover/{}/{}", self.journal.run, ref_part(story))
    }

    /// Removes all worktrees of the run, unless they hold its only copy of the work.
    pub(super) fn clear_worktrees(&mut self) -> Result<(), EngineError> {
        if self.state.options.no_commit {
            return Ok(());
        }
        self.spare_worktree = None;
        let _ = self.folder.remove_folder("worktrees");
        Ok(self.repo.prune()?)
    }
}
