//! How the acceptance of an epic stands: what was tried out, and mended if something failed.

use handover_model::{ScenarioOutcome, StoryState, UatGate};

use super::story::{At, Rules, StoryRun, finding};
use crate::ledger::Line;
use crate::pipeline::{Pipeline, Step};
use crate::uat::ScenarioResult;
use crate::verdict::Finding;

/// How the acceptance of an epic stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uat {
    /// Which scenarios were to be tried.
    pub gate: UatGate,
    /// What came of each, the last time.
    pub results: Vec<ScenarioResult>,
    /// Why there are none.
    pub problem: Option<String>,
}

impl Uat {
    /// Whether something that was tried does not hold, or nothing could be tried.
    pub fn is_failure(&self) -> bool {
        self.problem.is_some() || self.results.iter().any(ScenarioResult::is_wrong)
    }

    /// How many came to this.
    pub fn count(&self, outcome: ScenarioOutcome) -> usize {
        self.results.iter().filter(|result| result.outcome == outcome).count()
    }
}

/// What is known once scenarios were tried out.
pub(super) struct Tried<'a> {
    pub(super) attempt: u32,
    pub(super) uat: Uat,
    pub(super) tree: &'a str,
    pub(super) duration_ms: u64,
}

impl StoryRun {
    pub(super) fn uat_ended(&mut self, tried: Tried<'_>, rules: Rules<'_>) {
        let Tried { attempt, uat, tree, duration_ms } = tried;
        self.uat_attempts = attempt;
        self.tree = Some(tree.to_owned());
        self.lines.push(Line::uat(attempt, &uat, duration_ms));
        let wrong: Vec<Finding> =
            uat.results.iter().filter(|result| result.is_wrong()).map(found).collect();
        self.uat = Some(uat);
        if wrong.is_empty() {
            self.before_heal = None;
            return self.go_on();
        }
        self.gate_detail = self.uat.iter().flat_map(|uat| &uat.results).map(printed).collect();
        self.heal(wrong, rules);
    }

    /// What does not hold is mended a bounded number of times; then what was mended in vain is dropped.
    pub(super) fn heal(&mut self, wrong: Vec<Finding>, rules: Rules<'_>) {
        let most = rules.pipeline.uat().map_or(0, |step| step.heal);
        if self.fixes >= most {
            return self.stop_healing(rules.pipeline);
        }
        self.before_heal = self.before_heal.take().or_else(|| self.tree.clone());
        self.findings = wrong;
        self.at = At::Fix;
    }

    /// After somebody has mended: the gates, and then the scenarios again.
    pub(super) fn healed(&mut self, is_done: bool, pipeline: &Pipeline) {
        self.fixes += 1;
        if is_done {
            let is_gates = |step: &Step| matches!(step, Step::Gates);
            let gates = pipeline.closing.iter().position(is_gates);
            self.at = At::Step(gates.unwrap_or_else(|| uat_at(pipeline)));
        } else {
            self.stop_healing(pipeline);
        }
    }

    pub(super) fn stop_healing(&mut self, pipeline: &Pipeline) {
        if let Some(tree) = self.before_heal.take() {
            self.tree = Some(tree);
        }
        self.at = At::Step(uat_at(pipeline) + 1);
    }

    /// Whether something was mended and it did not help.
    pub fn was_mended_in_vain(&self) -> bool {
        self.fixes > 0 && self.uat.as_ref().is_none_or(Uat::is_failure)
    }

    /// Whether the epic was closed and its acceptance failed.
    pub(super) fn was_not_accepted(&self) -> bool {
        let failed = self.uat.as_ref().is_none_or(Uat::is_failure);
        failed || matches!(self.state, StoryState::Failed | StoryState::Blocked)
    }
}

fn uat_at(pipeline: &Pipeline) -> usize {
    let is_uat = |step: &Step| matches!(step, Step::Uat(_));
    pipeline.closing.iter().position(is_uat).unwrap_or(pipeline.closing.len())
}

fn found(result: &ScenarioResult) -> Finding {
    let text = format!("scenario {} ({}): {}", result.id, result.criterion, result.reason);
    finding(&text)
}

fn printed(result: &ScenarioResult) -> String {
    if result.tail.is_empty() {
        return String::new();
    }
    format!("{} printed:\n{}\n\n", result.id, result.tail)
}
