//! Where one unit of work stands, a story or what closes an epic, and what an event does to it.

use std::collections::BTreeMap;

use handover_model::{FailureClass, RunPhase, StoryState, Verdict};

use super::flow::InTeam;
use super::party::{self, Party};
use super::uat::Uat;
use super::{Effect, GateOutcome, PhaseEnd, PlannedStory};
use crate::ledger::{Line, Spent};
use crate::party::Word;
use crate::pipeline::{AgentStep, PartyStep, Pipeline, Step, Voice};
use crate::verdict::Finding;

/// What kind of work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A story.
    Story,
    /// What closes an epic, once its stories are settled.
    Closing,
}

/// What a story is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// A step of its pipeline.
    Step(usize),
    /// A member of a team.
    Member {
        /// Which.
        at: usize,
        /// Whether the gates check the work before.
        unchecked: bool,
    },
    /// Somebody mends what was found.
    Fix,
    /// Its work was moved to a new head and is on its way to the branch.
    Landing {
        /// Whether the gates have said that it holds there too.
        checked: bool,
    },
    /// Somebody says what to do about a failure; it came from a fix or from a step.
    Analysis {
        /// The step, or none for a fix.
        of: Option<usize>,
        /// What it is if nobody knows better.
        state: StoryState,
    },
}

/// Where a story stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryRun {
    /// The story.
    pub planned: PlannedStory,
    /// What kind of work it is.
    pub kind: UnitKind,
    /// Where it stands.
    pub state: StoryState,
    /// Why it stands there.
    pub reason: String,
    /// The commit that it starts from.
    pub base: Option<String>,
    /// What its worktree holds.
    pub tree: Option<String>,
    /// The commit that holds its work.
    pub commit: Option<String>,
    /// The branch that holds work that did not come to its end.
    pub failed_branch: Option<String>,
    /// What was found and is to be mended.
    pub findings: Vec<Finding>,
    /// The end of what failing gates printed.
    pub gate_detail: String,
    /// What everybody said whose word counted, for those who come after and for the records.
    pub record: Vec<PhaseEnd>,
    /// The parties that came to their end.
    pub parties: Vec<Party>,
    /// How it failed so far.
    pub failures: Vec<Failure>,
    /// What a person must answer before it goes on.
    pub question: Option<String>,
    /// What people have answered.
    pub answers: Vec<Answer>,
    /// Everything that was done.
    pub lines: Vec<Line>,
    /// How the acceptance stands, for what closes an epic.
    pub uat: Option<Uat>,
    pub(super) at: At,
    /// Where it stands in a team.
    pub(super) team: InTeam,
    /// What the voices of the party at hand said.
    voices: Vec<PhaseEnd>,
    pub(super) fixes: u32,
    pub(super) retried: u32,
    retries: BTreeMap<Option<Voice>, Tries>,
    pub(super) parked: bool,
    attempts: BTreeMap<(RunPhase, Option<Voice>), u32>,
    gate_attempts: u32,
    pub(super) uat_attempts: u32,
    /// What the worktree held before scenarios that failed were mended.
    pub(super) before_heal: Option<String>,
    pub(super) mended_for_review: bool,
}

/// How a story failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In words.
    pub reason: String,
    /// What makes another failure the same.
    pub(super) signature: String,
    /// What the next attempt was told, if there was one.
    pub advice: Option<String>,
}

/// What a person was asked, and said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What they were asked.
    pub question: String,
    /// What they said.
    pub text: String,
}

/// How often the same agent was tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tries {
    all: u32,
    /// How often in a row because the model could not be asked.
    unreachable: u32,
}

/// A finding that is only a text.
pub(super) fn finding(text: &str) -> Finding {
    Finding { text: text.to_owned(), ..Finding::default() }
}

impl StoryRun {
    pub(super) fn new(planned: PlannedStory, kind: UnitKind, pipeline: &Pipeline) -> Self {
        let start = match (kind, &pipeline.flow) {
            (UnitKind::Story, Some(flow)) => {
                At::Member { at: flow.position(&flow.start).unwrap_or(0), unchecked: false }
            }
            (UnitKind::Story, None) | (UnitKind::Closing, _) => At::Step(0),
        };
        let skipped = planned.skip.is_some();
        Self {
            kind,
            state: if skipped { StoryState::Skipped } else { StoryState::Pending },
            reason: planned.skip.clone().unwrap_or_default(),
            planned,
            base: None,
            tree: None,
            commit: None,
            failed_branch: None,
            findings: Vec::new(),
            gate_detail: String::new(),
            record: Vec::new(),
            parties: Vec::new(),
            failures: Vec::new(),
            question: None,
            answers: Vec::new(),
            lines: Vec::new(),
            uat: None,
            at: start,
            team: InTeam::default(),
            voices: Vec::new(),
            fixes: 0,
            retried: 0,
            retries: BTreeMap::new(),
            parked: skipped,
            attempts: BTreeMap::new(),
            gate_attempts: 0,
            uat_attempts: 0,
            before_heal: None,
            mended_for_review: false,
        }
    }

