//! A run as pages show it: the document of `handover status --json`, active work, and finished agents.

use std::collections::{BTreeMap, HashMap};

use handover_engine::{Price, report};
use handover_model::{
    JournalEntry, JournalKind, Receipt, ReceiptId, Run, RunId, RunState, StoryState, Timestamp,
};
use handover_store::{ReceiptFilter, RunFilter, Store};
use maud::{Markup, html};
use serde::Deserialize;

use crate::error::PageError;
use crate::site::Site;
use crate::view::excerpt;

/// A run, its journal, and the document derived from it.
pub(crate) struct RunView {
    pub(crate) run: Run,
    pub(crate) entries: Vec<JournalEntry>,
    /// `None` if the run crashed before it was planned.
    pub(crate) document: Option<RunDocument>,
}

/// The part of `handover status --json` that pages show.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunDocument {
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    pub(crate) branch: String,
    /// The commit that it began with.
    pub(crate) base: String,
    pub(crate) merge_refused: Option<String>,
    /// When the usage limit that it waits for is lifted.
    pub(crate) waits_until: Option<Timestamp>,
    pub(crate) cost_usd: f64,
    /// Agents that report no cost.
    pub(crate) unpriced: u64,
    pub(crate) tokens: u64,
    pub(crate) turns: u64,
    pub(crate) duration_ms: u64,
    pub(crate) stories: Vec<Story>,
    /// The closing steps of the epic, after its stories.
    pub(crate) closing: Option<Story>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Story {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    /// An open question to a person.
    pub(crate) question: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) failed_branch: Option<String>,
    /// What it changed about how it is tested.
    pub(crate) test_setup: Vec<String>,
    pub(crate) cost_usd: f64,
    pub(crate) unpriced: u64,
    pub(crate) phases: Vec<Phase>,
}

/// One agent or check of a story.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Phase {
    pub(crate) phase: String,
    pub(crate) attempt: u32,
    pub(crate) verdict: String,
    pub(crate) duration_ms: u64,
    pub(crate) cost_usd: f64,
    pub(crate) tokens: u64,
}

impl RunDocument {
    /// The stories and the closing steps.
    pub(crate) fn units(&self) -> impl Iterator<Item = &Story> {
        self.stories.iter().chain(&self.closing)
    }

    pub(crate) fn price(&self) -> Price {
        Price::new(self.cost_usd, self.unpriced)
    }

    pub(crate) fn state(&self) -> RunState {
        self.state.parse().unwrap_or(RunState::Running)
    }
}

impl Story {
    pub(crate) fn price(&self) -> Price {
        Price::new(self.cost_usd, self.unpriced)
    }

    pub(crate) fn state(&self) -> StoryState {
        self.state.parse().unwrap_or(StoryState::Pending)
    }
}

/// Work that has started and not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActiveWork {
    pub(crate) story: String,
    /// A phase, or another effect such as `gates`.
    pub(crate) what: String,
    pub(crate) attempt: u64,
    pub(crate) since: Timestamp,
}

/// An agent that has finished.
pub(crate) struct FinishedAgent {
    pub(crate) story: String,
    pub(crate) phase: String,
    pub(crate) attempt: u64,
    pub(crate) summary: String,
    pub(crate) receipt: Option<ReceiptId>,
    pub(crate) cost_usd: f64,
    pub(crate) at: Timestamp,
}

/// The step of a run that an agent with a receipt was.
pub(crate) struct Step {
    pub(crate) run: RunId,
    pub(crate) epic: String,
    pub(crate) story: String,
    pub(crate) phase: String,
    pub(crate) attempt: u64,
    pub(crate) verdict: String,
    pub(crate) summary: String,
}

impl Step {
    /// Leads to the page of the step.
    pub(crate) fn link(&self) -> Markup {
        html! {
            a href=(step_path(&self.run, &self.story, &self.phase, self.attempt)) {
                "Epic " (excerpt(&self.epic, 40)) ", story " (excerpt(&self.story, 60)) ", " (excerpt(&self.phase, 30)) " " (self.attempt)
            }
        }
    }
}

/// The address of one step of a run.
pub(crate) fn step_path(run: &RunId, story: &str, phase: &str, attempt: u64) -> String {
    let part = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("/runs/{run}/steps?story={}&phase={}&attempt={attempt}", part(story), part(phase))
}

