//! What becomes of a story that failed: looked into where the pipeline says so, tried again with
//! something new, left out, or a question for a person.

use handover_model::{StoryState, Verdict};

use super::story::{At, Rules, StoryRun, UnitKind};
use super::{Answer, Failure, PhaseEnd};
use crate::party::signature;
use crate::pipeline::{Pipeline, Step};

impl StoryRun {
    /// Gives the story up, unless the pipeline has somebody who looks into that. The same failure twice
    /// is not looked into again: a person must.
    pub(super) fn give_up(&mut self, state: StoryState, reason: &str, rules: Rules<'_>) {
        let of = match self.at {
            At::Step(at) => Some(at),
            At::Fix | At::Landing { .. } | At::Member { .. } => None,
            At::Analysis { .. } => return self.settle(state, reason),
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
        self.at = At::Analysis { of, state };
    }

    /// What to do about a failure. Without a clear word it stays one.
    pub(super) fn analysed(&mut self, of: Option<usize>, end: &PhaseEnd, rules: Rules<'_>) {
        let failed = match self.at {
            At::Analysis { state, .. } => state,
            At::Step(_) | At::Fix | At::Landing { .. } | At::Member { .. } => StoryState::Failed,
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
                    (Some(step), _) => self.at = At::Step(step),
                    (None, Some(flow)) => self.send_back(flow),
                    (None, None) => {
                        // Once more, and then it must hold.
                        self.fixes = self.fixes.min(rules.max_fixes.saturating_sub(1));
                        self.at = At::Fix;
                    }
                }
            }
            Some(Verdict::Retry) => {
                let why = match analysis.adds {
                    true => "There are no tries left",
                    false => "Trying again was advised, with nothing that had not been said",
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

    /// Nobody but a person can say how it goes on.
    pub(super) fn ask(&mut self, question: &str, reason: &str) {
        self.settle(StoryState::Blocked, reason);
        if self.kind == UnitKind::Story {
            self.question = Some(question.trim().to_owned());
        }
    }

    /// A person has said how it goes on: from the beginning of the work, with what they said. Work that
    /// is based on what is still the head is gone on with.
    pub(super) fn was_answered(&mut self, text: &str, head: &str, pipeline: &Pipeline) {
        let Some(question) = self.question.take() else { return };
        self.answers.push(Answer { question, text: text.to_owned() });
        if let Some(failure) = self.failures.last_mut() {
            failure.advice = Some(text.to_owned());
        }
        let goes_on = self.base.as_deref() == Some(head) && self.tree.is_some();
        self.settle(if goes_on { StoryState::Running } else { StoryState::Pending }, "");
        match &pipeline.flow {
            Some(flow) => self.send_back(flow),
            None => self.at = At::Step(beginning(pipeline)),
        }
        self.findings.clear();
        self.gate_detail.clear();
        self.fixes = 0;
        self.parked = false;
        self.mended_for_review = false;
    }
}

/// The step with which the work itself begins.
fn beginning(pipeline: &Pipeline) -> usize {
    let is_work = |step: &Step| match step {
        Step::Agent(agent) => super::story::is_work(agent.phase),
        Step::Party(_) | Step::Gates | Step::Uat(_) | Step::Commit => false,
    };
    pipeline.steps.iter().position(is_work).unwrap_or(0)
}
