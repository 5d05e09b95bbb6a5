//! The journal of an experiment: what happened, one line each. Its fold says which trials are still to be done, so
//! an experiment that was killed continues where it stopped and pays for nothing twice.

use std::collections::BTreeMap;
use std::path::PathBuf;

use handover_model::{Host, ReceiptId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Arm, Observation, Outcome, Trial, schedule};

/// How often a trial is tried whose agent or judge could not run.
pub const MOST_ATTEMPTS: u32 = 3;

/// What was decided when the experiment began. Only its budget may change, when it is resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment.
    pub id: String,
    /// The version of this form.
    pub version: u32,
    /// The file of tasks, as it was given.
    pub file: PathBuf,
    /// Its hash: another file is another experiment.
    pub fingerprint: String,
    /// The tasks, by name.
    pub tasks: Vec<String>,
    /// The arms.
    pub arms: Vec<Arm>,
    /// How often each task is done in each arm.
    pub repeat: u32,
    /// Decides the order of trials, and resampling.
    pub seed: u64,
    /// The agent program.
    pub host: Host,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// The most that all agents may cost, if that is limited.
    #[serde(default)]
    pub max_cost: Option<f64>,
    /// After how many seconds each agent is stopped, whatever its task says.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// When it began.
    pub created_at: Timestamp,
}

impl Plan {
    /// The version of the form that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// The most trials that an experiment may have.
    pub const MOST_TRIALS: u128 = 1_000_000;

    /// Reads a plan, and refuses one that this program would not have written.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let plan: Self =
            serde_json::from_str(text).map_err(|error| PlanError::Form(error.to_string()))?;
        plan.check().map(|()| plan)
    }

    /// Whether this program would carry it out.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.version != Self::VERSION {
            return Err(PlanError::Version(self.version));
        }
        let (tasks, arms, repeat) =
            (self.tasks.len() as u128, self.arms.len() as u128, u128::from(self.repeat));
        match tasks * arms * repeat {
            1..=Self::MOST_TRIALS => Ok(()),
            _ => Err(PlanError::Size),
        }
    }

    /// Its trials, in their order.
    pub fn trials(&self) -> Vec<Trial> {
        schedule(self.tasks.len(), &self.arms, self.repeat, self.seed)
    }
}

/// A plan that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is not what this program writes.
    #[error("{0}")]
    Form(String),
    /// Another version of this program wrote it.
    #[error("it has version {0}, and this program knows {known}", known = Plan::VERSION)]
    Version(u32),
    /// It has no trials, or too many.
    #[error("it has no trials, or more than {}", Plan::MOST_TRIALS)]
    Size,
}

/// What an agent used, and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// How the process ended, for people.
    pub ended: String,
    /// What kind of failure its program reported, if it did not end well.
    #[serde(default)]
    pub failure: Option<String>,
    /// Its cost, if the program reports it.
    pub cost_usd: Option<f64>,
    /// Its tokens, if the program reports them.
    pub tokens: Option<u64>,
    /// Its turns, if the program reports them.
    pub turns: Option<u32>,
    /// How long it took.
    pub duration_ms: u64,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// The judge of a task was seen to fail at the start.
    Checked {
        /// The task, by name.
        task: String,
        /// The time of the entry.
        at: Timestamp,
    },
    /// An agent is about to start.
    Started {
        /// The number of the trial.
        trial: usize,
        /// Its receipt.
        receipt: ReceiptId,
        /// Where it works.
        clone: PathBuf,
        /// The time of the entry.
        at: Timestamp,
    },
    /// The agent ended; its work is still to be judged.
    Ended {
        /// The number of the trial.
        trial: usize,
        /// What it used.
        agent: AgentEnd,
        /// The time of the entry.
        at: Timestamp,
    },
    /// The judge has spoken.
    Judged {
        /// The number of the trial.
        trial: usize,
        /// Whether the work is right.
        passed: bool,
        /// How the judge ended, for people.
        judge: String,
        /// The time of the entry.
        at: Timestamp,
    },
    /// The user or a usage limit of the agent program stopped it. That does not count as an attempt.
    Interrupted {
        /// The number of the trial.
        trial: usize,
        /// The time of the entry.
        at: Timestamp,
    },
    /// The trial says nothing about its arm: its agent or judge could not run.
    Dropped {
        /// The number of the trial.
        trial: usize,
        /// What the agent program or the judge failed with.
        reason: String,
        /// The time of the entry.
        at: Timestamp,
    },
}

