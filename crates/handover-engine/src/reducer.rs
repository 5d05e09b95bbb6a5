//! What happens next: a pure function from what has happened. The state of a run is the fold of its
//! journal, so a run that is read back goes on exactly where it was.

use std::collections::BTreeMap;

use handover_model::config::BudgetConfig;
use handover_model::{
    EpicId, FailureClass, Host, RunPhase, RunState, RunVerdict, SessionId, StoryState,
};
use serde::{Deserialize, Serialize};

use crate::ledger::{Line, Spent, refusal};
use crate::pipeline::{AgentStep, Pipeline, Step};
use crate::verdict::Finding;

/// What a run is about; fixed when it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The epic.
    pub epic: EpicId,
    /// Its file, relative to the project.
    pub epic_file: Option<String>,
    /// Where its agents' records go.
    pub records_in: SessionId,
    /// The commit that it starts from.
    pub base: String,
    /// The user's branch, if one was checked out.
    pub user_branch: Option<String>,
    /// The branch that it makes.
    pub branch: String,
    /// Whether that branch was there before.
    pub continues: bool,
    /// What happens to a story.
    pub pipeline: Pipeline,
    /// The stories, in the order of work.
    pub stories: Vec<PlannedStory>,
}

/// A story of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStory {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its file, relative to the project.
    pub path: String,
    /// The stories that it waits for.
    pub waits_for: Vec<String>,
    /// Why it is left out, if it is.
    pub skip: Option<String>,
}

/// How a run works; can be changed when it is resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The agent program's kind.
    pub host: Host,
    /// For host `command`: the program and its arguments.
    pub command: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether commits stay off every branch.
    pub no_commit: bool,
    /// Whether the user's branch follows at the end.
    pub merge: bool,
    /// The longest phase, in seconds.
    pub phase_timeout: u64,
    /// The longest silence, in seconds.
    pub idle_timeout: u64,
    /// How often findings are mended.
    pub max_fixes: u32,
    /// What may be spent.
    pub budget: BudgetConfig,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run was planned.
    Started {
        /// What it is about.
        plan: Box<Plan>,
        /// How it works.
        options: Box<Options>,
    },
    /// The run goes on after an end that was not its own.
    Resumed {
        /// How it works from now on.
        options: Box<Options>,
    },
    /// A story has its worktree.
    Opened {
        /// The story.
        story: String,
        /// The commit that it starts from.
        base: String,
        /// What the worktree holds.
        tree: String,
    },
    /// An agent ended.
    PhaseEnded(Box<PhaseEnd>),
    /// The gates ended.
    GatesEnded {
        /// The story.
        story: String,
        /// Which time.
        attempt: u32,
        /// What they said.
        outcome: GateOutcome,
        /// What is new and wrong.
        failures: Vec<String>,
        /// The end of what failing ones printed.
        detail: String,
        /// How long they took.
        duration_ms: u64,
    },
    /// The work cannot be committed as it is.
    Refused {
        /// The story.
        story: String,
        /// Why.
        problems: Vec<String>,
    },
    /// The work is kept.
    Committed {
        /// The story.
        story: String,
        /// The commit; the head of the branch unless commits stay off it.
        commit: String,
    },
    /// What became of the work of a story that did not come to its end.
    Parked {
        /// The story.
        story: String,
        /// The branch that holds it; none if there is nothing to hold.
        branch: Option<String>,
    },
    /// The user's branch followed, or why it did not.
    Merged {
        /// Why it did not.
        refused: Option<String>,
    },
    /// The run came to a stop that is not its end.
    Stopped {
        /// What stopped it.
        state: RunState,
        /// In words.
        reason: String,
    },
    /// The run came to its end.
    Ended {
        /// How.
        state: RunState,
    },
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseEnd {
    /// The story.
    pub story: String,
    /// The phase.
    pub phase: RunPhase,
    /// Which time.
    pub attempt: u32,
    /// What it said, if that is clear and its program ended well.
    pub verdict: Option<RunVerdict>,
    /// Why there is no verdict, or what it said about it.
    pub summary: String,
    /// What is wrong, from a review.
    pub findings: Vec<Finding>,
    /// The class of failure of its program.
    pub failure: Option<FailureClass>,
    /// What the worktree holds now.
    pub tree: String,
    /// The files that differ from the base, the story's own file left out.
    pub files: Vec<String>,
    /// What was restored because the agent had no business there.
    pub restored: Vec<String>,
    /// What it used.
    pub spent: Spent,
    /// The receipt of its prompt.
    pub receipt: Option<String>,
}

