//! What happens next: a pure function from what has happened. The state of a run is the fold of its
//! journal, so a run that is read back goes on exactly where it was.
//!
//! [`State::ready`] is everything that may be done; [`State::next`] is what is begun, given what is
//! going on already, within the limits of numbers and money.

mod event;
mod failure;
mod flow;
mod party;
mod plan;
mod story;
mod uat;

use handover_model::{RunPhase, RunState, StoryState};

use crate::ledger::{InFlight, Line, Spent, refusal};
use crate::pipeline::{AgentStep, PartyStep, Voice};

pub use event::{Effect, Event, GateOutcome, PhaseEnd};
pub use party::{Party, Settled, settle_party};
pub use plan::{Options, Plan, PlannedStory};
pub(crate) use story::is_work;
pub use story::{Answer, Failure, StoryRun, UnitKind};
use story::{Rules, StepRef};
use uat::Tried;
pub use uat::Uat;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What it is about.
    pub plan: Plan,
    /// How it works.
    pub options: Options,
    /// Its stories, in the order of work.
    pub stories: Vec<StoryRun>,
    /// What closes the epic, if its pipeline has something for that.
    pub closing: Option<StoryRun>,
    /// The commit that the next story starts from.
    pub head: String,
    /// Where it stands.
    pub state: RunState,
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
    /// Whether the user's branch followed, or why not.
    pub merged: Option<Option<String>>,
    /// How much other machines would do at once; not part of the journal.
    pub helpers: u32,
}

