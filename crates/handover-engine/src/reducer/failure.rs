//! What happens to a story that failed: an analysis if the pipeline has one, then a retry with new
//! advice, a skip, or a question for a person.

use handover_model::{StoryState, Verdict};

use super::story::{Position, RunRules, StoryRun, UnitKind};
use super::{Answer, Failure, PhaseEnd};
use crate::data::Earlier;
use crate::party::signature;
use crate::pipeline::{Pipeline, Step};

impl StoryRun {
    /// Fails the story, or starts an analysis if the pipeline has one. The same failure twice becomes a
    /// question for a person instead.
    pub(super) fn give_up(&mut self, state: StoryState, reason: &str, rules: RunRules<'_>) {
        let of = match self.at {
            Position::Step(at) => Some(at),
            Position::Fix | Position::Landing { .. } | Position::Member { .. } => None,
            Position::Analysis { .. } => return self.settle(state, reason),
        };
        if self.kind == UnitKind::Closing || rules.pipeline.on_failure.is_none() {
            return self.settle(state, reason);
        }
        reason.clone_into(&mut self.reason);
        let signature = signature(reason);
        let is_known = self.failures.iter().any(|failure| failure.signature == signature);
        self.failures.push(Failure { reason: reason.to_owned(), signature, advice: None });
        if is_known {
            let question =
                format!("It failed twice in the same way. What should be done?\n{reason}");
            return self.ask(&question, reason);
        }
        self.at = Position::Analysis { of, state };
    }

    /// Acts on the analysis of a failure. Without a clear verdict the story stays failed.
    pub(super) fn analyzed(&mut self, of: Option<usize>, end: &PhaseEnd, rules: RunRules<'_>) {
        let failed = match self.at {
            Position::Analysis { state, .. } => state,
            Position::Step(_)
            | Position::Fix
            | Position::Landing { .. }
            | Position::Member { .. } => StoryState::Failed,
        };
        self.record.push(end.clone());
        let reason = self.reason.clone();
        let analysis = end.contribution.analysis.clone().unwrap_or_default();
        match end.verdict {
            Some(Verdict::Retry) if analysis.adds && self.retried < rules.max_retries => {
                self.retried += 1;
                if let Some(failure) = self.failures.last_mut() {
                    failure.advice = Some(analysis.advice());
                }
                match (of, &rules.pipeline.flow) {
                    (Some(step), _) => self.at = Position::Step(step),
                    (None, Some(flow)) => self.send_back(flow),
                    (None, None) => {
                        // One more fix, which must succeed.
                        self.fixes = self.fixes.min(rules.max_fixes.saturating_sub(1));
                        self.at = Position::Fix;
                    }
                }
            }
            Some(Verdict::Retry) => {
                let why = match analysis.adds {
                    true => "No retries are left",
                    false => "A retry was advised, but with nothing new",
                };
                let question =
                    analysis.question.unwrap_or_else(|| "What should be done?".to_owned());
                self.ask(&format!("{question}\n{why}: {}", end.summary), &reason);
            }
            Some(Verdict::Skip) => self.settle(StoryState::Skipped, &end.summary),
            Some(Verdict::Escalate) => {
                let open = || format!("What should be done about this? {}", end.summary);
                self.ask(&analysis.question.unwrap_or_else(open), &reason);
            }
            Some(
                Verdict::Complete
                | Verdict::Blocked
                | Verdict::Passed
                | Verdict::PassedWithFixes
                | Verdict::Failed,
            )
            | None => self.settle(failed, &reason),
        }
    }

    /// Blocks the story until a person answers a question.
    pub(super) fn ask(&mut self, question: &str, reason: &str) {
        self.settle(StoryState::Blocked, reason);
        if self.kind == UnitKind::Story {
            self.question = Some(question.trim().to_owned());
        }
    }