/// A journal that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// A line that no version of this program wrote.
    #[error("line {line} of the journal cannot be read: {reason}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What its reader stumbled over.
        reason: String,
    },
    /// A trial that the plan does not have.
    #[error("line {line} of the journal names trial {trial}, but the plan has {trials}")]
    Trial {
        /// Its number, from 1.
        line: usize,
        /// The trial.
        trial: usize,
        /// How many there are.
        trials: usize,
    },
}

/// How far a trial is.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialState {
    /// It is still to be done.
    Waiting,
    /// Its agent was started, and nothing is known of its end.
    Running {
        /// The receipt, which marks its processes.
        receipt: ReceiptId,
        /// Where it works.
        clone: PathBuf,
    },
    /// Its agent ended, and its work is still to be judged.
    Unjudged {
        /// Where the work is.
        clone: PathBuf,
        /// What the agent used.
        agent: AgentEnd,
    },
    /// It was judged.
    Judged {
        /// Whether the work is right.
        passed: bool,
        /// What the agent used.
        agent: AgentEnd,
    },
    /// It could not be done, however often it was tried.
    Dropped {
        /// What the last try failed with.
        reason: String,
    },
}

/// What a journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The state of each trial, in the order of the plan.
    pub trials: Vec<(Trial, TrialState)>,
    /// Tasks whose judge was seen to fail at the start.
    pub checked: Vec<String>,
    /// What all agents cost, including those of trials that were dropped.
    pub spent_usd: f64,
    /// What the most expensive one cost.
    pub most_usd: f64,
    /// How many agents said what they cost.
    pub priced: usize,
    /// How many agents ended.
    pub ended: usize,
    attempts: BTreeMap<usize, u32>,
}

impl Progress {
    /// Nothing has happened yet.
    pub fn new(plan: &Plan) -> Self {
        let trials = plan.trials().into_iter().map(|trial| (trial, TrialState::Waiting));
        Self {
            trials: trials.collect(),
            checked: Vec::new(),
            spent_usd: 0.0,
            most_usd: 0.0,
            priced: 0,
            ended: 0,
            attempts: BTreeMap::new(),
        }
    }

    /// Reads a journal. A last line without an end was being written when the program was killed, and never counted.
    pub fn read(plan: &Plan, journal: &str) -> Result<Self, JournalError> {
        let mut progress = Self::new(plan);
        let whole = journal.rfind('\n').map_or("", |end| &journal[..end]);
        for (number, text) in whole.lines().enumerate() {
            let line = number + 1;
            let entry: Entry = serde_json::from_str(text)
                .map_err(|error| JournalError::Line { line, reason: error.to_string() })?;
            let trials = progress.trials.len();
            progress.add(entry).map_err(|trial| JournalError::Trial { line, trial, trials })?;
        }
        Ok(progress)
    }

