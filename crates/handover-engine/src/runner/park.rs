//! Parks the work of an unfinished story on a branch of its own.

use handover_model::{GroupStatus, StoryState};

use super::Runner;
use crate::EngineError;
use crate::git::{NewCommit, ref_part};
use crate::journal::Intent;
use crate::reducer::Event;

impl Runner<'_, '_> {
    pub(super) fn park(&mut self, intent: &Intent, id: &str) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let (Some(base), Some(tree)) = (story.base.clone(), story.tree.clone()) else {
            return Ok(Event::Parked { story: id.to_owned(), branch: None });
        };
        let worktree = self.worktree(&story)?;
        self.tree_in_worktree.remove(id);
        // Kickoffs and analyses are kept even if nothing was built: they were paid for.
        let changes = self.changes_since_base(&story, &tree)?;
        let has_work = !self.changed_files(&story, &changes).is_empty() || !story.record.is_empty();
        let branch = if has_work {
            for problem in self.inspect(&base, &tree)? {
                // Secrets must not be committed, not even to this branch.
                let path = worktree.path.join(&problem.path);
                if !problem.path.is_empty() && fs_err::remove_file(&path).is_err() {
                    fs_err::remove_dir_all(&path)?;
                }
            }
            let status = if story.state == StoryState::Blocked { "blocked" } else { "in-progress" };
            self.write_records(&worktree, &story, intent.at, status)?;
            let tree = worktree.snapshot()?;
            let name = format!("handover/failed/{}", ref_part(id));
            let full = format!("refs/heads/{name}");
            let mut parents = vec![base];
            if let Some(earlier) = self.repo.resolve(&full)? {
                let ours = self.repo.read_commit(&earlier)?;
                // The commit of another run stays reachable; an earlier one of this run is replaced.
                if ours.trailer("Run") == Some(self.journal.run.as_str()) {
                    parents.extend(self.repo.resolve(&format!("{full}^2"))?);
                } else {
                    parents.push(earlier);
                }
            }
            let commit = self.repo.commit(&NewCommit {
                tree: &tree,
                parents,
                subject: format!("wip(epic-{}): {id} {}", self.state.plan.epic, story.state),
                trailers: vec![
                    ("Reason", story.reason.chars().take(300).collect()),
                    ("Epic", self.state.plan.epic.to_string()),
                    ("Story", id.to_owned()),
                    ("Run", self.journal.run.to_string()),
                ],
                at: intent.at,
            })?;
            self.repo.set_ref(&full, &commit)?;
            Some(name)
        } else {
            None
        };
        self.parked(id, branch, &worktree, story.state)
    }

    fn parked(
        &self,
        id: &str,
        branch: Option<String>,
        worktree: &crate::git::Worktree,
        state: StoryState,
    ) -> Result<Event, EngineError> {
        worktree.remove()?;
        let status = match state {
            StoryState::Failed => GroupStatus::Failed,
            StoryState::Pending
            | StoryState::Running
            | StoryState::Done
            | StoryState::Blocked
            | StoryState::Skipped => GroupStatus::Pending,
        };
        self.set_group(id, status)?;
        Ok(Event::Parked { story: id.to_owned(), branch })
    }
}
