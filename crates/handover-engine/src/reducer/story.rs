//! The state of one unit of work, a story or the closing of an epic, and how events change it.

use std::collections::BTreeMap;

use handover_model::{FailureClass, RunPhase, StoryState, Verdict};

use super::flow::TeamState;
use super::ledger::Line;
use super::party::{self, PartyRecord};
use super::uat::Uat;
use super::{Effect, GateOutcome, LimitScope, PhaseEnd, PlannedStory, Skip};
use crate::data::{Finding, Retro, Spent, Statement};
use crate::pipeline::{AgentStep, PartyStep, Pipeline, Step, Voice};

/// The kind of a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A story.
    Story,
    /// The closing of an epic, once its stories are settled.
    Closing,
}

/// Where a story is in its pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A step of its pipeline.
    Step(usize),
    /// A member of a team.
    Member {
        /// The member's index in the flow.
        at: usize,
        /// Whether the gates must check the work first.
        unchecked: bool,
    },
    /// A fix of what was found.
    Fix,
    /// The last steps before its commit: rebased, and checked again.
    Landing {
        /// Whether the gates have passed since.
        checked: bool,
    },
    /// The analysis of a failure.
    Analysis {
        /// The step that failed; none for a fix.
        of: Option<usize>,
        /// The state of the story if the analysis does not help.
        state: StoryState,
    },
}

/// The state of a unit of work.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryRun {
    /// The story as planned.
    pub planned: PlannedStory,
    /// Whether it is a story or closes the epic.
    pub kind: UnitKind,
    /// Whether it is pending, running or settled.
    pub state: StoryState,
    /// Why it is in that state.
    pub reason: String,
    /// The commit that it starts from.
    pub base: Option<String>,
    /// The tree that its worktree holds.
    pub tree: Option<String>,
    /// The commit that holds its work.
    pub commit: Option<String>,
    /// The branch that holds its unfinished work.
    pub failed_branch: Option<String>,
    /// Findings that the next fix must resolve.
    pub findings: Vec<Finding>,
    /// The end of the output of failing gates.
    pub gate_detail: String,
    /// Gates that passed and ran far fewer tests than on the base.
    pub fewer_tests: Vec<String>,
    /// The ends of agents whose report counted, for later agents and for the records.
    pub record: Vec<PhaseEnd>,
    /// Finished parties.
    pub parties: Vec<PartyRecord>,
    /// Earlier failures.
    pub failures: Vec<Failure>,
    /// The question that a person must answer before it continues.
    pub question: Option<String>,
    /// Answers so far.
    pub answers: Vec<Answer>,
    /// The ledger: one line for each finished step.
    pub lines: Vec<Line>,
    /// The results of the acceptance scenarios, for the closing unit.
    pub uat: Option<Uat>,
    pub(super) at: Position,
    /// Its progress within a team.
    pub(super) team: TeamState,
    /// The ends of voices in the current party.
    voices: Vec<PhaseEnd>,
    pub(super) fixes: u32,
    pub(super) retried: u32,
    retries: BTreeMap<Option<Voice>, RetryCount>,
    pub(super) parked: bool,
    attempts: BTreeMap<(RunPhase, Option<Voice>), u32>,
    /// How often in a row it met a usage limit.
    limited: u32,
    gate_attempts: u32,
    pub(super) uat_attempts: u32,
    /// The tree before failing scenarios were fixed.
    pub(super) before_heal: Option<String>,
    pub(super) fixed_for_review: bool,
    /// Whether the current fix resolves a conflict with another story.
    pub(super) resolves_conflict: bool,
    /// Whether its work must be merged with the current head before it continues.
    pub(super) is_outdated: bool,
}

/// A failure of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What failed.
    pub reason: String,
    /// Equal for failures that are the same apart from paths, numbers and names.
    pub(super) signature: String,
    /// The advice that the next attempt got, if there was one.
    pub advice: Option<String>,
}

/// A question and a person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The question.
    pub question: String,
    /// The answer.
    pub text: String,
    /// Who answered.
    pub by: Option<String>,
}

/// How often an agent was retried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RetryCount {
    all: u32,
    /// How often in a row because the model could not be reached.
    unreachable: u32,
}

/// A finding without severity or place.
pub(super) fn finding(text: &str) -> Finding {
    Finding { text: text.to_owned(), ..Finding::default() }
}