    /// Adds an entry; fails with the number of a trial that the plan does not have.
    pub fn add(&mut self, entry: Entry) -> Result<(), usize> {
        let of = match &entry {
            Entry::Checked { .. } => None,
            Entry::Started { trial, .. }
            | Entry::Ended { trial, .. }
            | Entry::Judged { trial, .. }
            | Entry::Interrupted { trial, .. }
            | Entry::Dropped { trial, .. } => Some(*trial),
        };
        let state = match of {
            None => None,
            Some(trial) => Some(&mut self.trials.get_mut(trial).ok_or(trial)?.1),
        };
        match (entry, state) {
            (Entry::Checked { task, .. }, _) => self.checked.push(task),
            (Entry::Started { receipt, clone, .. }, Some(state)) => {
                *state = TrialState::Running { receipt, clone };
            }
            (Entry::Ended { agent, .. }, Some(state)) => {
                let cost = agent.cost_usd.unwrap_or_default();
                self.spent_usd += cost;
                self.most_usd = self.most_usd.max(cost);
                self.priced += usize::from(agent.cost_usd.is_some());
                self.ended += 1;
                if let TrialState::Running { clone, .. } = state {
                    *state = TrialState::Unjudged { clone: std::mem::take(clone), agent };
                }
            }
            (Entry::Judged { passed, .. }, Some(state)) => {
                if let TrialState::Unjudged { agent, .. } = state {
                    *state = TrialState::Judged { passed, agent: std::mem::take(agent) };
                }
            }
            (Entry::Interrupted { .. }, Some(state)) => *state = TrialState::Waiting,
            // Only what is said here was an attempt: neither an interruption nor a machine that died was one.
            (Entry::Dropped { trial, reason, .. }, Some(state)) => {
                let attempts = self.attempts.entry(trial).or_default();
                *attempts += 1;
                *state = match *attempts >= MOST_ATTEMPTS {
                    true => TrialState::Dropped { reason },
                    false => TrialState::Waiting,
                };
            }
            (_, None) => {}
        }
        Ok(())
    }

    /// The first trial that is not over.
    pub fn next(&self) -> Option<usize> {
        self.trials.iter().position(|(_, state)| {
            !matches!(state, TrialState::Judged { .. } | TrialState::Dropped { .. })
        })
    }

    /// How many trials were judged.
    pub fn judged(&self) -> usize {
        self.trials.iter().filter(|(_, state)| matches!(state, TrialState::Judged { .. })).count()
    }

    /// Whether a task was done once in every arm: only then is there anything to compare.
    pub fn has_round(&self, arms: usize) -> bool {
        let mut judged: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for (trial, state) in &self.trials {
            if matches!(state, TrialState::Judged { .. }) {
                *judged.entry((trial.task, trial.repetition)).or_default() += 1;
            }
        }
        judged.values().any(|count| *count >= arms)
    }

    /// How many trials could not be done.
    pub fn dropped(&self) -> usize {
        self.trials.iter().filter(|(_, state)| matches!(state, TrialState::Dropped { .. })).count()
    }

