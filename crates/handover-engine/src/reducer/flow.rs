//! A story on its way through a team: what somebody says, and what becomes of it.

use handover_model::{StoryState, Verdict};

use super::PhaseEnd;
use super::story::{At, Rules, StoryRun, UnitKind, finding, is_work};
use crate::flow::{Flow, To};
use crate::pipeline::AgentStep;
use crate::verdict::Finding;

/// Where a story stands in a team.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InTeam {
    /// How many agents it has had.
    agents: u32,
    /// How often the same one tried again.
    again: u32,
    /// Whether somebody senior has taken over.
    is_escalated: bool,
    /// Whether there is work.
    has_work: bool,
    /// Whether there is work that the gates have not checked.
    pub(super) unchecked: bool,
}

impl StoryRun {
    /// A member of the team has ended; the table says what becomes of it. Whoever claims to have built
    /// something and has changed nothing has said nothing.
    pub(super) fn handed_on(
        &mut self,
        end: &PhaseEnd,
        step: &AgentStep,
        flow: &Flow,
        rules: Rules<'_>,
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
                let text = format!("{} says that it is done and has changed nothing", step.role);
                findings = vec![finding(&text)];
            }
        }
        if is_clear {
            self.record.push(end.clone());
        }
        self.team.agents += 1;
        if self.team.agents >= flow.most {
            let reason = format!("the team came to no end with {} agents", self.team.agents);
            return self.give_up(StoryState::Failed, &reason, rules);
        }
        let to = flow.rule(&step.role, end.status.filter(|_| is_clear));
        self.follow(to, findings, end, step, flow, rules);
    }

    fn follow(
        &mut self,
        to: &To,
        findings: Vec<Finding>,
        end: &PhaseEnd,
        step: &AgentStep,
        flow: &Flow,
        rules: Rules<'_>,
    ) {
        if *to != To::Again {
            self.team.again = 0;
        }
        match to {
            To::Hand { next } => self.hand_to(next, false, findings, flow),
            To::Check { next } => self.hand_to(next, true, findings, flow),
            To::Rework => {
                self.gate_detail.clear();
                self.mend(findings, rules, &format!("{} is not content", step.role));
            }
            To::Resume => {
                self.gate_detail.clear();
                self.findings = findings;
                self.send_back(flow);
            }
            To::Again => {
                self.team.again += 1;
                if self.team.again > flow.patience {
                    let reason = format!("{} came to no end: {}", step.role, end.summary);
                    self.give_up(StoryState::Failed, &reason, rules);
                }
            }
            To::Keep if self.kind == UnitKind::Closing => self.go_on(),
            To::Keep if !self.team.has_work => {
                self.give_up(StoryState::Failed, "the work was approved and there is none", rules);
            }
            To::Keep => self.at = At::Landing { checked: !self.team.unchecked },
            To::Stop { .. } if end.verdict == Some(Verdict::Escalate) => {
                self.ask(&end.summary, &end.summary);
            }
            To::Stop { state } => self.settle(*state, &end.summary),
        }
    }

    /// Somebody who builds is told what was found; all others see for themselves.
    fn hand_to(&mut self, name: &str, unchecked: bool, findings: Vec<Finding>, flow: &Flow) {
        if name == flow.senior {
            self.team.is_escalated = true;
            self.findings = findings;
        }
        let at = flow.position(name).unwrap_or(0);
        self.at = At::Member { at, unchecked };
    }

    /// To whoever mends: the developer, or somebody senior once that has failed often enough.
    pub(super) fn send_back(&mut self, flow: &Flow) {
        self.team.is_escalated |= self.fixes >= flow.patience;
        let name = if self.team.is_escalated { &flow.senior } else { &flow.builder };
        self.at = At::Member { at: flow.position(name).unwrap_or(0), unchecked: false };
    }
}
