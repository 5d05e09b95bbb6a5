//! A story's path through a team: which transition a member's report leads to.

use handover_model::{StoryState, Verdict};

use super::PhaseEnd;
use super::review::must_be_fixed;
use super::story::{Position, RunRules, StoryRun, UnitKind, finding, is_work};
use crate::data::Finding;
use crate::pipeline::{AgentStep, Flow, Transition};

/// A story's progress within a team.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TeamState {
    /// How many agents have worked on it.
    agents: u32,
    /// How often the same member was repeated in a row.
    again: u32,
    /// Whether the senior member has taken over.
    is_escalated: bool,
    /// Whether any files differ from the base.
    has_work: bool,
    /// Whether there are changes that the gates have not checked.
    pub(super) unchecked: bool,
}

impl StoryRun {
    /// Follows the rule for a team member's report. A claim of completion without any change does not count
    /// as a report.
    pub(super) fn member_ended(
        &mut self,
        end: &PhaseEnd,
        step: &AgentStep,
        flow: &Flow,
        rules: RunRules<'_>,
    ) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.summary.is_empty() {
            findings.push(finding(&end.summary));
        }
        let mut is_clear = end.verdict.is_some();
        if is_work(end.phase) {
            self.team.unchecked = true;
            self.team.has_work = !end.files.is_empty();
            if end.verdict == Some(Verdict::Complete) && end.files.is_empty() {
                is_clear = false;
                let text = format!("{} reports completion and changed nothing", step.role);
                findings = vec![finding(&text)];
            }
        }
        if is_clear {
            self.record.push(end.clone());
        }
        self.team.agents += 1;
        if self.team.agents >= flow.most {
            let reason = format!("the team did not finish with {} agents", self.team.agents);
            return self.give_up(StoryState::Failed, &reason, rules);
        }
        let mut to = flow.rule(&step.role, end.status.filter(|_| is_clear));
        let approves = matches!(end.verdict, Some(Verdict::Passed | Verdict::PassedWithFixes));
        if approves && must_be_fixed(&end.findings) {
            to = &Transition::Rework;
        }
        self.follow(to, findings, end, step, flow, rules);
    }

    fn follow(
        &mut self,
        to: &Transition,
        findings: Vec<Finding>,
        end: &PhaseEnd,
        step: &AgentStep,
        flow: &Flow,
        rules: RunRules<'_>,
    ) {
        if *to != Transition::Again {
            self.team.again = 0;
        }
        match to {
            Transition::Hand { next } => self.hand_to(next, false, findings, flow),
            Transition::Check { next } => self.hand_to(next, true, findings, flow),
            Transition::Rework => {
                self.gate_detail.clear();
                self.request_fix(findings, rules, &format!("{} requested changes", step.role));
            }
            Transition::Resume => {
                self.gate_detail.clear();
                self.findings = findings;
                self.send_back(flow);
            }
            Transition::Again => {
                self.team.again += 1;
                if self.team.again > flow.patience {
                    let reason = format!("{} did not finish: {}", step.role, end.summary);
                    self.give_up(StoryState::Failed, &reason, rules);
                }
            }
            Transition::Keep if self.kind == UnitKind::Closing => self.advance(),
            Transition::Keep if !self.team.has_work => {
                self.give_up(
                    StoryState::Failed,
                    "work was approved, but nothing was changed",
                    rules,
                );
            }
            Transition::Keep => self.at = Position::Landing { checked: !self.team.unchecked },
            Transition::Stop { .. } if end.verdict == Some(Verdict::Escalate) => {
                self.ask(&end.summary, &end.summary);
            }
            Transition::Stop { state } => self.settle(*state, &end.summary),
        }
    }

    /// Hands the story to a member. Only the senior developer needs the findings; the others look at the
    /// work themselves.
    fn hand_to(&mut self, name: &str, unchecked: bool, findings: Vec<Finding>, flow: &Flow) {
        if name == flow.senior {
            self.team.is_escalated = true;
            self.findings = findings;
        }
        let at = flow.position(name).unwrap_or(0);
        self.at = Position::Member { at, unchecked };
    }

    /// Sends the story back to the developer, or to the senior one once that has failed often enough.
    pub(super) fn send_back(&mut self, flow: &Flow) {
        self.team.is_escalated |= self.fixes >= flow.patience;
        let name = if self.team.is_escalated { &flow.senior } else { &flow.builder };
        self.at = Position::Member { at: flow.position(name).unwrap_or(0), unchecked: false };
    }
}