    /// What a person can answer: the question of an agent, or why it could not do its work.
    pub fn asks(&self) -> Option<&str> {
        let is_stuck = self.state == StoryState::Blocked && self.may_be_retried();
        self.question.as_deref().or_else(|| is_stuck.then_some(self.reason.as_str()))
    }

    /// Whether a person may have it tried again: it ended without being done, and not because of another story.
    pub fn may_be_retried(&self) -> bool {
        let given_up = matches!(self.state, StoryState::Failed | StoryState::Blocked);
        self.kind == UnitKind::Story
            && self.question.is_none()
            && (given_up && !self.waits_for_another() || self.was_skipped_by_an_agent())
    }

    /// Blocked before it began, because a story that it depends on will not be finished.
    fn waits_for_another(&self) -> bool {
        self.state == StoryState::Blocked && self.base.is_none() && self.lines.is_empty()
    }

    /// Restarts the story with the answer of a person. Its work is continued; if other stories have landed
    /// since, it is merged with theirs first.
    pub(super) fn resume_with_answer(
        &mut self,
        text: &str,
        by: Option<&str>,
        head: &str,
        pipeline: &Pipeline,
    ) {
        let Some(question) = self.asks().map(str::to_owned) else { return };
        self.question = None;
        self.answers.push(Answer { question, text: text.to_owned(), by: by.map(str::to_owned) });
        if let Some(failure) = self.failures.last_mut() {
            failure.advice = Some(text.to_owned());
        }
        self.continue_or_begin(head, pipeline);
    }

    /// Restarts a story because a person wants it.
    pub(super) fn retry(&mut self, why: &str, by: Option<&str>, head: &str, pipeline: &Pipeline) {
        if !self.may_be_retried() {
            return;
        }
        if !why.is_empty() {
            let (question, text) = (self.reason.clone(), why.to_owned());
            self.answers.push(Answer { question, text, by: by.map(str::to_owned) });
        }
        self.retried = 0;
        self.continue_or_begin(head, pipeline);
    }

    fn continue_or_begin(&mut self, head: &str, pipeline: &Pipeline) {
        let continues = self.tree.is_some();
        self.settle(if continues { StoryState::Running } else { StoryState::Pending }, "");
        self.is_outdated = continues && self.base.as_deref() != Some(head);
        match &pipeline.flow {
            Some(flow) => self.send_back(flow),
            None => self.at = Position::Step(beginning(pipeline)),
        }
        self.findings.clear();
        self.gate_detail.clear();
        self.fixes = 0;
        self.parked = false;
        self.fixed_for_review = false;
        if !continues {
            self.failed_branch = None;
        }
    }

    /// The worktrees of a run that is over are gone: what is not done begins anew, and knows where its work is.
    pub(super) fn forget_worktree(&mut self) {
        if self.state == StoryState::Done || self.planned.skip.is_some() {
            return;
        }
        self.tree = None;
        if let Some(branch) = &self.failed_branch {
            let (branch, reason) = (branch.clone(), self.reason.clone());
            self.planned.earlier = Some(Earlier { branch, reason, ..Earlier::default() });
        }
    }

    /// A story that was blocked by another one waits again; if nothing has changed, it is blocked again.
    pub(super) fn wait_again(&mut self) {
        if self.kind == UnitKind::Story && self.waits_for_another() {
            self.settle(StoryState::Pending, "");
            self.parked = false;
        }
    }

    /// The closing of a run that continues after its end.
    pub(super) fn begin_again(&mut self) {
        self.settle(StoryState::Pending, "");
        (self.at, self.parked, self.fixes) = (Position::Step(0), false, 0);
        (self.base, self.tree, self.before_heal) = (None, None, None);
    }
}

/// The step at which the actual work begins.
fn beginning(pipeline: &Pipeline) -> usize {
    let is_work = |step: &Step| match step {
        Step::Agent(agent) => super::story::is_work(agent.phase),
        Step::Party(_) | Step::Gates | Step::Uat(_) | Step::Commit => false,
    };
    pipeline.steps.iter().position(is_work).unwrap_or(0)
}
