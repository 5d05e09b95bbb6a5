//! A run as its journal tells it: the document that scripts get, what is going on at this moment, and
//! what every agent cost.

use std::collections::{BTreeMap, HashMap};

use handover_engine::report;
use handover_model::{
    JournalEntry, JournalKind, ReceiptId, Run, RunId, RunState, StoryState, Timestamp,
};
use handover_store::{ReceiptFilter, Store};
use serde::Deserialize;

use crate::Site;
use crate::route::Trouble;

/// A run.
pub(crate) struct Told {
    pub(crate) run: Run,
    pub(crate) entries: Vec<JournalEntry>,
    /// None if it died before it was planned.
    pub(crate) document: Option<Document>,
}

/// What scripts get of a run, as far as pages show it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    pub(crate) branch: String,
    pub(crate) merge_refused: Option<String>,
    pub(crate) cost_usd: f64,
    pub(crate) tokens: u64,
    pub(crate) turns: u64,
    pub(crate) duration_ms: u64,
    pub(crate) stories: Vec<Story>,
    /// What follows once every story is settled.
    pub(crate) closing: Option<Story>,
}

/// A story of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Story {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
    /// What a person is asked.
    pub(crate) question: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) failed_branch: Option<String>,
    pub(crate) cost_usd: f64,
    pub(crate) phases: Vec<Phase>,
}

/// One thing that was done for a story.
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

impl Document {
    /// The stories, and what follows them.
    pub(crate) fn units(&self) -> impl Iterator<Item = &Story> {
        self.stories.iter().chain(&self.closing)
    }

    pub(crate) fn state(&self) -> RunState {
        self.state.parse().unwrap_or(RunState::Running)
    }
}

impl Story {
    pub(crate) fn state(&self) -> StoryState {
        self.state.parse().unwrap_or(StoryState::Pending)
    }
}

/// What is being done at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doing {
    pub(crate) story: String,
    /// A phase, or another effect such as `gates`.
    pub(crate) what: String,
    pub(crate) attempt: u64,
    pub(crate) since: Timestamp,
}

/// An agent that ended.
pub(crate) struct Ended {
    pub(crate) story: String,
    pub(crate) phase: String,
    pub(crate) attempt: u64,
    pub(crate) summary: String,
    pub(crate) receipt: Option<ReceiptId>,
    pub(crate) cost_usd: f64,
    pub(crate) at: Timestamp,
}

impl Told {
    pub(crate) fn read(site: &Site<'_>, id: &RunId) -> Result<Self, Trouble> {
        let store = site.store;
        let run = store.run_record(id)?;
        let entries = store.journal(id, 1)?;
        let document = report::of_run(store, &run, site.machine)?;
        let document = document.map(|value| serde_json::from_value(value).unwrap_or_default());
        Ok(Self { run, entries, document })
    }

    /// Where it stands, whatever could be read of it.
    pub(crate) fn state(&self) -> RunState {
        match &self.document {
            Some(document) => document.state(),
            None => RunState::Interrupted,
        }
    }

    /// What was begun for each story and has not ended.
    pub(crate) fn doing(&self) -> Vec<Doing> {
        if self.state() != RunState::Running {
            return Vec::new();
        }
        let mut open: Vec<Doing> = Vec::new();
        for entry in &self.entries {
            let text = |key: &str| entry.entry[key].as_str().unwrap_or_default();
            let attempt = entry.entry["attempt"].as_u64().unwrap_or(1);
            match entry.kind {
                JournalKind::Intent => {
                    let what =
                        if text("phase").is_empty() { text("effect") } else { text("phase") };
                    open.push(Doing {
                        story: text("story").to_owned(),
                        what: what.to_owned(),
                        attempt,
                        since: entry.created_at,
                    });
                }
                JournalKind::Result => {
                    let phase = text("phase");
                    let ends = |doing: &Doing| {
                        doing.story == text("story") && (phase.is_empty() || doing.what == phase)
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

    /// The agents that ended, in order.
    pub(crate) fn ended(&self) -> Vec<Ended> {
        ended(&self.entries)
    }

    /// Whether the last thing that happened to it was an answer: it can go on.
    pub(crate) fn is_answered(&self) -> bool {
        let last = self.entries.iter().rfind(|entry| entry.kind == JournalKind::Result);
        last.is_some_and(|entry| entry.entry["event"] == "answered")
    }

    /// What each role cost.
    pub(crate) fn by_role(&self, store: &dyn Store) -> Result<BTreeMap<String, f64>, Trouble> {
        let filter =
            ReceiptFilter { session: Some(self.run.session.clone()), ..ReceiptFilter::default() };
        let receipts = match store.receipts(&filter) {
            Ok(receipts) => receipts,
            // The session may have been purged; the journal stays.
            Err(handover_store::StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let roles: HashMap<ReceiptId, String> =
            receipts.into_iter().map(|receipt| (receipt.id, receipt.role.to_string())).collect();
        let mut costs = BTreeMap::new();
        for end in self.ended() {
            let role = end.receipt.and_then(|id| roles.get(&id).cloned());
            *costs.entry(role.unwrap_or_else(|| end.phase.clone())).or_default() += end.cost_usd;
        }
        Ok(costs)
    }
}

/// The agents that ended, of any journal.
pub(crate) fn ended(entries: &[JournalEntry]) -> Vec<Ended> {
    let ends = entries.iter().filter(|entry| entry.entry["event"] == "phase_ended");
    ends.map(|entry| {
        let text = |key: &str| entry.entry[key].as_str().unwrap_or_default().to_owned();
        Ended {
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
