//! The acceptance of an epic: the results of its scenarios, and the fixes of those that failed.

use handover_model::{ScenarioOutcome, StoryState, UatGate};

use super::Approval;
use super::ledger::Line;
use super::story::{Position, RunRules, StoryRun, finding};
use crate::data::{Finding, ScenarioResult};
use crate::pipeline::{Pipeline, Step};

/// The results of an epic's acceptance scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uat {
    /// Which scenarios were selected.
    pub gate: UatGate,
    /// The latest result of each scenario.
    pub results: Vec<ScenarioResult>,
    /// Why there are no results.
    pub problem: Option<String>,
    /// What people say about scenarios that no program can run: the last word on each.
    pub approvals: Vec<Approval>,
}

impl Uat {
    /// Whether a scenario failed, or none could be run.
    pub fn is_failure(&self) -> bool {
        self.problem.is_some() || self.results.iter().any(ScenarioResult::is_wrong)
    }

    /// How many scenarios had this outcome.
    pub fn count(&self, outcome: ScenarioOutcome) -> usize {
        self.results.iter().filter(|result| result.outcome == outcome).count()
    }
}

/// One run of the scenarios.
pub(super) struct UatAttempt<'a> {
    pub(super) attempt: u32,
    pub(super) uat: Uat,
    pub(super) tree: &'a str,
    pub(super) duration_ms: u64,
}

impl StoryRun {
    pub(super) fn uat_ended(&mut self, tried: UatAttempt<'_>, rules: RunRules<'_>) {
        let UatAttempt { attempt, uat, tree, duration_ms } = tried;
        self.uat_attempts = attempt;
        self.tree = Some(tree.to_owned());
        self.lines.push(Line::uat(attempt, &uat, duration_ms));
        let failed: Vec<Finding> =
            uat.results.iter().filter(|result| result.is_wrong()).map(found).collect();
        self.uat = Some(uat);
        if failed.is_empty() {
            self.before_heal = None;
            return self.advance();
        }
        self.gate_detail = self.uat.iter().flat_map(|uat| &uat.results).map(printed).collect();
        self.heal(failed, rules);
    }

    /// Requests fixes of failures a bounded number of times; after that, unsuccessful fixes are dropped.
    pub(super) fn heal(&mut self, failed: Vec<Finding>, rules: RunRules<'_>) {
        let most = rules.pipeline.uat().map_or(0, |step| step.heal);
        if self.fixes >= most {
            return self.stop_healing(rules.pipeline);
        }
        self.before_heal = self.before_heal.take().or_else(|| self.tree.clone());
        self.findings = failed;
        self.at = Position::Fix;
    }

    /// After a fix: the gates, and then the scenarios again.
    pub(super) fn healed(&mut self, is_done: bool, pipeline: &Pipeline) {
        self.fixes += 1;
        if is_done {
            let is_gates = |step: &Step| matches!(step, Step::Gates);
            let gates = pipeline.closing.iter().position(is_gates);
            self.at = Position::Step(gates.unwrap_or_else(|| uat_at(pipeline)));
        } else {
            self.stop_healing(pipeline);
        }
    }

    pub(super) fn stop_healing(&mut self, pipeline: &Pipeline) {
        if let Some(tree) = self.before_heal.take() {
            self.tree = Some(tree);
        }
        self.at = Position::Step(uat_at(pipeline) + 1);
    }

    /// Whether fixes were made and did not help.
    pub fn fixes_failed(&self) -> bool {
        self.fixes > 0 && self.uat.as_ref().is_none_or(Uat::is_failure)
    }

    /// Whether the acceptance failed or did not take place.
    pub(super) fn acceptance_failed(&self) -> bool {
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
