//! Commits finished work: records into the story, one commit, the run's branch forward.

use std::path::PathBuf;

use handover_context::learning::{Binding, extract_strategies};
use handover_model::{GroupStatus, Reasoning, ReceiptId, RunPhase, StoryState, Verdict};
use handover_store::GroupUpdate;

use super::Runner;
use crate::EngineError;
use crate::bounded;
use crate::git::{NewCommit, Worktree};
use crate::journal::Intent;
use crate::plan::group_of;
use crate::reducer::{Event, PhaseEnd, StoryRun, UnitKind, is_work};
use crate::story;

impl Runner<'_, '_> {
    /// Idempotent: the commit takes its time from the intent, so repeating it creates the same commit.
    pub(super) fn commit(&mut self, intent: &Intent, id: &str) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let (Some(base), Some(work)) = (story.base.clone(), story.tree.clone()) else {
            return Err(self.inconsistent("a commit without work"));
        };
        if story.kind == UnitKind::Closing && !self.state.plan.pipeline.keeps_closing() {
            // Its scenarios were only run; there is nothing to commit.
            self.worktree_at(id, &base).remove()?;
            self.tree_in_worktree.remove(id);
            return Ok(Event::Committed { story: id.to_owned(), commit: base });
        }
        let problems = self.inspect(&base, &work)?;
        if !problems.is_empty() {
            let problems = problems.into_iter().map(|problem| problem.text).collect();
            return Ok(Event::Refused { story: id.to_owned(), problems });
        }
        let worktree = self.worktree(&story)?;
        self.tree_in_worktree.remove(id);
        self.write_records(&worktree, &story, intent.at, "done")?;
        match story.kind {
            UnitKind::Story => self.write_sprint_status(&worktree, id)?,
            UnitKind::Closing => {
                self.write_retro(&worktree, &story, intent.at)?;
                self.write_retro_status(&worktree, &story)?;
                set_sprint_status(&worktree, &self.unfinished())?;
            }
        }
        let tree = worktree.snapshot()?;
        if story.kind == UnitKind::Closing && tree == self.repo.tree_of(&base)? {
            return Ok(Event::Committed { story: id.to_owned(), commit: base });
        }
        let plan = &self.state.plan;
        let subject = match story.kind {
            UnitKind::Story => format!("feat(epic-{}): complete {id}", plan.epic),
            UnitKind::Closing if story.fixes() > 0 && !story.fixes_failed() => {
                format!("fix(epic-{}): fix acceptance failures", plan.epic)
            }
            UnitKind::Closing => format!("docs(epic-{0}): close epic {0}", plan.epic),
        };
        let receipt = story.record.last().and_then(|end| end.receipt.clone()).unwrap_or_default();
        let commit = self.repo.commit(&NewCommit {
            tree: &tree,
            parents: vec![base.clone()],
            subject,
            trailers: vec![
                ("Epic", plan.epic.to_string()),
                ("Story", id.to_owned()),
                ("Run", self.journal.run.to_string()),
                ("Receipt", receipt),
            ],
            at: intent.at,
        })?;
        if self.state.options.no_commit {
            self.repo.set_ref(&self.work_ref(id), &commit)?;
        } else {
            self.advance_branch(&base, &commit)?;
        }
        self.drop_failed_branch(&story)?;
        self.learn_failures(intent, &story)?;
        self.remember_baseline(id, &work, &tree, &worktree)?;
        if !self.state.options.no_commit {
            self.spare_worktree = Some(worktree);
        }
        self.set_group(id, GroupStatus::Completed)?;
        self.learn_strategies(&story)?;
        Ok(Event::Committed { story: id.to_owned(), commit })
    }

    /// Extracts strategies from the reasoning of the agent whose work was committed. Earlier attempts were
    /// rejected, and reviewers' reasoning is mostly about what did not work.
    fn learn_strategies(&self, story: &StoryRun) -> Result<(), EngineError> {
        let engine = self.engine;
        let is_accepted =
            |end: &&PhaseEnd| is_work(end.phase) && end.verdict == Some(Verdict::Complete);
        let accepted = story.record.iter().rev().find(is_accepted);
        let receipt = accepted.and_then(|end| ReceiptId::new(end.receipt.as_deref()?).ok());
        let Some(receipt) = receipt else { return Ok(()) };
        let receipt = engine.store.receipt(&receipt)?;
        let session = &self.state.plan.records_in;
        let binding = Binding::of(&engine.handoffs.technology.technology().stack, None);
        let (group, now) = (group_of(&story.planned.id)?, self.now());
        let is_of_accepted = |reasoning: &Reasoning| {
            reasoning.role == receipt.role && reasoning.iteration == receipt.iteration
        };
        extract_strategies(
            engine.store,
            engine.redactor,
            session,
            &group,
            &binding,
            &is_of_accepted,
            now,
        )?;
        Ok(())
    }

    fn advance_branch(&self, base: &str, commit: &str) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        let name = format!("refs/heads/{}", plan.branch);
        let is_new = base == plan.base && !plan.continues;
        Ok(self.repo.move_ref(&name, commit, Some(base).filter(|_| !is_new))?)
    }

    pub(super) fn set_group(&self, id: &str, status: GroupStatus) -> Result<(), EngineError> {
        let session = self.state.plan.records_in.clone();
        let mut group = GroupUpdate::new(session, group_of(id)?, self.now());
        group.status = Some(status);
        self.engine.store.set_group(&group)?;
        Ok(())
    }

    fn write_sprint_status(&self, worktree: &Worktree, id: &str) -> Result<(), EngineError> {
        set_sprint_status(worktree, &self.unfinished())?;
        set_sprint_status(worktree, &[(id, "done")])?;
        let all_done = self.state.stories.iter().all(|story| {
            story.planned.id == id || matches!(story.state, StoryState::Done | StoryState::Skipped)
        });
        let epic = &self.state.plan.epic;
        // The file also knows stories that are not written yet, or drafts.
        let text = sprint_status_file(worktree).and_then(|path| bounded::text(&path));
        let is_open = text.is_some_and(|text| story::sprint_lists_open(&text, epic.as_str()));
        let status = if all_done && !is_open { "done" } else { "in-progress" };
        set_sprint_status(worktree, &[(&format!("epic-{epic}"), status)])
    }

    /// The stories that agents have given up so far, with the status of each.
    fn unfinished(&self) -> Vec<(&str, &'static str)> {
        let status = |story: &StoryRun| match story.state {
            // Stories that only wait for others keep their status.
            StoryState::Blocked if story.failed_branch.is_some() => Some("blocked"),
            StoryState::Skipped if story.was_skipped_by_an_agent() => Some("skipped"),
            StoryState::Pending
            | StoryState::Running
            | StoryState::Done
            | StoryState::Failed
            | StoryState::Blocked
            | StoryState::Skipped => None,
        };
        let stories = self.state.stories.iter();
        stories.filter_map(|story| Some((story.planned.id.as_str(), status(story)?))).collect()
    }

    /// Whether there was a retrospective, if the sprint status asks.
    fn write_retro_status(&self, worktree: &Worktree, story: &StoryRun) -> Result<(), EngineError> {
        if !story.record.iter().any(|end| end.phase == RunPhase::Retro) {
            return Ok(());
        }
        let key = format!("epic-{}-retrospective", self.state.plan.epic);
        set_sprint_status(worktree, &[(key.as_str(), "done")])
    }
}

fn sprint_status_file(worktree: &Worktree) -> Option<PathBuf> {
    let place = story::find_sprint_status(&worktree.project())?;
    worktree.inside(place)
}

/// Changes lines of the sprint status, if there is one.
fn set_sprint_status(worktree: &Worktree, lines: &[(&str, &str)]) -> Result<(), EngineError> {
    let Some(path) = sprint_status_file(worktree) else { return Ok(()) };
    let Some(mut text) = bounded::text(&path) else { return Ok(()) };
    for (key, status) in lines {
        if let Some(changed) = story::set_sprint_status(&text, key, status) {
            text = changed;
        }
    }
    Ok(fs_err::write(&path, text)?)
}
