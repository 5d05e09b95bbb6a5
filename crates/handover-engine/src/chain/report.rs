//! The result of a chain: cost, time and failures of each epic.

use handover_model::{EpicId, RunId, RunState, StoryState};
use serde_json::{Value, json};

use super::ChainLink;
use crate::Spent;
use crate::reducer::State;

/// The result of a chain.
#[derive(Debug, Clone)]
pub struct Report {
    /// The worst state of its epics, or what stopped it.
    pub state: RunState,
    /// Its epics, in the order of work.
    pub epics: Vec<EpicReport>,
}

/// The result of one epic.
#[derive(Debug, Clone)]
pub struct EpicReport {
    /// The epic.
    pub epic: EpicId,
    /// The epics that it depends on.
    pub builds_on: Vec<EpicId>,
    /// The state of its run; none if it has not started.
    pub state: Option<RunState>,
    /// The reason for that state.
    pub reason: String,
    /// Its run.
    pub run: Option<RunId>,
    /// Its branch.
    pub branch: Option<String>,
    /// The commit that it ended with.
    pub head: Option<String>,
    /// What it used.
    pub spent: Spent,
    /// The number of stories in each state.
    pub stories: Vec<(StoryState, usize)>,
    /// The stories that are not done, with state and reason.
    pub failures: Vec<(String, StoryState, String)>,
    /// The results of its acceptance scenarios, if there were any.
    pub uat: Option<Value>,
}

impl Report {
    pub(super) fn new(epics: Vec<EpicReport>, stopped: Option<RunState>) -> Self {
        let any = |state| epics.iter().any(|epic| epic.state == Some(state));
        let state = stopped.unwrap_or_else(|| {
            let order = [RunState::Failed, RunState::Blocked];
            order.into_iter().find(|state| any(*state)).unwrap_or(RunState::Done)
        });
        Self { state, epics }
    }

    /// What all epics used.
    pub fn spent(&self) -> Spent {
        self.epics.iter().map(|epic| epic.spent).sum()
    }

    /// The chain as one JSON document.
    pub fn document(&self) -> Value {
        let spent = self.spent();
        json!({
            "state": self.state,
            "cost_usd": spent.cost_usd,
            "unpriced": spent.unpriced,
            "tokens": spent.tokens,
            "duration_ms": spent.duration_ms,
            "epics": self.epics.iter().map(EpicReport::document).collect::<Vec<_>>(),
        })
    }
}

impl EpicReport {
    pub(super) fn new(link: &ChainLink) -> Self {
        Self {
            epic: link.epic.clone(),
            builds_on: link.builds_on.clone(),
            state: None,
            reason: String::new(),
            run: None,
            branch: None,
            head: None,
            spent: Spent::default(),
            stories: Vec::new(),
            failures: Vec::new(),
            uat: None,
        }
    }

    pub(super) fn block(&mut self, reason: String) {
        self.state = Some(RunState::Blocked);
        self.reason = reason;
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.state = Some(RunState::Failed);
        self.reason = reason;
    }

    pub(super) fn ran(&mut self, run: &RunId, state: &State) {
        self.state = Some(state.state);
        self.reason = state.stopped.clone().unwrap_or_default();
        self.run = Some(run.clone());
        self.branch = Some(state.plan.branch.clone());
        self.head = Some(state.head.clone());
        self.spent = state.spent();
        self.stories = crate::report::counts(state);
        let is_lost = |state: StoryState| {
            matches!(state, StoryState::Failed | StoryState::Blocked | StoryState::Skipped)
        };
        self.failures = state
            .stories
            .iter()
            .filter(|story| is_lost(story.state) && story.planned.skip.is_none())
            .map(|story| (story.planned.id.clone(), story.state, story.reason.clone()))
            .collect();
        self.uat = crate::report::uat(state);
    }

