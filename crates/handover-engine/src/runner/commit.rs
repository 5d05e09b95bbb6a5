//! Keeping work that holds: records into the story, one commit, the branch one step on.

use handover_model::{GroupStatus, RunPhase, StoryState, Timestamp};
use handover_store::GroupUpdate;

use super::{Runner, group_of};
use crate::EngineError;
use crate::git::{NewCommit, Worktree};
use crate::journal::Intent;
use crate::reducer::{Event, PhaseEnd, StoryRun, UnitKind};
use crate::story::{self, Record};
use crate::verdict::Finding;

impl Runner<'_, '_> {
    /// Doing it again after a crash gives the very same commit: its time is that of the intent.
    pub(super) fn commit(&mut self, intent: &Intent, id: &str) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let (Some(base), Some(work)) = (story.base.clone(), story.tree.clone()) else {
            return Err(self.out_of_step("a commit without work"));
        };
        if story.kind == UnitKind::Closing && !self.state.plan.pipeline.keeps_closing() {
            // It was only to be looked at.
            self.worktree_at(id, &base).remove()?;
            self.in_place.remove(id);
            return Ok(Event::Committed { story: id.to_owned(), commit: base });
        }
        let problems = self.inspect(&base, &work)?;
        if !problems.is_empty() {
            let problems = problems.into_iter().map(|problem| problem.text).collect();
            return Ok(Event::Refused { story: id.to_owned(), problems });
        }
        let worktree = self.worktree(&story)?;
        self.in_place.remove(id);
        self.write_records(&worktree, &story, intent.at, "done")?;
        match story.kind {
            UnitKind::Story => self.write_sprint_status(&worktree, id)?,
            UnitKind::Closing => self.write_retro(&worktree, &story, intent.at)?,
        }
        let tree = worktree.snapshot()?;
        if story.kind == UnitKind::Closing && tree == self.repo.tree_of(&base)? {
            return Ok(Event::Committed { story: id.to_owned(), commit: base });
        }
        let plan = &self.state.plan;
        let subject = match story.kind {
            UnitKind::Story => format!("feat(epic-{}): complete {id}", plan.epic),
            UnitKind::Closing if story.fixes() > 0 && !story.was_mended_in_vain() => {
                format!("fix(epic-{}): mend what its acceptance found", plan.epic)
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
            self.repo.set_ref(&self.kept(id), &commit)?;
        } else {
            self.advance_branch(&base, &commit)?;
        }
        self.remember_baseline(id, &work, &tree, &worktree)?;
        if !self.state.options.no_commit {
            self.spare = Some(worktree);
        }
        self.set_group(id, GroupStatus::Completed)?;
        Ok(Event::Committed { story: id.to_owned(), commit })
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

    /// The records of everybody who worked on the story, and its status.
    pub(super) fn write_records(
        &self,
        worktree: &Worktree,
        story: &StoryRun,
        at: Timestamp,
        status: &str,
    ) -> Result<(), EngineError> {
        if story.kind == UnitKind::Closing {
            return Ok(());
        }
        let path = self.writable(worktree, &story.planned.path)?;
        let bytes = fs_err::read(&path).unwrap_or_default();
        let Ok(mut text) = String::from_utf8(bytes) else { return Ok(()) };
        for end in &story.record {
            let record = match end.phase {
                RunPhase::Review => review_record(end, at),
                RunPhase::Dev
                | RunPhase::Fix
                | RunPhase::Kickoff
                | RunPhase::Analysis
                | RunPhase::Uat
                | RunPhase::Retro => dev_record(end, at),
            };
            text = story::append(&text, &record);
        }
        fs_err::write(&path, story::set_status(&text, status))?;
        Ok(())
    }

    fn write_sprint_status(&self, worktree: &Worktree, id: &str) -> Result<(), EngineError> {
        let folder = worktree.project();
        let Some(place) = story::find_sprint_status(&folder) else { return Ok(()) };
        let Some(path) = worktree.inside(place) else { return Ok(()) };
        let Ok(mut text) = fs_err::read_to_string(&path) else { return Ok(()) };
        let all_done = self.state.stories.iter().all(|story| {
            story.planned.id == id || matches!(story.state, StoryState::Done | StoryState::Skipped)
        });
        let epic = format!("epic-{}", self.state.plan.epic);
        let epic_status = if all_done { "done" } else { "in-progress" };
        for (key, status) in [(id, "done"), (epic.as_str(), epic_status)] {
            if let Some(changed) = story::set_sprint_status(&text, key, status) {
                text = changed;
            }
        }
        Ok(fs_err::write(&path, text)?)
    }
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn dev_record(end: &PhaseEnd, at: Timestamp) -> Record {
    Record {
        heading: "Dev Agent Record",
        fields: vec![
            ("Date", date(at)),
            ("Phase", format!("{} {}", end.phase, end.attempt)),
            ("Receipt", end.receipt.clone().unwrap_or_default()),
        ],
        texts: vec![("Implementation Summary", end.summary.clone())],
        lists: vec![("Files", end.files.clone()), ("Restored", end.restored.clone())],
    }
}

fn review_record(end: &PhaseEnd, at: Timestamp) -> Record {
    let line = |finding: &Finding| {
        let parts = [&finding.severity, &finding.place, &finding.text];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    };
    Record {
        heading: "Code Review Record",
        fields: vec![
            ("Date", date(at)),
            ("Review", end.attempt.to_string()),
            ("Verdict", end.verdict.map(|verdict| verdict.to_string()).unwrap_or_default()),
            ("Receipt", end.receipt.clone().unwrap_or_default()),
        ],
        texts: vec![("Summary", end.summary.clone())],
        lists: vec![("Findings", end.findings.iter().map(line).collect())],
    }
}