    /// What was used for it.
    pub fn spent(&self) -> Spent {
        self.lines.iter().map(|line| line.spent).sum()
    }

    /// How often findings have been mended.
    pub fn fixes(&self) -> u32 {
        self.fixes
    }

    /// How often the model could not be asked, which is how long to wait before the next time.
    pub fn retries(&self, voice: Option<&Voice>) -> u32 {
        self.tries(voice).unreachable
    }

    fn tries(&self, voice: Option<&Voice>) -> Tries {
        self.retries.get(&voice.cloned()).copied().unwrap_or_default()
    }

    /// What the voices of the party at hand have said so far.
    pub fn words(&self) -> Vec<Word> {
        party::words(&self.voices)
    }

    /// Whether nothing more will happen to it.
    pub fn is_settled(&self) -> bool {
        !matches!(self.state, StoryState::Pending | StoryState::Running) && self.question.is_none()
    }

    /// Whether it will not be done, so that nobody need wait for it.
    pub(super) fn is_lost(&self) -> bool {
        let given_up = matches!(self.state, StoryState::Failed | StoryState::Blocked)
            || self.was_skipped_by_an_agent();
        given_up && self.question.is_none()
    }

    /// Left out, and not because the user or its own status says so.
    pub(super) fn was_skipped_by_an_agent(&self) -> bool {
        self.state == StoryState::Skipped && self.planned.skip.is_none()
    }

    pub(super) fn must_be_parked(&self) -> bool {
        let settled =
            matches!(self.state, StoryState::Failed | StoryState::Blocked | StoryState::Skipped);
        settled && !self.parked
    }

    pub(super) fn settle(&mut self, state: StoryState, reason: &str) {
        self.state = state;
        reason.clone_into(&mut self.reason);
    }