/// What the gates said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// All is well, or no worse than on the base.
    Passed,
    /// The project has none.
    None,
    /// Something is new and wrong.
    Failed,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Make a story's worktree.
    Open {
        /// The story.
        story: String,
    },
    /// Run an agent.
    Agent {
        /// The story.
        story: String,
        /// The phase.
        phase: RunPhase,
        /// Which time.
        attempt: u32,
    },
    /// Run the gates.
    Gates {
        /// The story.
        story: String,
        /// Which time.
        attempt: u32,
    },
    /// Keep the work.
    Commit {
        /// The story.
        story: String,
    },
    /// Put the work of a story that did not come to its end aside.
    Park {
        /// The story.
        story: String,
    },
    /// Let the user's branch follow.
    Merge,
    /// Stop because the budget would be passed.
    Halt {
        /// Which part of it.
        reason: String,
    },
    /// Clean up and end.
    Finish,
}

/// Where a story stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryRun {
    /// The story.
    pub planned: PlannedStory,
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
    /// What the developers said, for the reviewer and the record.
    pub record: Vec<PhaseEnd>,
    /// Everything that was done.
    pub lines: Vec<Line>,
    at: usize,
    fixing: bool,
    fixes: u32,
    retries: u32,
    parked: bool,
    attempts: BTreeMap<RunPhase, u32>,
    gate_attempts: u32,
    mended_for_review: bool,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What it is about.
    pub plan: Plan,
    /// How it works.
    pub options: Options,
    /// Its stories, in the order of work.
    pub stories: Vec<StoryRun>,
    /// The commit that the next story starts from.
    pub head: String,
    /// Where it stands.
    pub state: RunState,
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
    /// Whether the user's branch followed, or why not.
    pub merged: Option<Option<String>>,
}

impl State {
    /// The state after the first event of a journal.
    pub fn start(event: &Event) -> Option<Self> {
        let Event::Started { plan, options } = event else { return None };
        let stories = plan.stories.iter().map(StoryRun::new).collect();
        let mut state = Self {
            plan: (**plan).clone(),
            options: (**options).clone(),
            stories,
            head: plan.base.clone(),
            state: RunState::Running,
            stopped: None,
            merged: None,
        };
        state.block_those_who_wait_in_vain();
        Some(state)
    }

