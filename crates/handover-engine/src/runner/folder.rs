//! What an agent changed in its worktree, after changes that it was not allowed to make are reverted.

use std::collections::BTreeSet;
use std::path::Path;

use handover_model::RunPhase;

use super::Runner;
use crate::EngineError;
use crate::git::{Change, ChangedSubmodule, GitError, Worktree};
use crate::pipeline::{AgentStep, Voice};
use crate::reducer::{StoryRun, UnitKind};
use crate::story::{self, Integrity};
use crate::test_setup::{ChangedFile, concerns, describe};

/// How many changed files are recorded by name.
const FILES: usize = 1_000;

/// How many changes of the test setup are recorded.
const TEST_SETUP: usize = 50;

/// A worktree after its agent ended.
pub(super) struct FolderState {
    /// The tree that the worktree holds.
    pub(super) tree: String,
    /// The files that differ from the base; empty for read-only agents.
    pub(super) files: Vec<String>,
    /// The files that were restored.
    pub(super) restored: Vec<String>,
    /// What the work so far changes about how the story is tested; empty for read-only agents.
    pub(super) test_setup: Vec<String>,
    /// Why its work cannot be used.
    pub(super) problem: Option<String>,
}

impl Runner<'_, '_> {
    /// Reverts everything a read-only agent changed, and changes to stories for all others.
    pub(super) fn collect_changes(
        &mut self,
        story: &StoryRun,
        step: &AgentStep,
        worktree: &Worktree,
    ) -> Result<FolderState, EngineError> {
        let Some(before) = story.tree.clone() else {
            return Err(self.inconsistent("a story without a tree"));
        };
        let (tree, restored, problem) = match self.settled(story, step, worktree, &before) {
            Ok((tree, restored)) => (tree, restored, None),
            Err(EngineError::Git(GitError::Failed { message, .. })) => {
                // Such as a repository without a commit inside the repository.
                worktree.restore(&before)?;
                let problem = format!("git cannot read the worktree that it left: {message}");
                (before.clone(), Vec::new(), Some(problem))
            }
            Err(error) => return Err(error),
        };
        if !restored.is_empty() && step.keeps_changes() {
            let (id, paths) = (&story.planned.id, restored.join(", "));
            self.warn(format!("{id} {}: its changes to {paths} were reverted", step.phase))?;
        }
        let problem = match problem {
            None => self.changed_submodule(worktree)?,
            problem => problem,
        };
        let (mut files, mut test_setup) = (Vec::new(), Vec::new());
        if step.keeps_changes() {
            let changes = self.changes_since_base(story, &tree)?;
            files = self.changed_files(story, &changes);
            test_setup = self.test_setup(story, &tree, &changes)?;
        }
        let is_new = test_setup.iter().any(|line| !story.test_setup().contains(line));
        if is_new {
            let id = &story.planned.id;
            self.warn(format!("{id} changes how it is tested: {}", test_setup.join("; ")))?;
        }
        if worktree.is_linked() {
            self.tree_in_worktree.insert(story.planned.id.clone(), tree.clone());
        }
        if let Some(base) = story.base.as_ref().filter(|_| tree != before) {
            self.keep_tree(&story.planned.id, base, &tree, self.now())?;
        }
        Ok(FolderState { tree, files, restored, test_setup, problem })
    }

    /// Why work is not usable that is in a submodule: a run cannot commit it. The submodule is restored.
    fn changed_submodule(&self, worktree: &Worktree) -> Result<Option<String>, EngineError> {
        let changed = worktree.restore_submodules()?;
        Ok(changed.first().map(|ChangedSubmodule { path, files }| {
            let shown = files.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            format!(
                "it changed files in the submodule `{path}`, which a run cannot commit: {shown}"
            )
        }))
    }

    /// A worktree for one voice of a party, to be discarded.
    pub(super) fn voice_worktree(
        &self,
        story: &StoryRun,
        voice: &Voice,
    ) -> Result<Worktree, EngineError> {
        let (Some(base), Some(tree)) = (&story.base, &story.tree) else {
            return Err(self.inconsistent("a story without a worktree"));
        };
        let worktree = self.worktree_at(&format!("{}@{}", story.planned.id, voice.persona), base);
        worktree.ensure()?;
        worktree.restore(tree)?;
        Ok(worktree)
    }

    /// Discards the worktree of a voice with everything that it wrote.
    pub(super) fn discard_folder(
        &self,
        story: &StoryRun,
        worktree: &Worktree,
    ) -> Result<FolderState, EngineError> {
        let Some(tree) = story.tree.clone() else {
            return Err(self.inconsistent("a story without a tree"));
        };
        worktree.remove()?;
        Ok(FolderState {
            tree,
            files: Vec::new(),
            restored: Vec::new(),
            test_setup: Vec::new(),
            problem: None,
        })
    }