/// The step of a run that a receipt belongs to, if a run made it.
pub(crate) fn step_of(site: &Site<'_>, receipt: &Receipt) -> Result<Option<Step>, PageError> {
    let runs = site.store.runs(&RunFilter { epic: None, limit: None })?;
    // The journals of other times need not be read.
    let may_be = |run: &Run| {
        run.session == receipt.session
            && (run.created_at..=run.updated_at).contains(&receipt.created_at)
    };
    for run in runs.into_iter().filter(may_be) {
        let journal = site.store.journal(&run.id, 1)?;
        let is_it = |entry: &&JournalEntry| {
            entry.entry["event"] == "phase_ended" && entry.entry["receipt"] == receipt.id.as_str()
        };
        let Some(entry) = journal.iter().rfind(is_it) else { continue };
        let text = |key: &str| entry.entry[key].as_str().unwrap_or_default().to_owned();
        return Ok(Some(Step {
            epic: run.epic.to_string(),
            run: run.id,
            story: text("story"),
            phase: text("phase"),
            attempt: entry.entry["attempt"].as_u64().unwrap_or(1),
            verdict: text("verdict"),
            summary: text("summary"),
        }));
    }
    Ok(None)
}

impl RunView {
    pub(crate) fn read(site: &Site<'_>, id: &RunId) -> Result<Self, PageError> {
        let store = site.store;
        let run = store.run_record(id)?;
        let entries = store.journal(id, 1)?;
        let document = report::of_journal(store, &run, &entries, site.machine)?;
        let document = document.map(|value| serde_json::from_value(value).unwrap_or_default());
        Ok(Self { run, entries, document })
    }

    /// The state; interrupted if there is no document.
    pub(crate) fn state(&self) -> RunState {
        match &self.document {
            Some(document) => document.state(),
            None => RunState::Interrupted,
        }
    }

    /// Intents without a result.
    pub(crate) fn active_work(&self) -> Vec<ActiveWork> {
        if self.state() != RunState::Running {
            return Vec::new();
        }
        let mut open: Vec<ActiveWork> = Vec::new();
        for entry in &self.entries {
            let text = |key: &str| entry.entry[key].as_str().unwrap_or_default();
            let attempt = entry.entry["attempt"].as_u64().unwrap_or(1);
            match entry.kind {
                JournalKind::Intent => {
                    let what =
                        if text("phase").is_empty() { text("effect") } else { text("phase") };
                    open.push(ActiveWork {
                        story: text("story").to_owned(),
                        what: what.to_owned(),
                        attempt,
                        since: entry.created_at,
                    });
                }
                JournalKind::Result => {
                    let phase = text("phase");
                    let ends = |active: &ActiveWork| {
                        active.story == text("story") && (phase.is_empty() || active.what == phase)
                    };
                    if let Some(at) = open.iter().position(ends) {
                        open.remove(at);
                    }
                }
                JournalKind::Note => {}
            }
        }
        open
    }

    /// The commit of a story, and the one that it landed on.
    pub(crate) fn landed(&self, story: &str) -> Option<(String, String)> {
        let mut before = self.document.as_ref()?.base.clone();
        let commits = self.entries.iter().filter(|entry| entry.entry["event"] == "committed");
        for entry in commits {
            let commit = entry.entry["commit"].as_str().unwrap_or_default().to_owned();
            if entry.entry["story"] == story {
                return Some((before, commit));
            }
            before = commit;
        }
        None
    }

    pub(crate) fn finished_agents(&self) -> Vec<FinishedAgent> {
        finished_agents(&self.entries)
    }

    /// Whether the last result is an answer or a retry, so that the run can be resumed.
    pub(crate) fn is_answered(&self) -> bool {
        let last = self.entries.iter().rfind(|entry| entry.kind == JournalKind::Result);
        last.is_some_and(|entry| {
            entry.entry["event"] == "answered" || entry.entry["event"] == "retried"
        })
    }