fn conflict(path: &str) -> Finding {
    let text = "another story changed the same lines: resolve the conflict markers in this file so that it \
                does what both stories ask for";
    Finding { place: path.to_owned(), ..finding(text) }
}

impl StoryRun {
    pub(super) fn new(planned: PlannedStory, kind: UnitKind, pipeline: &Pipeline) -> Self {
        let start = match (kind, &pipeline.flow) {
            (UnitKind::Story, Some(flow)) => {
                Position::Member { at: flow.position(&flow.start).unwrap_or(0), unchecked: false }
            }
            (UnitKind::Story, None) => {
                let is_known =
                    planned.earlier.as_ref().is_some_and(|earlier| earlier.kickoff.is_some());
                let is_kickoff = pipeline.steps.first().is_some_and(Step::is_kickoff);
                // What an earlier run paid for is not paid for again.
                Position::Step(usize::from(is_known && is_kickoff))
            }
            (UnitKind::Closing, _) => Position::Step(0),
        };
        let skipped = planned.skip.is_some();
        Self {
            kind,
            state: if skipped { StoryState::Skipped } else { StoryState::Pending },
            reason: planned.skip.map_or("", Skip::as_str).to_owned(),
            planned,
            base: None,
            tree: None,
            commit: None,
            failed_branch: None,
            findings: Vec::new(),
            gate_detail: String::new(),
            fewer_tests: Vec::new(),
            record: Vec::new(),
            parties: Vec::new(),
            failures: Vec::new(),
            question: None,
            answers: Vec::new(),
            lines: Vec::new(),
            uat: None,
            at: start,
            team: TeamState::default(),
            voices: Vec::new(),
            fixes: 0,
            retried: 0,
            retries: BTreeMap::new(),
            parked: skipped,
            attempts: BTreeMap::new(),
            limited: 0,
            gate_attempts: 0,
            uat_attempts: 0,
            before_heal: None,
            fixed_for_review: false,
            resolves_conflict: false,
            is_outdated: false,
        }
    }

    /// What its agents and checks used.
    pub fn spent(&self) -> Spent {
        self.lines.iter().map(|line| line.spent).sum()
    }

    /// Whether the current fix resolves a conflict with another story.
    pub fn resolves_conflict(&self) -> bool {
        self.resolves_conflict
    }

    /// How many fixes were made.
    pub fn fixes(&self) -> u32 {
        self.fixes
    }

    /// How often in a row the model could not be reached; determines the back-off.
    pub fn retries(&self, voice: Option<&Voice>) -> u32 {
        self.tries(voice).unreachable
    }

    fn tries(&self, voice: Option<&Voice>) -> RetryCount {
        self.retries.get(&voice.cloned()).copied().unwrap_or_default()
    }

    /// How often in a row it met a usage limit of the agent program.
    pub fn limited(&self) -> u32 {
        self.limited
    }

    /// The statements of the current party so far.
    pub fn statements(&self) -> Vec<Statement> {
        party::statements(&self.voices)
    }

    /// Whether it has reached a final state and no answer can revive it.
    pub fn is_settled(&self) -> bool {
        !matches!(self.state, StoryState::Pending | StoryState::Running) && self.question.is_none()
    }

    /// Whether it will not be finished, so that its dependents are blocked.
    pub(super) fn will_not_finish(&self) -> bool {
        let given_up = matches!(self.state, StoryState::Failed | StoryState::Blocked)
            || self.was_skipped_by_an_agent()
            || self.planned.skip.is_some_and(|skip| skip != Skip::Done);
        given_up && self.question.is_none()
    }

    /// The lessons of the voices of the current party, with their names and rounds.
    pub fn lessons(&self) -> impl Iterator<Item = (&Voice, &Retro)> {
        self.voices.iter().filter_map(|end| Some((end.voice.as_ref()?, end.retro.as_deref()?)))
    }

