//! Opens a story: creates its worktree, with the story as its author last saved it.

use std::path::PathBuf;

use handover_model::GroupStatus;
use handover_store::GroupUpdate;

use super::Runner;
use crate::EngineError;
use crate::bounded;
use crate::plan::group_of;
use crate::reducer::{Event, PlannedStory};

impl Runner<'_, '_> {
    pub(super) fn open(&mut self, id: &str) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let base = self.state.head.clone();
        let worktree = self.worktree_at(id, &base);
        if let Some(spare) = self.spare_worktree.take() {
            worktree.inherit(&spare)?;
        }
        let mut tree = self.repo.tree_of(&base)?;
        if !worktree.ensure()? {
            worktree.restore(&tree)?;
        }
        let now = self.now();
        if !story.planned.path.is_empty()
            && let Some(text) = self.authors_version(&story.planned, &base)?
        {
            let path = self.writable(&worktree, &story.planned.path)?;
            if let Some(above) = path.parent() {
                fs_err::create_dir_all(above)?;
            }
            fs_err::write(path, text)?;
            tree = worktree.snapshot()?;
            self.keep_tree(id, &base, &tree, now)?;
        }
        self.tree_in_worktree.insert(id.to_owned(), tree.clone());
        let plan = &self.state.plan;
        let mut group = GroupUpdate::new(plan.records_in.clone(), group_of(id)?, now);
        group.title = Some(self.engine.redactor.clean(&story.planned.title).cut(200));
        group.status = Some(GroupStatus::InProgress);
        self.engine.store.set_group(&group)?;
        Ok(Event::Opened { story: id.to_owned(), base, tree })
    }

    /// The story in the user's checkout, which may not be committed yet, unless the run's branch has
    /// changed it. None if the base has the right version.
    fn authors_version(
        &mut self,
        story: &PlannedStory,
        base: &str,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let in_repo: PathBuf = self.repo.prefix.join(&story.path);
        // It existed when the run was planned; the branch may have it.
        let path = self.engine.project.join(&story.path);
        let Some(on_disk) = bounded::content(&path)? else { return Ok(None) };
        let in_base = self.repo.file_of(base, &in_repo)?;
        if in_base.as_deref() == Some(&on_disk) {
            return Ok(None);
        }
        let committed = self.repo.file_of("HEAD", &in_repo)?;
        if in_base.is_some() && in_base != committed {
            if committed.as_deref() != Some(&on_disk) {
                let text = format!(
                    "`{}` was changed here and on the branch of the run; the branch wins",
                    story.path
                );
                self.warn(text)?;
            }
            return Ok(None);
        }
        Ok(Some(on_disk))
    }
}