    fn settled(
        &self,
        story: &StoryRun,
        step: &AgentStep,
        worktree: &Worktree,
        before: &str,
    ) -> Result<(String, Vec<String>), EngineError> {
        let after = worktree.snapshot()?;
        if after == before {
            return Ok((after, Vec::new()));
        }
        let changes = self.repo.changes(before, &after)?;
        if !step.keeps_changes() {
            worktree.restore(before)?;
            let paths = changes.into_iter().map(|change| change.path).take(FILES);
            return Ok((before.to_owned(), paths.collect()));
        }
        let restored = self.forbidden_changes(story, step, before, &changes)?;
        if restored.is_empty() {
            return Ok((after, restored));
        }
        Ok((worktree.restore_paths(before, &restored)?, restored))
    }

    /// The changes the agent was not allowed to make: an agent that closes an epic may only write the files
    /// it was asked for, and a fix must not touch stories or scenarios.
    fn forbidden_changes(
        &self,
        story: &StoryRun,
        step: &AgentStep,
        before: &str,
        changes: &[Change],
    ) -> Result<Vec<String>, EngineError> {
        let in_repo = |path: &String| self.repo.prefix.join(path).display().to_string();
        let own: Vec<String> = self.outputs(step.phase).iter().map(in_repo).collect();
        let scenarios: Vec<String> = self.outputs(RunPhase::Uat).iter().map(in_repo).collect();
        let is_forbidden = |change: &&Change| match step.phase {
            RunPhase::Uat | RunPhase::Retro => !own.contains(&change.path) || !change.is_file(),
            RunPhase::Fix => story.kind == UnitKind::Closing && scenarios.contains(&change.path),
            RunPhase::Kickoff | RunPhase::Dev | RunPhase::Review | RunPhase::Analysis => false,
        };
        let mut forbidden = self.touched_stories(story, before, changes)?;
        for change in changes.iter().filter(is_forbidden) {
            if !forbidden.contains(&change.path) {
                forbidden.push(change.path.clone());
            }
        }
        Ok(forbidden)
    }

    /// The stories and the epic that were changed beyond check boxes and status.
    fn touched_stories(
        &self,
        story: &StoryRun,
        before: &str,
        changes: &[Change],
    ) -> Result<Vec<String>, EngineError> {
        let plan = &self.state.plan;
        let in_repo = |path: &str| self.repo.prefix.join(path).display().to_string();
        let own = in_repo(&story.planned.path);
        let stories = plan.stories.iter().map(|story| in_repo(&story.path));
        let all: BTreeSet<String> = stories.chain(plan.epic_file.as_deref().map(in_repo)).collect();
        let mut touched = Vec::new();
        for change in changes.iter().filter(|change| all.contains(&change.path)) {
            if change.path != own || !self.is_intact(before, change)? {
                touched.push(change.path.clone());
            }
        }
        Ok(touched)
    }

    fn is_intact(&self, before: &str, change: &Change) -> Result<bool, EngineError> {
        let previous = self.repo.file_of(before, Path::new(&change.path))?;
        let (Some(previous), Some(blob)) = (previous, &change.blob) else { return Ok(false) };
        let now = self.repo.blob(blob)?;
        Ok(match (std::str::from_utf8(&previous), std::str::from_utf8(&now)) {
            (Ok(previous), Ok(now)) => {
                change.is_file() && story::verify(previous, now) == Integrity::Kept
            }
            _ => false,
        })
    }

    /// What the work on a story changes about how it is tested.
    fn test_setup(
        &self,
        story: &StoryRun,
        tree: &str,
        changes: &[Change],
    ) -> Result<Vec<String>, EngineError> {
        let (Some(base), UnitKind::Story) = (&story.base, story.kind) else {
            return Ok(Vec::new());
        };
        let gates = &self.engine.config.gates.commands;
        let mut lines = Vec::new();
        for change in changes {
            let whole = Path::new(&change.path);
            let path = whole.strip_prefix(&self.repo.prefix).unwrap_or(whole).display().to_string();
            if concerns(&path, gates) {
                let before = self.repo.file_of(base, whole)?;
                let after = self.repo.file_of(tree, whole)?;
                let (before, after) = (before.as_deref(), after.as_deref());
                lines.extend(describe(ChangedFile { path: &path, before, after }, gates));
            }
        }
        lines.truncate(TEST_SETUP);
        Ok(lines)
    }

    /// The files that differ from the base, apart from the story itself and the sprint status.
    pub(super) fn changed_files(&self, story: &StoryRun, changes: &[Change]) -> Vec<String> {
        let own = self.repo.prefix.join(&story.planned.path).display().to_string();
        let files = changes.iter().map(|change| &change.path);
        let about = |path: &String| *path == own || path.ends_with("sprint-status.yaml");
        files.filter(|path| !about(path)).take(FILES).cloned().collect()
    }

    pub(super) fn changes_since_base(
        &self,
        story: &StoryRun,
        tree: &str,
    ) -> Result<Vec<Change>, EngineError> {
        match &story.base {
            Some(base) => Ok(self.repo.changes(base, tree)?),
            None => Ok(Vec::new()),
        }
    }
}