    pub(crate) fn cost_by_role(
        &self,
        store: &dyn Store,
    ) -> Result<BTreeMap<String, f64>, PageError> {
        let filter = ReceiptFilter {
            session: Some(self.run.session.clone()),
            since: Some(self.run.created_at),
            until: Some(self.run.updated_at),
            ..ReceiptFilter::default()
        };
        let receipts = match store.receipts(&filter) {
            Ok(receipts) => receipts,
            // The session may have been purged; the journal stays.
            Err(handover_store::StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let roles: HashMap<ReceiptId, String> =
            receipts.into_iter().map(|receipt| (receipt.id, receipt.role.to_string())).collect();
        let mut costs = BTreeMap::new();
        for agent in self.finished_agents() {
            let role = agent.receipt.and_then(|id| roles.get(&id).cloned());
            *costs.entry(role.unwrap_or_else(|| agent.phase.clone())).or_default() +=
                agent.cost_usd;
        }
        Ok(costs)
    }
}

/// The finished agents of a journal, in order.
pub(crate) fn finished_agents(entries: &[JournalEntry]) -> Vec<FinishedAgent> {
    let results = entries.iter().filter(|entry| entry.entry["event"] == "phase_ended");
    results
        .map(|entry| {
            let text = |key: &str| entry.entry[key].as_str().unwrap_or_default().to_owned();
            FinishedAgent {
                story: text("story"),
                phase: text("phase"),
                attempt: entry.entry["attempt"].as_u64().unwrap_or(1),
                summary: text("summary"),
                receipt: entry.entry["receipt"].as_str().and_then(|id| ReceiptId::new(id).ok()),
                cost_usd: entry.entry["spent"]["cost_usd"].as_f64().unwrap_or(0.0),
                at: entry.created_at,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use handover_model::{EpicId, SessionId};
    use serde_json::{Value, json};

    use super::*;

    fn entry(seq: u64, kind: JournalKind, entry: Value) -> JournalEntry {
        let created_at = Timestamp::from_micros(i64::try_from(seq).unwrap() * 1_000_000);
        JournalEntry { seq, kind, entry, created_at }
    }

    fn view(state: &str, entries: Vec<JournalEntry>) -> RunView {
        let run = Run {
            id: RunId::new("run_1").unwrap(),
            epic: EpicId::new("1").unwrap(),
            session: SessionId::new("s1").unwrap(),
            state: RunState::Running,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        };
        let document = RunDocument { state: state.to_owned(), ..RunDocument::default() };
        RunView { run, entries, document: Some(document) }
    }

    fn ended(seq: u64, story: &str, phase: &str, cost: f64) -> JournalEntry {
        let fields = json!({
            "event": "phase_ended", "story": story, "phase": phase, "attempt": 2,
            "summary": "Done.", "receipt": "r_1", "spent": {"cost_usd": cost},
        });
        entry(seq, JournalKind::Result, fields)
    }

    #[test]
    fn work_without_a_result_is_active() {
        let intent = |seq, story: &str, phase: &str| {
            let fields = json!({"effect": "agent", "story": story, "phase": phase, "attempt": 2});
            entry(seq, JournalKind::Intent, fields)
        };
        let gates = entry(4, JournalKind::Intent, json!({"effect": "gates", "story": "1-2"}));
        let entries = vec![
            intent(1, "1-1", "dev"),
            intent(2, "1-2", "dev"),
            ended(3, "1-2", "dev", 0.5),
            gates,
            entry(5, JournalKind::Note, json!({"note": "nothing"})),
        ];
        let active = view("running", entries.clone()).active_work();
        let names: Vec<(&str, &str, u64)> = active
            .iter()
            .map(|work| (work.story.as_str(), work.what.as_str(), work.attempt))
            .collect();
        assert_eq!(names, [("1-1", "dev", 2), ("1-2", "gates", 1)]);
        assert!(view("interrupted", entries).active_work().is_empty(), "nothing runs any more");
    }

    #[test]
    fn finished_agents_carry_cost_and_receipt() {
        let agents = finished_agents(&[
            ended(1, "1-1", "dev", 0.5),
            entry(2, JournalKind::Result, json!({"event": "committed"})),
            ended(3, "1-1", "review", 0.25),
        ]);
        assert_eq!(agents.len(), 2);
        assert_eq!((agents[0].phase.as_str(), agents[0].attempt), ("dev", 2));
        assert_eq!(agents[0].receipt.as_ref().unwrap().as_str(), "r_1");
        assert!((agents[1].cost_usd - 0.25).abs() < f64::EPSILON);
        assert_eq!(agents[1].at, Timestamp::from_micros(3_000_000));
    }

    #[test]
    fn an_answer_makes_a_run_resumable() {
        let answered = entry(1, JournalKind::Result, json!({"event": "answered"}));
        assert!(view("blocked", vec![answered.clone()]).is_answered());
        let later = entry(2, JournalKind::Result, json!({"event": "resumed"}));
        assert!(!view("blocked", vec![answered, later]).is_answered());
        assert!(!view("blocked", Vec::new()).is_answered());
    }

    #[test]
    fn unknown_states_have_a_fallback() {
        assert_eq!(view("strange", Vec::new()).state(), RunState::Running);
        let mut crashed = view("running", Vec::new());
        crashed.document = None;
        assert_eq!(crashed.state(), RunState::Interrupted);
        assert_eq!(Story::default().state(), StoryState::Pending);
    }
}