    fn document(&self) -> Value {
        let stories: serde_json::Map<String, Value> =
            self.stories.iter().map(|(state, count)| (state.to_string(), json!(count))).collect();
        let failures: Vec<Value> = self
            .failures
            .iter()
            .map(|(id, state, reason)| json!({"story": id, "state": state, "reason": reason}))
            .collect();
        json!({
            "epic": self.epic,
            "builds_on": self.builds_on,
            "state": self.state.map_or("pending", RunState::as_str),
            "reason": Some(&self.reason).filter(|reason| !reason.is_empty()),
            "run": self.run,
            "branch": self.branch,
            "head": self.head,
            "cost_usd": self.spent.cost_usd,
            "unpriced": self.spent.unpriced,
            "tokens": self.spent.tokens,
            "duration_ms": self.spent.duration_ms,
            "stories": stories,
            "failures": failures,
            "uat": self.uat,
        })
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{RunPhase, Verdict};

    use super::*;
    use crate::reducer::Event;
    use crate::testing::{ended, event, opened, start, story};

    fn link(epic: &str, builds_on: &[&str]) -> ChainLink {
        let id = |epic: &str| EpicId::new(epic).unwrap();
        ChainLink { epic: id(epic), builds_on: builds_on.iter().map(|on| id(on)).collect() }
    }

    fn with_state(state: Option<RunState>) -> EpicReport {
        EpicReport { state, ..EpicReport::new(&link("1", &[])) }
    }

    #[test]
    fn the_worst_epic_decides_unless_something_stopped_the_chain() {
        use RunState::{Blocked, Budget, Done, Failed};
        let state = |epics: &[Option<RunState>], stopped| {
            Report::new(epics.iter().map(|state| with_state(*state)).collect(), stopped).state
        };
        assert_eq!(state(&[Some(Done), Some(Done)], None), Done);
        assert_eq!(state(&[Some(Done), Some(Blocked)], None), Blocked);
        assert_eq!(state(&[Some(Blocked), Some(Failed), Some(Done)], None), Failed);
        assert_eq!(state(&[Some(Failed), Some(Budget), None], Some(Budget)), Budget);
        assert_eq!(state(&[], None), Done);
    }

    #[test]
    fn an_epic_reports_the_results_of_its_run() {
        let mut state = start(story(), &["a", "b", "c"]);
        state.stories[2].planned.skip = Some(crate::reducer::Skip::Done);
        state.stories[2].state = StoryState::Skipped;
        state.apply(&opened("a"));
        let mut end = ended("a", RunPhase::Dev, Some(Verdict::Blocked));
        end.spent = Spent { cost_usd: 0.5, unpriced: 1, tokens: 9, turns: 1, duration_ms: 70 };
        state.apply(&event(end));
        state.apply(&Event::Committed { story: "b".to_owned(), commit: "c1".to_owned() });
        state.apply(&Event::Stopped { state: RunState::Budget, reason: "no money".to_owned() });
        let mut report = EpicReport::new(&link("1", &["0"]));
        let run = RunId::new("run_1").unwrap();
        report.ran(&run, &state);
        let chain = Report::new(vec![report, with_state(None)], Some(RunState::Budget));
        assert_eq!(chain.spent().tokens, 9);
        let document = chain.document();
        assert_eq!(
            document,
            json!({
                "state": "budget", "cost_usd": 0.5, "unpriced": 1, "tokens": 9, "duration_ms": 70,
                "epics": [
                    {
                        "epic": "1", "builds_on": ["0"], "state": "budget", "reason": "no money",
                        "run": "run_1", "branch": "handover/epic-1", "head": "c1",
                        "cost_usd": 0.5, "unpriced": 1, "tokens": 9, "duration_ms": 70,
                        "stories": {"done": 1, "blocked": 1, "skipped": 1},
                        "failures": [{"story": "a", "state": "blocked", "reason": "dev of a"}],
                        "uat": null,
                    },
                    {
                        "epic": "1", "builds_on": [], "state": "pending", "reason": null, "run": null,
                        "branch": null, "head": null, "cost_usd": 0.0, "unpriced": 0, "tokens": 0, "duration_ms": 0,
                        "stories": {}, "failures": [], "uat": null,
                    },
                ],
            })
        );
    }

    #[test]
    fn an_epic_without_a_run_is_blocked_or_failed() {
        let mut report = with_state(None);
        report.block("waits for epic `0`".to_owned());
        assert_eq!(report.document()["state"], "blocked");
        assert_eq!(report.document()["reason"], "waits for epic `0`");
        report.fail("no stories".to_owned());
        assert_eq!(report.document()["state"], "failed");
        assert!(report.run.is_none());
    }
}