    /// Takes an event in and says what is to be done next.
    pub fn handle(&mut self, event: &Event) -> Option<Effect> {
        self.apply(event);
        self.next()
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: &Event) {
        let options = self.options.clone();
        let pipeline = self.plan.pipeline.clone();
        match event {
            Event::Started { .. } => {}
            Event::Resumed { options } => {
                self.options = (**options).clone();
                self.state = RunState::Running;
                self.stopped = None;
            }
            Event::Opened { story, base, tree } => {
                if let Some(story) = self.story_mut(story) {
                    story.state = StoryState::Running;
                    story.base = Some(base.clone());
                    story.tree = Some(tree.clone());
                }
            }
            Event::PhaseEnded(end) => {
                if let Some(story) = self.story_mut(&end.story) {
                    story.phase_ended(end, &pipeline, options.max_fixes);
                }
            }
            Event::GatesEnded { story, attempt, outcome, failures, detail, duration_ms } => {
                if let Some(story) = self.story_mut(story) {
                    story.gate_attempts = *attempt;
                    story.lines.push(Line::gates(*attempt, *outcome, *duration_ms));
                    if *outcome == GateOutcome::Failed {
                        let findings = failures.iter().map(|text| finding(text)).collect();
                        story.gate_detail.clone_from(detail);
                        story.mend(findings, options.max_fixes, "the gates failed");
                    } else {
                        story.at += 1;
                    }
                }
            }
            Event::Refused { story, problems } => {
                if let Some(story) = self.story_mut(story) {
                    let findings = problems.iter().map(|text| finding(text)).collect();
                    story.mend(findings, options.max_fixes, "the work cannot be committed");
                }
            }
            Event::Committed { story, commit } => {
                self.head.clone_from(commit);
                if let Some(story) = self.story_mut(story) {
                    story.settle(StoryState::Done, "");
                    story.commit = Some(commit.clone());
                    story.parked = true;
                }
            }
            Event::Parked { story, branch } => {
                if let Some(story) = self.story_mut(story) {
                    story.parked = true;
                    story.failed_branch.clone_from(branch);
                }
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

    /// What is to be done next; none if the run stands still.
    pub fn next(&self) -> Option<Effect> {
        if self.state != RunState::Running {
            return None;
        }
        if let Some(story) = self.stories.iter().find(|story| story.must_be_parked()) {
            return Some(Effect::Park { story: story.planned.id.clone() });
        }
        let running = self.stories.iter().find(|story| story.state == StoryState::Running);
        if let Some(story) = running {
            return Some(self.next_of(story));
        }
        let pending = self.stories.iter().find(|story| story.state == StoryState::Pending);
        if let Some(story) = pending {
            return Some(Effect::Open { story: story.planned.id.clone() });
        }
        if self.options.merge && self.merged.is_none() && self.head != self.plan.base {
            return Some(Effect::Merge);
        }
        Some(Effect::Finish)
    }

    fn next_of(&self, story: &StoryRun) -> Effect {
        let id = story.planned.id.clone();
        match self.agent_of(story) {
            Some(step) => {
                let attempt = story.attempts.get(&step.phase).copied().unwrap_or(0) + 1;
                match refusal(&self.options.budget, &self.stories, story, step.phase) {
                    Some(reason) => Effect::Halt { reason },
                    None => Effect::Agent { story: id, phase: step.phase, attempt },
                }
            }
            None => match self.plan.pipeline.steps.get(story.at) {
                Some(Step::Gates) => Effect::Gates { story: id, attempt: story.gate_attempts + 1 },
                Some(Step::Commit | Step::Agent(_)) | None => Effect::Commit { story: id },
            },
        }
    }

    /// The agent that a story waits for, if it waits for one.
    pub fn agent_of(&self, story: &StoryRun) -> Option<&AgentStep> {
        if story.fixing {
            return Some(&self.plan.pipeline.fix);
        }
        match self.plan.pipeline.steps.get(story.at) {
            Some(Step::Agent(step)) => Some(step),
            Some(Step::Gates | Step::Commit) | None => None,
        }
    }

    /// How the run ends once nothing is left to be done.
    pub fn verdict(&self) -> RunState {
        let any = |state| self.stories.iter().any(|story| story.state == state);
        let given_up = self.stories.iter().any(StoryRun::was_skipped_by_an_agent);
        if any(StoryState::Failed) || given_up {
            RunState::Failed
        } else if any(StoryState::Blocked) {
            RunState::Blocked
        } else {
            RunState::Done
        }
    }

    /// A story by its id.
    pub fn story(&self, id: &str) -> Option<&StoryRun> {
        self.stories.iter().find(|story| story.planned.id == id)
    }

    fn story_mut(&mut self, id: &str) -> Option<&mut StoryRun> {
        self.stories.iter_mut().find(|story| story.planned.id == id)
    }

    /// Everything that was used.
    pub fn spent(&self) -> Spent {
        self.stories.iter().map(StoryRun::spent).sum()
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

fn finding(text: &str) -> Finding {
    Finding { text: text.to_owned(), ..Finding::default() }
}

impl StoryRun {
    fn new(planned: &PlannedStory) -> Self {
        let skipped = planned.skip.is_some();
        Self {
            state: if skipped { StoryState::Skipped } else { StoryState::Pending },
            reason: planned.skip.clone().unwrap_or_default(),
            planned: planned.clone(),
            base: None,
            tree: None,
            commit: None,
            failed_branch: None,
            findings: Vec::new(),
            gate_detail: String::new(),
            record: Vec::new(),
            lines: Vec::new(),
            at: 0,
            fixing: false,
            fixes: 0,
            retries: 0,
            parked: skipped,
            attempts: BTreeMap::new(),
            gate_attempts: 0,
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

    /// How often the same agent was asked in vain, which is how long to wait before the next time.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Whether it will not be done, so that nobody need wait for it.
    fn is_lost(&self) -> bool {
        matches!(self.state, StoryState::Failed | StoryState::Blocked)
            || self.was_skipped_by_an_agent()
    }

    /// Left out, and not because the user or its own status says so.
    fn was_skipped_by_an_agent(&self) -> bool {
        self.state == StoryState::Skipped && self.planned.skip.is_none()
    }

    fn must_be_parked(&self) -> bool {
        let settled =
            matches!(self.state, StoryState::Failed | StoryState::Blocked | StoryState::Skipped);
        settled && !self.parked
    }

    fn settle(&mut self, state: StoryState, reason: &str) {
        self.state = state;
        reason.clone_into(&mut self.reason);
    }

    /// What was found goes to somebody who mends it, a bounded number of times.
    fn mend(&mut self, findings: Vec<Finding>, most: u32, what: &str) {
        if self.fixes >= most {
            let first = findings.first().map(|finding| finding.text.clone()).unwrap_or_default();
            let reason = format!("{what} after {} fix(es): {first}", self.fixes);
            return self.settle(StoryState::Failed, reason.trim_end_matches([':', ' ']));
        }
        self.findings = findings;
        self.fixing = true;
    }

    fn phase_ended(&mut self, end: &PhaseEnd, pipeline: &Pipeline, max_fixes: u32) {
        self.lines.push(Line::agent(end));
        self.attempts.insert(end.phase, end.attempt);
        self.tree = Some(end.tree.clone());
        let step = if self.fixing {
            &pipeline.fix
        } else {
            match pipeline.steps.get(self.at) {
                Some(Step::Agent(step)) => step,
                Some(Step::Gates | Step::Commit) | None => return,
            }
        };
        let again = end.failure.is_some_and(FailureClass::is_transient)
            || end.verdict == Some(RunVerdict::Retry);
        if again && self.retries < step.retries {
            self.retries += 1;
            return;
        }
        self.retries = 0;
        if step.optional {
            self.at += 1;
            return;
        }
        match end.verdict {
            Some(RunVerdict::Blocked | RunVerdict::Escalate) => {
                self.settle(StoryState::Blocked, &end.summary);
            }
            Some(RunVerdict::Skip) => self.settle(StoryState::Skipped, &end.summary),
            Some(RunVerdict::Failed) if end.phase == RunPhase::Review => {
                self.review_failed(end, max_fixes);
            }
            Some(RunVerdict::Failed | RunVerdict::Retry) | None => {
                let reason = format!("{} {}: {}", end.phase, end.attempt, end.summary);
                self.settle(StoryState::Failed, &reason);
            }
            Some(RunVerdict::Complete) if end.files.is_empty() => {
                let reason =
                    format!("{} says that it is complete and has changed nothing", end.phase);
                self.settle(StoryState::Failed, &reason);
            }
            Some(RunVerdict::Complete) => {
                self.record.push(end.clone());
                if self.fixing {
                    self.fixing = false;
                    self.fixes += 1;
                    self.at = pipeline.after_fix;
                } else {
                    self.at += 1;
                }
            }
            Some(RunVerdict::Passed) => self.pass(end),
            Some(RunVerdict::PassedWithFixes) => self.pass_with_fixes(end, max_fixes),
        }
    }

    fn pass(&mut self, end: &PhaseEnd) {
        self.record.push(end.clone());
        self.at += 1;
    }

    fn review_failed(&mut self, end: &PhaseEnd, max_fixes: u32) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.summary.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() {
            return self.settle(StoryState::Failed, "the review failed and found nothing");
        }
        self.mended_for_review = true;
        self.record.push(end.clone());
        self.mend(findings, max_fixes, "the review failed");
    }

    /// A reviewer cannot mend, so what it would have mended is mended by somebody else, once; after
    /// that its word is a yes.
    fn pass_with_fixes(&mut self, end: &PhaseEnd, max_fixes: u32) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.restored.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() || self.mended_for_review || self.fixes >= max_fixes {
            return self.pass(end);
        }
        self.mended_for_review = true;
        self.record.push(end.clone());
        self.mend(findings, max_fixes, "the review asked for fixes");
    }
}