impl State {
    /// The state after the first event of a journal.
    pub fn start(event: &Event) -> Option<Self> {
        let Event::Started { plan, options } = event else { return None };
        let unit = |planned, kind| StoryRun::new(planned, kind, &plan.pipeline);
        let story = |planned: &PlannedStory| unit(planned.clone(), UnitKind::Story);
        // An epic of which nothing is worked on needs no closing.
        let is_worked_on =
            plan.stories.is_empty() || plan.stories.iter().any(|story| story.skip.is_none());
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
            helpers: 0,
        };
        state.block_those_who_wait_in_vain();
        Some(state)
    }

    /// Takes an event in and says what may be done now.
    pub fn handle(&mut self, event: &Event) -> Vec<Effect> {
        self.apply(event);
        self.ready()
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Started { .. } => {}
            Event::Resumed { options } => {
                self.options = (**options).clone();
                self.state = RunState::Running;
                self.stopped = None;
            }
            Event::Opened { story, base, tree } => {
                self.with(story, |story, _| story.opened(base, tree));
            }
            Event::PhaseEnded(end) => {
                self.with(&end.story, |story, rules| story.phase_ended(end, rules));
            }
            Event::GatesEnded { story, attempt, outcome, failures, detail, duration_ms } => {
                let line = Line::gates(*attempt, *outcome, *duration_ms);
                let failed = outcome.is_failure().then_some((failures.as_slice(), detail.as_str()));
                self.with(story, |story, rules| story.gates_ended(*attempt, line, failed, rules));
            }
            Event::Rebased { story, base, tree, conflicts } => {
                self.with(story, |story, rules| story.rebased(base, tree, conflicts, rules));
            }
            Event::UatEnded { story, attempt, gate, results, problem, tree, duration_ms } => {
                let uat = Uat { gate: *gate, results: results.clone(), problem: problem.clone() };
                let tried = Tried { attempt: *attempt, uat, tree, duration_ms: *duration_ms };
                self.with(story, |story, rules| story.uat_ended(tried, rules));
            }
            Event::Refused { story, problems } => {
                self.with(story, |story, rules| story.refused(problems, rules));
            }
            Event::Committed { story, commit } => {
                self.head.clone_from(commit);
                self.with(story, |story, _| {
                    story.settle(StoryState::Done, "");
                    story.commit = Some(commit.clone());
                    story.parked = true;
                });
            }
            Event::Parked { story, branch } => self.with(story, |story, _| {
                story.parked = true;
                story.failed_branch.clone_from(branch);
            }),
            Event::Answered { story, answer } => {
                let head = self.head.clone();
                self.with(story, |story, rules| story.was_answered(answer, &head, rules.pipeline));
            }
            Event::Merged { refused } => self.merged = Some(refused.clone()),
            Event::Stopped { state, reason } => {
                self.state = *state;
                self.stopped = Some(reason.clone());
            }
            Event::Ended { state } => self.state = *state,
        }
        self.block_those_who_wait_in_vain();
    }

    /// Does something to a unit, if it is there.
    fn with(&mut self, id: &str, change: impl FnOnce(&mut StoryRun, Rules<'_>)) {
        let Options { max_fixes, max_retries, .. } = self.options;
        let rules = Rules { pipeline: &self.plan.pipeline, max_fixes, max_retries };
        let mut units = self.stories.iter_mut().chain(&mut self.closing);
        if let Some(story) = units.find(|story| story.planned.id == id) {
            change(story, rules);
        }
    }

    /// Everything that may be done now, whether or not it is going on already: what failed is put
    /// aside, what is open goes on, and what can be opened is. Stories come in the order of the plan.
    pub fn ready(&self) -> Vec<Effect> {
        if self.state != RunState::Running {
            return Vec::new();
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
        let free = self.at_once().saturating_sub(running().count());
        let pending = self.stories.iter().filter(|story| story.state == StoryState::Pending);
        let can_begin = pending.filter(|story| self.nobody_to_wait_for(story)).take(free);
        ready.extend(can_begin.map(|story| Effect::Open { story: story.planned.id.clone() }));
        if ready.is_empty() {
            // Whoever waits for an answer may still be told one, and others may wait for them.
            return if self.questions().is_empty() { self.close() } else { vec![Effect::Ask] };
        }
        ready
    }

    /// What may be done for a story. Work is kept one story at a time: as long as one is on its way to
    /// the branch, the others wait, and what was made for an older head is moved to the new one.
    fn ready_of(&self, story: &StoryRun, landing: Option<&StoryRun>) -> Vec<Effect> {
        let mut ready = story.ready(&self.plan.pipeline);
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

    /// What comes after all stories.
    fn close(&self) -> Vec<Effect> {
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

    /// How many stories are worked on at once, by all machines together.
    fn at_once(&self) -> usize {
        self.options.parallel.max(1).saturating_add(self.helpers) as usize
    }

    fn nobody_to_wait_for(&self, story: &StoryRun) -> bool {
        let is_settled = |on: &String| self.story(on).is_none_or(StoryRun::is_settled);
        story.planned.waits_for.iter().all(is_settled)
    }

    /// What is begun next beside what is going on; none if that must end first, or all is at an end.
    /// An agent that could pass a limit together with those at work waits for them, and stops the run
    /// once nobody is at work any more.
    pub fn next(&self, busy: &[Effect]) -> Option<Effect> {
        let most = self.at_once().max(self.plan.pipeline.widest());
        let is_full = busy.iter().filter(|effect| effect.is_long()).count() >= most;
        let mut refused = None;
        for effect in self.ready() {
            if busy.contains(&effect) || effect.is_long() && is_full {
                continue;
            }
            match &effect {
                Effect::Agent { story, phase, attempt, voice } => {
                    match self.refusal(story, *phase, busy) {
                        None => return Some(effect),
                        // An epic is closed without those whom nobody can pay.
                        Some(reason) if self.is_closing(story) && busy.is_empty() => {
                            return Some(Effect::Forgo {
                                story: story.clone(),
                                phase: *phase,
                                attempt: *attempt,
                                voice: voice.clone(),
                                reason,
                            });
                        }
                        Some(reason) => refused = refused.or(Some(reason)),
                    }
                }
                Effect::Merge | Effect::Ask | Effect::Finish if !busy.is_empty() => {}
                Effect::Open { .. }
                | Effect::Gates { .. }
                | Effect::Rebase { .. }
                | Effect::Uat { .. }
                | Effect::Forgo { .. }
                | Effect::Commit { .. }
                | Effect::Park { .. }
                | Effect::Merge
                | Effect::Ask
                | Effect::Halt { .. }
                | Effect::Finish => return Some(effect),
            }
        }
        refused.filter(|_| busy.is_empty()).map(|reason| Effect::Halt { reason })
    }

    fn is_closing(&self, id: &str) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.planned.id == id)
    }

    fn refusal(&self, story: &str, phase: RunPhase, busy: &[Effect]) -> Option<String> {
        let story = self.story(story)?;
        refusal(&self.options.budget, self.units(), story, phase, &in_flight(busy))
    }

    /// What those who are at work can be expected to use, all of them and those of one story.
    pub fn expected(&self, busy: &[Effect], story: &str) -> (Spent, Spent) {
        crate::ledger::expected(self.units(), &in_flight(busy), story)
    }

    /// The agent of a story that a voice, or nobody in particular, is asked for.
    pub fn agent_of(&self, story: &StoryRun, voice: Option<&Voice>) -> Option<AgentStep> {
        match (story.step(&self.plan.pipeline)?, voice) {
            (StepRef::Agent(step), None) => Some(step.clone()),
            (StepRef::Party(party), Some(voice)) => Some(party.voice(&voice.persona, voice.round)),
            (StepRef::Agent(_) | StepRef::Party(_) | StepRef::Gates | StepRef::Uat, _) => None,
        }
    }

    /// How the run ends once nothing is left to be done. What closes an epic has no say in it, unless
    /// somebody wants it to.
    pub fn verdict(&self) -> RunState {
        let any = |state| self.stories.iter().any(|story| story.state == state);
        let given_up = self.stories.iter().any(StoryRun::was_skipped_by_an_agent);
        if any(StoryState::Failed) || given_up {
            RunState::Failed
        } else if any(StoryState::Blocked) {
            RunState::Blocked
        } else if self.options.uat_blocking
            && self.plan.pipeline.uat().is_some()
            && self.closing.as_ref().is_some_and(StoryRun::was_not_accepted)
        {
            RunState::Failed
        } else {
            RunState::Done
        }
    }

    /// What a person must answer, by story.
    pub fn questions(&self) -> Vec<(String, String)> {
        let open = self
            .stories
            .iter()
            .filter_map(|story| Some((story.planned.id.clone(), story.question.clone()?)));
        open.collect()
    }

    /// Whether nothing is left to be resumed.
    pub fn is_over(&self) -> bool {
        self.state.is_final() && self.stopped.is_none()
    }

    /// The party that a story waits for, if it waits for one.
    pub fn party_of(&self, story: &StoryRun) -> Option<&PartyStep> {
        match story.step(&self.plan.pipeline)? {
            StepRef::Party(party) => Some(party),
            StepRef::Agent(_) | StepRef::Gates | StepRef::Uat => None,
        }
    }

    /// Its stories and what closes the epic.
    pub fn units(&self) -> impl Iterator<Item = &StoryRun> + Clone {
        self.stories.iter().chain(&self.closing)
    }

    /// A story, or what closes the epic, by its id.
    pub fn story(&self, id: &str) -> Option<&StoryRun> {
        self.units().find(|story| story.planned.id == id)
    }

    /// Everything that was used.
    pub fn spent(&self) -> Spent {
        self.units().map(StoryRun::spent).sum()
    }

    /// Whoever waits for a story that will not be done is blocked, and so on.
    fn block_those_who_wait_in_vain(&mut self) {
        loop {
            let lost: Vec<String> = self
                .stories
                .iter()
                .filter(|story| story.is_lost())
                .map(|story| story.planned.id.clone())
                .collect();
            let waits = |story: &&mut StoryRun| {
                story.state == StoryState::Pending
                    && story.planned.waits_for.iter().any(|on| lost.contains(on))
            };
            let Some(story) = self.stories.iter_mut().find(waits) else { return };
            let on = story.planned.waits_for.iter().find(|on| lost.contains(on)).cloned();
            let reason = format!("waits for `{}`", on.unwrap_or_default());
            story.settle(StoryState::Blocked, &reason);
            story.parked = true;
        }
    }
}

/// The agents at work.
fn in_flight(busy: &[Effect]) -> Vec<InFlight<'_>> {
    let agent = |effect| {
        let &Effect::Agent { ref story, phase, .. } = effect else { return None };
        Some(InFlight { story, phase })
    };
    busy.iter().filter_map(agent).collect()
}
