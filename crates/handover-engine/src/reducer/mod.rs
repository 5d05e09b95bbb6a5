//! What happens next, as a pure function of what has happened. The state of a run is the fold of its
//! journal, so a run that is read back continues exactly where it stopped.
//!
//! [`State::ready`] lists everything that may be done; [`State::next`] picks what to start, given what is
//! in flight, within the limits of parallelism and budget.

mod account;
mod event;
mod failure;
mod flow;
mod ledger;
mod party;
mod plan;
mod review;
mod story;
mod uat;

use handover_model::{RunPhase, RunState, StoryState, Timestamp};

use crate::data::Spent;
use crate::pipeline::{AgentStep, PartyStep, Pipeline, Voice};

pub use event::{Approval, Effect, Event, GateOutcome, PhaseEnd};
pub(crate) use ledger::AgentLimits;
use ledger::{InFlight, Refusal, refusal};
pub use ledger::{LimitScope, Line};
pub use party::{PartyOutcome, PartyRecord, settle_party};
pub use plan::{Options, Plan, PlannedStory, Skip};
pub(crate) use story::is_work;
pub use story::{Answer, Failure, StoryRun, UnitKind};
use story::{RunRules, StepRef};
pub use uat::Uat;
use uat::UatAttempt;

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The epic, its stories and its pipeline.
    pub plan: Plan,
    /// Agent program, limits and budget.
    pub options: Options,
    /// The stories, in the order of work.
    pub stories: Vec<StoryRun>,
    /// The unit that closes the epic, if the pipeline has one.
    pub closing: Option<StoryRun>,
    /// The commit that the next story starts from.
    pub head: String,
    /// Whether it is running, stopped or finished.
    pub state: RunState,
    /// Why it stopped.
    pub stopped: Option<String>,
    /// The outcome of fast-forwarding the user's branch: `Some(None)` is a success.
    pub merged: Option<Option<String>>,
    /// Until when the agent program has reached a usage limit: no agent starts before.
    pub waits_until: Option<Timestamp>,
    /// Whether the base was checked.
    pub base_checked: bool,
    /// Tests that fail on the base.
    pub failing_on_base: Vec<String>,
    /// Variables that make tools use the code of a worktree.
    pub variables: Vec<(String, String)>,
    /// How many agents other machines offer to run; not part of the journal.
    pub helpers: u32,
}

impl State {
    /// The state after the first event of a journal.
    pub fn start(event: &Event) -> Option<Self> {
        let Event::Started { plan, options } = event else { return None };
        let unit = |planned, kind| StoryRun::new(planned, kind, &plan.pipeline);
        let story = |planned: &PlannedStory| unit(planned.clone(), UnitKind::Story);
        // An epic whose stories are all skipped needs no closing, unless it was asked for.
        let is_worked_on = plan.closes_anyway
            || plan.stories.is_empty()
            || plan.stories.iter().any(|story| story.skip.is_none());
        let is_closed = !plan.pipeline.closing.is_empty() && is_worked_on;
        let mut state = Self {
            stories: plan.stories.iter().map(story).collect(),
            closing: is_closed.then(|| unit(plan.closing(), UnitKind::Closing)),
            plan: (**plan).clone(),
            options: (**options).clone(),
            head: plan.base.clone(),
            state: RunState::Running,
            stopped: None,
            merged: None,
            waits_until: None,
            base_checked: !plan.checks_base,
            failing_on_base: Vec::new(),
            variables: Vec::new(),
            helpers: 0,
        };
        state.block_dependents_of_failed();
        Some(state)
    }