    /// What was seen, for the statistics.
    pub fn observations(&self) -> Vec<Observation> {
        let seen = self.trials.iter().filter_map(|(trial, state)| match state {
            TrialState::Judged { passed, agent } => Some(Observation {
                trial: *trial,
                outcome: Outcome {
                    passed: *passed,
                    cost_usd: agent.cost_usd,
                    tokens: agent.tokens.map(|tokens| tokens as f64),
                    turns: agent.turns.map(f64::from),
                },
            }),
            TrialState::Waiting
            | TrialState::Running { .. }
            | TrialState::Unjudged { .. }
            | TrialState::Dropped { .. } => None,
        });
        seen.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            id: "x1".to_owned(),
            version: Plan::VERSION,
            file: "tasks.toml".into(),
            fingerprint: "f".to_owned(),
            tasks: vec!["a".to_owned(), "b".to_owned()],
            arms: vec![Arm::Bare, Arm::Brief],
            repeat: 1,
            seed: 1,
            host: Host::COMMAND,
            model: None,
            max_cost: None,
            timeout: None,
            created_at: Timestamp::default(),
        }
    }

    fn started(trial: usize) -> Entry {
        let receipt = ReceiptId::new("r_1").unwrap();
        Entry::Started { trial, receipt, clone: "/c".into(), at: Timestamp::default() }
    }

    fn ended(trial: usize, cost: f64) -> Entry {
        let agent = AgentEnd { cost_usd: Some(cost), ..AgentEnd::default() };
        Entry::Ended { trial, agent, at: Timestamp::default() }
    }

    fn judged(trial: usize, passed: bool) -> Entry {
        Entry::Judged { trial, passed, judge: "exit 0".to_owned(), at: Timestamp::default() }
    }

    fn dropped(trial: usize) -> Entry {
        Entry::Dropped { trial, reason: "no network".to_owned(), at: Timestamp::default() }
    }

    fn text(entries: &[Entry]) -> String {
        entries.iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n").collect()
    }

    #[test]
    fn a_plan_that_nobody_can_carry_out_is_refused() {
        let text = |plan: &Plan| serde_json::to_string(plan).unwrap();
        assert_eq!(Plan::read(&text(&plan())), Ok(plan()));
        let huge = Plan { repeat: u32::MAX, ..plan() };
        assert_eq!(Plan::read(&text(&huge)), Err(PlanError::Size));
        assert_eq!(Plan::read(&text(&Plan { arms: Vec::new(), ..plan() })), Err(PlanError::Size));
        assert_eq!(Plan::read(&text(&Plan { version: 9, ..plan() })), Err(PlanError::Version(9)));
        assert!(matches!(Plan::read("{}"), Err(PlanError::Form(_))));
    }

    #[test]
    fn the_fold_says_what_is_left_at_every_point() {
        let entries = [started(0), ended(0, 0.5), judged(0, true), started(1), ended(1, 0.25)];
        let at = |count: usize| Progress::read(&plan(), &text(&entries[..count])).unwrap();
        assert_eq!(at(0).next(), Some(0));
        assert!(matches!(at(1).trials[0].1, TrialState::Running { .. }));
        assert!(matches!(at(2).trials[0].1, TrialState::Unjudged { .. }));
        assert_eq!((at(3).next(), at(3).judged()), (Some(1), 1));
        assert_eq!((at(5).spent_usd, at(5).most_usd), (0.75, 0.5));
        assert_eq!(at(5).observations().len(), 1);
        assert!(!at(5).has_round(2) && at(3).has_round(1));
        // Cut anywhere, the journal is a journal of what came before.
        let whole = text(&entries);
        for end in 0..whole.len() {
            let lines = whole[..end].matches('\n').count();
            assert_eq!(Progress::read(&plan(), &whole[..end]).unwrap(), at(lines));
        }
    }

    #[test]
    fn a_dropped_trial_is_tried_again_but_not_for_ever() {
        let mut progress = Progress::new(&plan());
        for attempt in 1..=MOST_ATTEMPTS {
            for entry in [started(0), ended(0, 1.0), dropped(0)] {
                progress.add(entry).unwrap();
            }
            assert_eq!(progress.next(), Some(usize::from(attempt == MOST_ATTEMPTS)));
        }
        assert_eq!((progress.dropped(), progress.spent_usd), (1, 3.0));
        assert!(progress.observations().is_empty());
    }

    #[test]
    fn an_interruption_is_no_attempt() {
        let mut progress = Progress::new(&plan());
        for _ in 0..9 {
            for entry in [
                started(0),
                ended(0, 1.0),
                Entry::Interrupted { trial: 0, at: Timestamp::default() },
            ] {
                progress.add(entry).unwrap();
            }
        }
        // Neither is a machine that died.
        for entry in [started(0), started(0), started(0), started(0), ended(0, 1.0), dropped(0)] {
            progress.add(entry).unwrap();
        }
        assert_eq!((progress.next(), progress.dropped(), progress.spent_usd), (Some(0), 0, 10.0));
        assert_eq!((progress.priced, progress.ended), (10, 10));
    }

    #[test]
    fn what_nobody_wrote_is_an_error() {
        let read = |text: &str| Progress::read(&plan(), text).unwrap_err().to_string();
        assert!(read("{}\n").starts_with("line 1 of the journal cannot be read"));
        assert!(read(&text(&[started(9)])).contains("names trial 9, but the plan has 4"));
    }
}
