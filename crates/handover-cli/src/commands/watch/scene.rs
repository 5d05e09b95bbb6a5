//! What there is to watch: the latest runs and the sessions at work, read from the store.

use std::collections::BTreeMap;

use handover_engine::stats::{UseOf, use_of};
use handover_engine::{Price, report};
use handover_model::{
    ItemKind, ReceiptId, ReceiptState, Run, RunState, Session, SessionStatus, Timestamp,
};
use handover_store::{ReceiptFilter, RunFilter, Store, VerdictFilter};
use serde_json::Value;

use crate::app::App;
use crate::env;
use crate::error::CommandError;

/// Older runs, sessions and agents are on the dashboard.
const RUNS: u32 = 3;
const SESSIONS: usize = 6;
const AGENTS: u32 = 20;

/// What the process that leads a run knows beyond the store. Empty for everybody else.
#[derive(Debug, Default)]
pub(crate) struct Ongoing {
    /// The run's epic, and how long it has been at work.
    pub(crate) run: Option<(String, String)>,
    /// What is being done in a story, and the last sign of life.
    pub(crate) stories: BTreeMap<String, String>,
    /// What happened last, oldest first.
    pub(crate) log: Vec<String>,
}

/// Everything on the screen.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) project: String,
    pub(super) runs: Vec<RunLane>,
    pub(super) sessions: Vec<SessionLane>,
}

/// A run.
#[derive(Debug)]
pub(super) struct RunLane {
    pub(super) epic: String,
    pub(super) state: String,
    pub(super) price: Price,
    /// When the usage limit that it waits for is lifted.
    pub(super) waits_until: Option<Timestamp>,
    pub(super) stories: Vec<StoryLane>,
}

/// A story of a run.
#[derive(Debug)]
pub(super) struct StoryLane {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) price: Price,
    /// Steps and their verdicts.
    pub(super) steps: Vec<(String, String)>,
    pub(super) reason: String,
    /// What only a person can decide.
    pub(super) question: String,
}

/// A session and the agents in it, newest first.
#[derive(Debug)]
pub(super) struct SessionLane {
    pub(super) id: String,
    pub(super) packages: u64,
    pub(super) agents: Vec<AgentLane>,
}

/// An agent, by its receipt.
#[derive(Debug)]
pub(super) struct AgentLane {
    pub(super) receipt: ReceiptId,
    pub(super) at: Timestamp,
    pub(super) role: String,
    pub(super) group: Option<String>,
    pub(super) state: ReceiptState,
    pub(super) tokens: u64,
    /// How many records of each kind it was given.
    pub(super) got: BTreeMap<ItemKind, usize>,
    /// How much of that it used, once it has ended and its conversation was seen.
    pub(super) used: Option<UseOf>,
    /// How it ended, in its own words.
    pub(super) said: Option<(String, String)>,
}

/// Reads everything.
pub(super) fn collect(app: &App) -> Result<Scene, CommandError> {
    let store = app.store()?;
    let machine = env::machine();
    let mut runs = Vec::new();
    for run in store.runs(&RunFilter { epic: None, limit: Some(RUNS) })? {
        if let Some(document) = report::of_run(store, &run, &machine)? {
            runs.push(run_lane(&document));
        }
    }
    let sessions = chosen(store)?;
    let sessions =
        sessions.iter().map(|session| session_lane(store, session)).collect::<Result<_, _>>()?;
    let root = &app.project()?.root;
    let project = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
    Ok(Scene { project, runs, sessions })
}

/// Active sessions and those of the shown runs, the latest first.
fn chosen(store: &dyn Store) -> Result<Vec<Session>, CommandError> {
    let mut sessions = store.sessions(Some(SessionStatus::Active))?;
    let at_work = |run: &Run| run.state == RunState::Running;
    let of_runs = store.runs(&RunFilter { epic: None, limit: Some(RUNS) })?;
    let latest = of_runs.iter().enumerate().filter(|(nth, run)| *nth == 0 || at_work(run));
    for (_, run) in latest {
        if !sessions.iter().any(|session| session.id == run.session) {
            sessions.push(store.session(&run.session)?);
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.created_at));
    sessions.truncate(SESSIONS);
    Ok(sessions)
}

fn session_lane(store: &dyn Store, session: &Session) -> Result<SessionLane, CommandError> {
    let filter = ReceiptFilter {
        session: Some(session.id.clone()),
        limit: Some(AGENTS),
        ..ReceiptFilter::default()
    };
    let receipts = store.receipts(&filter)?;
    let mut got: BTreeMap<ReceiptId, BTreeMap<ItemKind, usize>> = BTreeMap::new();
    for item in store.handed(&session.id)? {
        *got.entry(item.receipt).or_default().entry(item.kind).or_default() += 1;
    }
    let filter = VerdictFilter { limit: Some(2 * AGENTS), ..VerdictFilter::default() };
    let verdicts = store.verdicts(&session.id, &filter)?;
    let agents = receipts.into_iter().map(|receipt| {
        let verdict = verdicts.iter().find(|verdict| verdict.receipt.as_ref() == Some(&receipt.id));
        let said = verdict.map(|verdict| {
            (verdict.verdict.to_string(), verdict.summary.clone().unwrap_or_default())
        });
        // Only what has ended was judged.
        let whole = verdict.and_then(|_| store.receipt(&receipt.id).ok());
        let failure = receipt.failure.clone().map(|failure| ("not started".to_owned(), failure));
        AgentLane {
            at: receipt.created_at,
            role: receipt.role.to_string(),
            group: receipt.group.as_ref().map(ToString::to_string),
            state: receipt.state,
            tokens: receipt.tokens,
            got: got.remove(&receipt.id).unwrap_or_default(),
            used: whole.as_ref().and_then(use_of),
            said: said.or(failure),
            receipt: receipt.id,
        }
    });
    Ok(SessionLane {
        id: session.id.to_string(),
        packages: store.session_counts(&session.id)?.packages,
        agents: agents.collect(),
    })
}

fn run_lane(run: &Value) -> RunLane {
    let closing = Some(&run["closing"]).filter(|closing| closing.is_object());
    let stories = run["stories"].as_array().into_iter().flatten().chain(closing);
    RunLane {
        epic: text(run, "epic"),
        state: text(run, "state"),
        price: Price::of(run),
        waits_until: text(run, "waits_until").parse().ok(),
        stories: stories.map(story_lane).collect(),
    }
}

fn story_lane(story: &Value) -> StoryLane {
    let phases = story["phases"].as_array().into_iter().flatten();
    StoryLane {
        id: text(story, "id"),
        state: text(story, "state"),
        price: Price::of(story),
        steps: phases.map(|phase| (text(phase, "phase"), text(phase, "verdict"))).collect(),
        reason: text(story, "reason"),
        question: text(story, "question"),
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