    /// Skipped by an agent rather than by the plan.
    pub(crate) fn was_skipped_by_an_agent(&self) -> bool {
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

    /// The current step; none once only the commit is left.
    pub(super) fn step<'p>(&self, pipeline: &'p Pipeline) -> Option<StepRef<'p>> {
        match self.at {
            Position::Fix => Some(StepRef::Agent(&pipeline.fix)),
            Position::Analysis { .. } => pipeline.on_failure.as_ref().and_then(StepRef::of),
            Position::Landing { checked } => {
                let has_gates = pipeline.flow.is_some() || pipeline.steps.contains(&Step::Gates);
                (!checked && has_gates).then_some(StepRef::Gates)
            }
            Position::Member { unchecked: true, .. } => Some(StepRef::Gates),
            Position::Member { at, .. } => {
                let member = pipeline.flow.as_ref().and_then(|flow| flow.members.get(at));
                member.map(|member| StepRef::Agent(&member.agent))
            }
            Position::Step(at) => {
                let steps = match self.kind {
                    UnitKind::Story => &pipeline.steps,
                    UnitKind::Closing => &pipeline.closing,
                };
                steps.get(at).and_then(StepRef::of)
            }
        }
    }

    /// The effects that may start now.
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
        fewer: &str,
        rules: RunRules<'_>,
    ) {
        self.gate_attempts = attempt;
        self.fewer_tests = fewer.lines().map(str::to_owned).collect();
        self.lines.push(line);
        match failed {
            Some((failures, detail)) => {
                detail.clone_into(&mut self.gate_detail);
                let findings = failures.iter().map(|text| finding(text)).collect();
                match self.kind {
                    UnitKind::Story => self.request_fix(findings, rules, "the gates failed"),
                    UnitKind::Closing => self.heal(findings, rules),
                }
            }
            None => {
                self.team.unchecked = false;
                self.advance();
            }
        }
    }

    pub(super) fn refused(&mut self, problems: &[String], rules: RunRules<'_>) {
        let findings = problems.iter().map(|text| finding(text)).collect();
        self.request_fix(findings, rules, "the work cannot be committed");
    }

    /// Whether it is about to be committed, so that others wait.
    pub(super) fn is_landing(&self) -> bool {
        matches!(self.at, Position::Landing { .. })
    }

    /// Its work was rebased onto a new head. Work that waited for an answer continues there, whatever
    /// conflicts; finished work whose conflicts are resolved lands.
    pub(super) fn rebased(
        &mut self,
        base: &str,
        tree: &str,
        conflicts: &[String],
        rules: RunRules<'_>,
    ) {
        self.base = Some(base.to_owned());
        self.tree = Some(tree.to_owned());
        self.gate_detail.clear();
        let findings: Vec<Finding> = conflicts.iter().map(|path| conflict(path)).collect();
        if std::mem::take(&mut self.is_outdated) {
            self.findings = findings;
        } else if findings.is_empty() {
            self.at = Position::Landing { checked: false };
        } else {
            // Another story's work is to blame, so it does not count as a fix. There are no more
            // conflicts than stories that land.
            self.resolves_conflict = true;
            self.send_to_fix(findings, rules);
        }
    }

    /// Continues with the next step.
    pub(super) fn advance(&mut self) {
        match &mut self.at {
            Position::Step(at) => *at += 1,
            Position::Landing { checked } => *checked = true,
            Position::Member { unchecked, .. } => *unchecked = false,
            Position::Fix | Position::Analysis { .. } => {}
        }
    }

    /// Requests a fix of findings, a bounded number of times. The closing unit is never fixed this way.
    pub(super) fn request_fix(&mut self, findings: Vec<Finding>, rules: RunRules<'_>, what: &str) {
        if self.fixes >= rules.max_fixes || self.kind == UnitKind::Closing {
            let first = findings.first().map(|finding| finding.text.clone()).unwrap_or_default();
            self.findings = findings;
            self.at = Position::Fix;
            let fixes = if self.fixes == 1 { "fix" } else { "fixes" };
            let reason = format!("{what} after {} {fixes}: {first}", self.fixes);
            return self.give_up(StoryState::Failed, reason.trim_end_matches([':', ' ']), rules);
        }
        self.resolves_conflict = false;
        self.send_to_fix(findings, rules);
    }

    fn send_to_fix(&mut self, findings: Vec<Finding>, rules: RunRules<'_>) {
        self.findings = findings;
        self.at = Position::Fix;
        if let Some(flow) = &rules.pipeline.flow {
            self.fixes += u32::from(!self.resolves_conflict);
            self.send_back(flow);
        }
    }

    /// An agent ended. If no step is waiting for it, it is recorded and changes nothing.
    pub(super) fn phase_ended(&mut self, end: &PhaseEnd, rules: RunRules<'_>) {
        self.lines.push(Line::agent(end));
        self.attempts.insert((end.phase, end.voice.clone()), end.attempt);
        self.tree = Some(end.tree.clone());
        self.limited = if end.waits_until.is_some() { self.limited + 1 } else { 0 };
        match end.over {
            // The same step is due again: once the limit is lifted, or the run is resumed with a higher one.
            _ if end.waits_until.is_some() => return,
            Some(LimitScope::Run) => return,
            Some(LimitScope::Story) if self.kind == UnitKind::Story && end.voice.is_none() => {
                let reason = format!("{} {}: {}", end.phase, end.attempt, end.summary);
                return self.settle(StoryState::Failed, &reason);
            }
            Some(LimitScope::Story | LimitScope::Phase) | None => {}
        }
        match self.step(rules.pipeline) {
            Some(StepRef::Agent(step)) if end.voice.is_none() => {
                if !self.should_retry(end, step) {
                    self.agent_answered(end, step, rules);
                }
            }
            Some(StepRef::Party(party)) if end.voice.is_some() => {
                if !self.should_retry(end, &party.agent) {
                    self.voices.push(end.clone());
                    if party::missing(party, &self.voices).is_empty() {
                        self.party_ended(party, rules);
                    }
                }
            }
            Some(_) | None => {}
        }
    }

    fn party_ended(&mut self, party: &PartyStep, rules: RunRules<'_>) {
        let voices = std::mem::take(&mut self.voices);
        if let Some(ended) = party::outcome(party, voices) {
            self.parties.push(ended.clone());
            self.agent_answered(&ended.outcome, &party.agent, rules);
        }
    }

    /// Whether the agent is retried: the model could not be reached or the agent asks for it, and retries
    /// are left.
    fn should_retry(&mut self, end: &PhaseEnd, step: &AgentStep) -> bool {
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

    fn agent_answered(&mut self, end: &PhaseEnd, step: &AgentStep, rules: RunRules<'_>) {
        if let Position::Analysis { of, .. } = self.at {
            return self.analyzed(of, end, rules);
        }
        if let (Some(flow), false) = (&rules.pipeline.flow, step.statuses.is_empty()) {
            return self.member_ended(end, step, flow, rules);
        }
        if self.kind == UnitKind::Closing && self.at == Position::Fix {
            return self.healed(end.verdict == Some(Verdict::Complete), rules.pipeline);
        }
        if step.optional {
            if end.verdict == Some(Verdict::Complete) {
                self.record.push(end.clone());
            }
            return self.advance();
        }
        if end.phase == RunPhase::Review
            && matches!(end.verdict, Some(Verdict::Passed | Verdict::PassedWithFixes))
        {
            return self.review_passed(end, rules);
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
                    // The model could not be reached; an analysis would not find out more.
                    return self.settle(StoryState::Failed, &reason);
                }
                self.give_up(StoryState::Failed, &reason, rules);
            }
            Some(Verdict::Complete) if end.files.is_empty() && is_work(end.phase) => {
                let reason = format!("{} reports completion and changed nothing", end.phase);
                self.give_up(StoryState::Failed, &reason, rules);
            }
            Some(Verdict::Complete) => {
                self.record.push(end.clone());
                if self.at == Position::Fix {
                    self.fixes += u32::from(!std::mem::take(&mut self.resolves_conflict));
                    self.at = Position::Step(rules.pipeline.after_fix);
                } else {
                    self.findings.clear();
                    self.advance();
                }
            }
            Some(Verdict::Passed | Verdict::PassedWithFixes) => self.pass(end),
        }
    }

    /// What its work so far changes about how it is tested.
    pub fn test_setup(&self) -> Vec<String> {
        let work = self.record.iter().rev().find(|end| is_work(end.phase));
        let changes = work.map(|end| end.test_setup.as_slice()).unwrap_or_default();
        changes.iter().chain(&self.fewer_tests).cloned().collect()
    }
}

/// Whether agents of a phase are meant to change files.
pub(crate) fn is_work(phase: RunPhase) -> bool {
    matches!(phase, RunPhase::Dev | RunPhase::Fix)
}

/// The rules of the run that decide how an event changes a story.
#[derive(Clone, Copy)]
pub(super) struct RunRules<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) max_fixes: u32,
    pub(super) max_retries: u32,
}

/// A step other than the commit.
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