    /// The step that it is at; none once there is nothing left but to keep the work.
    pub(super) fn step<'p>(&self, pipeline: &'p Pipeline) -> Option<StepRef<'p>> {
        match self.at {
            At::Fix => Some(StepRef::Agent(&pipeline.fix)),
            At::Analysis { .. } => pipeline.on_failure.as_ref().and_then(StepRef::of),
            At::Landing { checked } => {
                let has_gates = pipeline.flow.is_some() || pipeline.steps.contains(&Step::Gates);
                (!checked && has_gates).then_some(StepRef::Gates)
            }
            At::Member { unchecked: true, .. } => Some(StepRef::Gates),
            At::Member { at, .. } => {
                let member = pipeline.flow.as_ref().and_then(|flow| flow.members.get(at));
                member.map(|member| StepRef::Agent(&member.agent))
            }
            At::Step(at) => {
                let steps = match self.kind {
                    UnitKind::Story => &pipeline.steps,
                    UnitKind::Closing => &pipeline.closing,
                };
                steps.get(at).and_then(StepRef::of)
            }
        }
    }

    /// What may be done for it now.
    pub(super) fn ready(&self, pipeline: &Pipeline) -> Vec<Effect> {
        let story = || self.planned.id.clone();
        match self.step(pipeline) {
            Some(StepRef::Agent(step)) => vec![self.agent(step.phase, None)],
            Some(StepRef::Party(party)) => party::missing(party, &self.voices)
                .into_iter()
                .map(|voice| self.agent(party.agent.phase, Some(voice)))
                .collect(),
            Some(StepRef::Gates) => {
                vec![Effect::Gates { story: story(), attempt: self.gate_attempts + 1 }]
            }
            Some(StepRef::Uat) => {
                vec![Effect::Uat { story: story(), attempt: self.uat_attempts + 1 }]
            }
            None => vec![Effect::Commit { story: story() }],
        }
    }

    fn agent(&self, phase: RunPhase, voice: Option<Voice>) -> Effect {
        let key = (phase, voice);
        let attempt = self.attempts.get(&key).copied().unwrap_or(0) + 1;
        Effect::Agent { story: self.planned.id.clone(), phase, attempt, voice: key.1 }
    }

    pub(super) fn opened(&mut self, base: &str, tree: &str) {
        self.state = StoryState::Running;
        self.base = Some(base.to_owned());
        self.tree = Some(tree.to_owned());
    }

    pub(super) fn gates_ended(
        &mut self,
        attempt: u32,
        line: Line,
        failed: Option<(&[String], &str)>,
        rules: Rules<'_>,
    ) {
        self.gate_attempts = attempt;
        self.lines.push(line);
        match failed {
            Some((failures, detail)) => {
                detail.clone_into(&mut self.gate_detail);
                let findings = failures.iter().map(|text| finding(text)).collect();
                match self.kind {
                    UnitKind::Story => self.mend(findings, rules, "the gates failed"),
                    UnitKind::Closing => self.heal(findings, rules),
                }
            }
            None => {
                self.team.unchecked = false;
                self.go_on();
            }
        }
    }

    pub(super) fn refused(&mut self, problems: &[String], rules: Rules<'_>) {
        let findings = problems.iter().map(|text| finding(text)).collect();
        self.mend(findings, rules, "the work cannot be committed");
    }

    /// Whether it is on its way to the branch, so that others wait.
    pub(super) fn is_landing(&self) -> bool {
        matches!(self.at, At::Landing { .. })
    }

    /// Its work was moved to a new head. Where others have changed the same, somebody mends it.
    pub(super) fn rebased(
        &mut self,
        base: &str,
        tree: &str,
        conflicts: &[String],
        rules: Rules<'_>,
    ) {
        self.base = Some(base.to_owned());
        self.tree = Some(tree.to_owned());
        if conflicts.is_empty() {
            self.at = At::Landing { checked: false };
            return;
        }
        let finding = |path: &String| Finding {
            place: path.clone(),
            text:
                "another story has changed the same: where the file holds both with conflict marks \
                   between them, make one of it that does what both stories ask for"
                    .to_owned(),
            ..Finding::default()
        };
        self.gate_detail.clear();
        let findings = conflicts.iter().map(finding).collect();
        self.mend(findings, rules, "the work conflicts with that of another story");
    }

    /// The next step.
    pub(super) fn go_on(&mut self) {
        match &mut self.at {
            At::Step(at) => *at += 1,
            At::Landing { checked } => *checked = true,
            At::Member { unchecked, .. } => *unchecked = false,
            At::Fix | At::Analysis { .. } => {}
        }
    }

    /// What was found goes to somebody who mends it, a bounded number of times. Nobody mends what
    /// closes an epic.
    pub(super) fn mend(&mut self, findings: Vec<Finding>, rules: Rules<'_>, what: &str) {
        let first = findings.first().map(|finding| finding.text.clone()).unwrap_or_default();
        self.findings = findings;
        self.at = At::Fix;
        if self.fixes >= rules.max_fixes || self.kind == UnitKind::Closing {
            let reason = format!("{what} after {} fix(es): {first}", self.fixes);
            return self.give_up(StoryState::Failed, reason.trim_end_matches([':', ' ']), rules);
        }
        if let Some(flow) = &rules.pipeline.flow {
            self.fixes += 1;
            self.send_back(flow);
        }
    }

    /// An agent ended. Whoever was not asked for is written down and changes nothing.
    pub(super) fn phase_ended(&mut self, end: &PhaseEnd, rules: Rules<'_>) {
        self.lines.push(Line::agent(end));
        self.attempts.insert((end.phase, end.voice.clone()), end.attempt);
        self.tree = Some(end.tree.clone());
        match self.step(rules.pipeline) {
            Some(StepRef::Agent(step)) if end.voice.is_none() => {
                if !self.is_asked_again(end, step) {
                    self.answered(end, step, rules);
                }
            }
            Some(StepRef::Party(party)) if end.voice.is_some() => {
                if !self.is_asked_again(end, &party.agent) {
                    self.voices.push(end.clone());
                    if party::missing(party, &self.voices).is_empty() {
                        self.party_ended(party, rules);
                    }
                }
            }
            Some(_) | None => {}
        }
    }

    fn party_ended(&mut self, party: &PartyStep, rules: Rules<'_>) {
        let voices = std::mem::take(&mut self.voices);
        if let Some(ended) = party::outcome(party, voices) {
            self.parties.push(ended.clone());
            self.answered(&ended.outcome, &party.agent, rules);
        }
    }

    /// Whether the model could not be asked, or the agent wants another try, and there is one left.
    fn is_asked_again(&mut self, end: &PhaseEnd, step: &AgentStep) -> bool {
        let unreachable = end.failure.is_some_and(FailureClass::is_transient);
        let wanted = end.verdict == Some(Verdict::Retry)
            && end.phase != RunPhase::Analysis
            && step.statuses.is_empty();
        let mut tries = self.tries(end.voice.as_ref());
        if (unreachable || wanted) && tries.all < step.retries {
            tries.all += 1;
            tries.unreachable = if unreachable { tries.unreachable + 1 } else { 0 };
            self.retries.insert(end.voice.clone(), tries);
            if end.phase == RunPhase::Uat && end.failure.is_none() {
                self.findings = vec![finding(&end.summary)];
            }
            return true;
        }
        self.retries.remove(&end.voice);
        false
    }

    fn answered(&mut self, end: &PhaseEnd, step: &AgentStep, rules: Rules<'_>) {
        if let At::Analysis { of, .. } = self.at {
            return self.analysed(of, end, rules);
        }
        if let (Some(flow), false) = (&rules.pipeline.flow, step.statuses.is_empty()) {
            return self.handed_on(end, step, flow, rules);
        }
        if self.kind == UnitKind::Closing && self.at == At::Fix {
            return self.healed(end.verdict == Some(Verdict::Complete), rules.pipeline);
        }
        if step.optional {
            if end.verdict == Some(Verdict::Complete) {
                self.record.push(end.clone());
            }
            return self.go_on();
        }
        match end.verdict {
            Some(Verdict::Blocked) => self.give_up(StoryState::Blocked, &end.summary, rules),
            Some(Verdict::Escalate) => self.ask(&end.summary, &end.summary),
            Some(Verdict::Skip) => self.settle(StoryState::Skipped, &end.summary),
            Some(Verdict::Failed) if end.phase == RunPhase::Review => {
                self.review_failed(end, rules);
            }
            Some(Verdict::Failed | Verdict::Retry) | None => {
                let reason = format!("{} {}: {}", end.phase, end.attempt, end.summary);
                if end.failure.is_some_and(FailureClass::is_transient) {
                    // The model could not be asked; nobody can tell more than that.
                    return self.settle(StoryState::Failed, &reason);
                }
                self.give_up(StoryState::Failed, &reason, rules);
            }
            Some(Verdict::Complete) if end.files.is_empty() && is_work(end.phase) => {
                let reason =
                    format!("{} says that it is complete and has changed nothing", end.phase);
                self.give_up(StoryState::Failed, &reason, rules);
            }
            Some(Verdict::Complete) => {
                self.record.push(end.clone());
                if self.at == At::Fix {
                    self.fixes += 1;
                    self.at = At::Step(rules.pipeline.after_fix);
                } else {
                    self.go_on();
                }
            }
            Some(Verdict::Passed) => self.pass(end),
            Some(Verdict::PassedWithFixes) => self.pass_with_fixes(end, rules),
        }
    }

    fn pass(&mut self, end: &PhaseEnd) {
        self.record.push(end.clone());
        self.go_on();
    }

    fn review_failed(&mut self, end: &PhaseEnd, rules: Rules<'_>) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.summary.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() {
            let reason = "the review failed and found nothing";
            return self.give_up(StoryState::Failed, reason, rules);
        }
        self.mended_for_review = true;
        self.record.push(end.clone());
        self.mend(findings, rules, "the review failed");
    }

    /// A reviewer cannot mend, so what it would have mended is mended by somebody else, once; after
    /// that its word is a yes.
    fn pass_with_fixes(&mut self, end: &PhaseEnd, rules: Rules<'_>) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.restored.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() || self.mended_for_review || self.fixes >= rules.max_fixes {
            return self.pass(end);
        }
        self.mended_for_review = true;
        self.record.push(end.clone());
        self.mend(findings, rules, "the review asked for fixes");
    }
}

/// Whether a phase is there to change files.
pub(crate) fn is_work(phase: RunPhase) -> bool {
    matches!(phase, RunPhase::Dev | RunPhase::Fix)
}

/// What an event is judged by.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) max_fixes: u32,
    pub(super) max_retries: u32,
}

/// A step that somebody has to do before the work can be kept.
pub(super) enum StepRef<'p> {
    Agent(&'p AgentStep),
    Party(&'p PartyStep),
    Gates,
    Uat,
}

impl<'p> StepRef<'p> {
    fn of(step: &'p Step) -> Option<Self> {
        match step {
            Step::Agent(step) => Some(Self::Agent(step)),
            Step::Party(party) => Some(Self::Party(party)),
            Step::Gates => Some(Self::Gates),
            Step::Uat(_) => Some(Self::Uat),
            Step::Commit => None,
        }
    }
}

impl GateOutcome {
    pub(super) fn is_failure(self) -> bool {
        match self {
            Self::Failed => true,
            Self::Passed | Self::None => false,
        }
    }
}