    /// Applies an event and returns what may be done now.
    pub fn handle(&mut self, event: &Event) -> Vec<Effect> {
        self.apply(event);
        self.ready()
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Started { .. } => {}
            Event::Resumed { options } => {
                self.options = (**options).clone();
                self.state = RunState::Running;
                self.stopped = None;
            }
            Event::BaseChecked { failing, variables, .. } => {
                self.base_checked = true;
                self.failing_on_base.clone_from(failing);
                self.variables.clone_from(variables);
            }
            Event::Opened { story, base, tree } => {
                self.update(story, |story, _| story.opened(base, tree));
            }
            Event::PhaseEnded(end) => {
                self.waits_until = self.waits_until.max(end.waits_until);
                self.update(&end.story, |story, rules| story.phase_ended(end, rules));
            }
            Event::GatesEnded { story, attempt, outcome, failures, detail, duration_ms } => {
                let line = Line::gates(*attempt, *outcome, *duration_ms);
                let failed = outcome.is_failure().then_some((failures.as_slice(), detail.as_str()));
                let fewer = if failed.is_none() { detail.as_str() } else { "" };
                self.update(story, |story, rules| {
                    story.gates_ended(*attempt, line, failed, fewer, rules);
                });
            }
            Event::Rebased { story, base, tree, conflicts } => {
                self.update(story, |story, rules| story.rebased(base, tree, conflicts, rules));
            }
            Event::UatEnded { story, attempt, gate, results, problem, tree, duration_ms } => {
                let uat = Uat {
                    gate: *gate,
                    results: results.clone(),
                    problem: problem.clone(),
                    approvals: Vec::new(),
                };
                let tried = UatAttempt { attempt: *attempt, uat, tree, duration_ms: *duration_ms };
                self.update(story, |story, rules| story.uat_ended(tried, rules));
            }
            Event::WaitEnded { until } => {
                self.waits_until = self.waits_until.filter(|later| later != until);
            }
            Event::GaveUp { story, reason, .. } => {
                self.update(story, |story, _| {
                    story.settle(StoryState::Failed, reason);
                    story.question = None;
                    story.is_outdated = false;
                });
            }
            Event::Refused { story, problems } => {
                self.update(story, |story, rules| story.refused(problems, rules));
            }
            Event::Committed { story, commit } => {
                self.head.clone_from(commit);
                self.update(story, |story, _| {
                    story.settle(StoryState::Done, "");
                    story.commit = Some(commit.clone());
                    story.parked = true;
                });
            }
            Event::Parked { story, branch } => self.update(story, |story, _| {
                story.parked = true;
                story.failed_branch.clone_from(branch);
            }),
            Event::Answered { story, answer, by } => {
                self.revive(story, |story, head, pipeline| {
                    story.resume_with_answer(answer, by.as_deref(), head, pipeline);
                });
            }
            Event::Retried { story, reason, by } => {
                self.revive(story, |story, head, pipeline| {
                    story.retry(reason, by.as_deref(), head, pipeline);
                });
            }
            Event::Approved { approval } => {
                let closing = self.closing.as_mut();
                if let Some(uat) = closing.and_then(|closing| closing.uat.as_mut()) {
                    uat.approvals.retain(|other| other.scenario != approval.scenario);
                    uat.approvals.push(approval.clone());
                }
            }
            Event::Merged { refused } => self.merged = Some(refused.clone()),
            Event::Stopped { state, reason } => {
                self.state = *state;
                self.stopped = Some(reason.clone());
            }
            Event::Ended { state } => self.state = *state,
        }
        self.block_dependents_of_failed();
    }

    /// Brings back a story that ended, and what waits for it; a run that was over can be resumed then.
    fn revive(&mut self, id: &str, change: impl FnOnce(&mut StoryRun, &str, &Pipeline)) {
        if self.is_over() {
            self.state = RunState::Blocked;
            self.stopped = Some(format!("`{id}` is to be continued"));
            self.merged = None;
            self.stories.iter_mut().for_each(StoryRun::forget_worktree);
            if let Some(closing) = &mut self.closing {
                closing.begin_again();
            }
        }
        let head = self.head.clone();
        self.update(id, |story, rules| change(story, &head, rules.pipeline));
        self.stories.iter_mut().for_each(StoryRun::wait_again);
    }

    /// Changes the unit with this id, if there is one.
    fn update(&mut self, id: &str, change: impl FnOnce(&mut StoryRun, RunRules<'_>)) {
        let Options { max_fixes, max_retries, .. } = self.options;
        let rules = RunRules { pipeline: &self.plan.pipeline, max_fixes, max_retries };
        let mut units = self.stories.iter_mut().chain(&mut self.closing);
        if let Some(story) = units.find(|story| story.planned.id == id) {
            change(story, rules);
        }
    }

    /// Everything that may be done now, including what is in flight already. While the agent program has
    /// reached a usage limit, agents wait.
    pub fn ready(&self) -> Vec<Effect> {
        let mut ready = self.ready_at_once();
        if let Some(until) = self.waits_until {
            let all = ready.len();
            ready.retain(|effect| !matches!(effect, Effect::Agent { .. }));
            if ready.len() < all {
                ready.push(Effect::Wait { until });
            }
        }
        ready
    }

    /// Unfinished work is parked, open stories continue, and new ones are opened. Stories come in the order
    /// of the plan.
    fn ready_at_once(&self) -> Vec<Effect> {
        if self.state != RunState::Running {
            return Vec::new();
        }
        let is_open = |story: &&StoryRun| story.state == StoryState::Pending;
        if !self.base_checked && self.stories.iter().any(|story| is_open(&story)) {
            return vec![Effect::CheckBase];
        }
        let mut ready: Vec<Effect> = self
            .stories
            .iter()
            .filter(|story| story.must_be_parked())
            .map(|story| Effect::Park { story: story.planned.id.clone() })
            .collect();
        let running = || self.stories.iter().filter(|story| story.state == StoryState::Running);
        let landing = running().find(|story| story.is_landing());
        ready.extend(running().flat_map(|story| self.ready_of(story, landing)));
        let free = self.max_parallel().saturating_sub(running().count());
        let pending = self.stories.iter().filter(|story| story.state == StoryState::Pending);
        let can_begin = pending.filter(|story| self.dependencies_settled(story)).take(free);
        ready.extend(can_begin.map(|story| Effect::Open { story: story.planned.id.clone() }));
        if ready.is_empty() {
            // A story that waits for an answer may still get one, and others may depend on it.
            return if self.questions().is_empty() {
                self.closing_effects()
            } else {
                vec![Effect::Ask]
            };
        }
        ready
    }

    /// What may be done for a story. Work lands one story at a time: while one is landing the others
    /// wait, and work that is based on an older head is rebased first.
    fn ready_of(&self, story: &StoryRun, landing: Option<&StoryRun>) -> Vec<Effect> {
        let mut ready = story.ready(&self.plan.pipeline);
        if story.is_outdated && story.base.as_ref() != Some(&self.head) {
            let story = story.planned.id.clone();
            return vec![Effect::Rebase { story, onto: self.head.clone() }];
        }
        let is_at_commit = matches!(ready.as_slice(), [Effect::Commit { .. }]);
        if is_at_commit && landing.is_some_and(|other| other.planned.id != story.planned.id) {
            return Vec::new();
        }
        if is_at_commit && story.base.as_ref() != Some(&self.head) {
            let story = story.planned.id.clone();
            ready = vec![Effect::Rebase { story, onto: self.head.clone() }];
        }
        ready
    }

    /// What follows once all stories are settled.
    fn closing_effects(&self) -> Vec<Effect> {
        if let Some(closing) = &self.closing {
            let story = closing.planned.id.clone();
            if closing.must_be_parked() {
                return vec![Effect::Park { story }];
            }
            match closing.state {
                StoryState::Pending => return vec![Effect::Open { story }],
                StoryState::Running => return closing.ready(&self.plan.pipeline),
                StoryState::Done
                | StoryState::Failed
                | StoryState::Blocked
                | StoryState::Skipped => {}
            }
        }
        if self.options.merge && self.merged.is_none() && self.head != self.plan.base {
            return vec![Effect::Merge];
        }
        vec![Effect::Finish]
    }

    /// How many stories may be open at once, on all machines together.
    fn max_parallel(&self) -> usize {
        self.options.parallel.max(1).saturating_add(self.helpers) as usize
    }

    fn dependencies_settled(&self, story: &StoryRun) -> bool {
        let is_settled = |on: &String| self.story(on).is_none_or(StoryRun::is_settled);
        story.planned.waits_for.iter().all(is_settled)
    }

    /// The next effect to start in addition to those in flight; none if they must finish first or the run is
    /// over. An agent that might exceed the budget together with those in flight waits for them, and
    /// stops the run once none is left.
    pub fn next(&self, in_flight: &[Effect]) -> Option<Effect> {
        let most = self.max_parallel().max(self.plan.pipeline.widest());
        let is_full = in_flight.iter().filter(|effect| effect.is_long()).count() >= most;
        let mut refused = None;
        for effect in self.ready() {
            if in_flight.contains(&effect) || effect.is_long() && is_full {
                continue;
            }
            match &effect {
                Effect::Agent { story, phase, attempt, voice } => {
                    match self.refusal(story, *phase, in_flight) {
                        None => return Some(effect),
                        Some(Refusal::Wait(reason)) => refused = refused.or(Some(reason)),
                        // An epic is closed without agents that exceed the budget.
                        Some(Refusal::Run(reason) | Refusal::Story(reason))
                            if self.is_closing(story) && in_flight.is_empty() =>
                        {
                            return Some(Effect::Forgo {
                                story: story.clone(),
                                phase: *phase,
                                attempt: *attempt,
                                voice: voice.clone(),
                                reason,
                            });
                        }
                        Some(Refusal::Run(reason)) => refused = refused.or(Some(reason)),
                        Some(Refusal::Story(reason)) => {
                            // Only this story ends, once none of its agents is at work.
                            let is_at_work = |other: &Effect| other.story() == Some(story);
                            if !in_flight.iter().any(is_at_work) {
                                return Some(Effect::GiveUp { story: story.clone(), reason });
                            }
                        }
                    }
                }
                Effect::Merge | Effect::Ask | Effect::Finish if !in_flight.is_empty() => {}
                Effect::CheckBase
                | Effect::Wait { .. }
                | Effect::Open { .. }
                | Effect::Gates { .. }
                | Effect::Rebase { .. }
                | Effect::Uat { .. }
                | Effect::Forgo { .. }
                | Effect::GiveUp { .. }
                | Effect::Commit { .. }
                | Effect::Park { .. }
                | Effect::Merge
                | Effect::Ask
                | Effect::Halt { .. }
                | Effect::Finish => return Some(effect),
            }
        }
        refused.filter(|_| in_flight.is_empty()).map(|reason| Effect::Halt { reason })
    }

    fn is_closing(&self, id: &str) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.planned.id == id)
    }

    fn refusal(&self, story: &str, phase: RunPhase, in_flight: &[Effect]) -> Option<Refusal> {
        let story = self.story(story)?;
        refusal(&self.options.budget, self.units(), story, phase, &agents_in(in_flight))
    }

    /// What the agents in flight are expected to use: all of them, and those of one story.
    pub fn expected(&self, in_flight: &[Effect], story: &str) -> (Spent, Spent) {
        ledger::expected(self.units(), &agents_in(in_flight), story)
    }

    /// The agent step that a story is at, for one voice if the step is a party.
    pub fn agent_of(&self, story: &StoryRun, voice: Option<&Voice>) -> Option<AgentStep> {
        match (story.step(&self.plan.pipeline)?, voice) {
            (StepRef::Agent(step), None) => Some(step.clone()),
            (StepRef::Party(party), Some(voice)) => Some(party.voice(&voice.persona, voice.round)),
            (StepRef::Agent(_) | StepRef::Party(_) | StepRef::Gates | StepRef::Uat, _) => None,
        }
    }

    /// The final state once nothing is left to do. Closing the epic has no influence on it unless
    /// `uat_blocking` is set.
    pub fn verdict(&self) -> RunState {
        let any = |state| self.stories.iter().any(|story| story.state == state);
        let given_up = self.stories.iter().any(StoryRun::was_skipped_by_an_agent);
        if any(StoryState::Failed) || given_up {
            RunState::Failed
        } else if any(StoryState::Blocked) {
            RunState::Blocked
        } else if self.options.uat_blocking
            && self.plan.pipeline.uat().is_some()
            && self.closing.as_ref().is_some_and(StoryRun::acceptance_failed)
        {
            RunState::Failed
        } else {
            RunState::Done
        }
    }

    /// The open questions, by story.
    pub fn questions(&self) -> Vec<(String, String)> {
        let open = self
            .stories
            .iter()
            .filter_map(|story| Some((story.planned.id.clone(), story.question.clone()?)));
        open.collect()
    }

    /// Whether the run is finished and cannot be resumed.
    pub fn is_over(&self) -> bool {
        self.state.is_final() && self.stopped.is_none()
    }

    /// Whether it has stopped and no story was ever opened.
    pub fn is_untouched(&self) -> bool {
        self.stopped.is_some() && self.units().all(|unit| unit.base.is_none())
    }

    /// The party that a story is at, if it is at one.
    pub fn party_of(&self, story: &StoryRun) -> Option<&PartyStep> {
        match story.step(&self.plan.pipeline)? {
            StepRef::Party(party) => Some(party),
            StepRef::Agent(_) | StepRef::Gates | StepRef::Uat => None,
        }
    }

    /// The stories and the unit that closes the epic.
    pub fn units(&self) -> impl Iterator<Item = &StoryRun> + Clone {
        self.stories.iter().chain(&self.closing)
    }

    /// A story, or the unit that closes the epic, by its id.
    pub fn story(&self, id: &str) -> Option<&StoryRun> {
        self.units().find(|story| story.planned.id == id)
    }

    /// What all units used.
    pub fn spent(&self) -> Spent {
        self.units().map(StoryRun::spent).sum()
    }

    /// Blocks pending stories that depend, directly or not, on a story that will not be finished.
    fn block_dependents_of_failed(&mut self) {
        loop {
            let failed: Vec<(String, Option<Skip>)> = self
                .stories
                .iter()
                .filter(|story| story.will_not_finish())
                .map(|story| (story.planned.id.clone(), story.planned.skip))
                .collect();
            let mut is_settled = true;
            for story in self.stories.iter_mut().filter(|one| one.state == StoryState::Pending) {
                let waits_for = story.planned.waits_for.iter();
                let on = waits_for.filter_map(|on| failed.iter().find(|(id, _)| id == on)).next();
                let Some((on, skip)) = on else { continue };
                let why = skip.and_then(Skip::keeps_waiting);
                let why = why.map(|why| format!(", {why}")).unwrap_or_default();
                story.settle(StoryState::Blocked, &format!("waits for `{on}`{why}"));
                story.parked = true;
                is_settled = false;
            }
            if is_settled {
                return;
            }
        }
    }
}

/// The agents among the effects in flight.
fn agents_in(in_flight: &[Effect]) -> Vec<InFlight<'_>> {
    let agent = |effect| {
        let &Effect::Agent { ref story, phase, .. } = effect else { return None };
        Some(InFlight { story, phase })
    };
    in_flight.iter().filter_map(agent).collect()
}

#[cfg(test)]
mod tests;
