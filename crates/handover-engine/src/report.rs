//! A run as scripts see it.

use handover_agents::{Identity, is_alive, machine};
use handover_model::{Run, RunState, StoryState};
use handover_store::Store;
use serde_json::{Value, json};

use crate::reducer::State;
use crate::{EngineError, fold};

/// A run as it stands in the store; none if it died before it was planned.
pub fn of_run(store: &dyn Store, run: &Run) -> Result<Option<Value>, EngineError> {
    let journal = store.journal(&run.id, 1)?;
    let Some(folded) = fold(&run.id, &journal)? else { return Ok(None) };
    Ok(Some(document(run, &folded.state, is_at_work(store, run)?)))
}

/// Whether an engine holds the epic, as far as that can be told from here.
fn is_at_work(store: &dyn Store, run: &Run) -> Result<bool, EngineError> {
    let Some((owner, _)) = store.epic_owner(&run.epic)? else { return Ok(false) };
    let identity = Identity {
        pid: owner.pid,
        started: owner.started,
        boot: owner.boot,
        spawn: "engine".to_owned(),
    };
    Ok(owner.host != machine() || is_alive(&identity) != Some(false))
}

/// The run as one document.
pub fn document(run: &Run, state: &State, at_work: bool) -> Value {
    let stories: Vec<Value> = state
        .stories
        .iter()
        .map(|story| {
            let phases: Vec<Value> = story
                .lines
                .iter()
                .map(|line| {
                    json!({
                        "phase": line.phase,
                        "attempt": line.attempt,
                        "verdict": line.verdict,
                        "duration_ms": line.spent.duration_ms,
                        "cost_usd": line.spent.cost_usd,
                        "tokens": line.spent.tokens,
                        "turns": line.spent.turns,
                    })
                })
                .collect();
            let commit = story.commit.as_ref().filter(|_| !state.options.no_commit);
            json!({
                "id": story.planned.id,
                "title": story.planned.title,
                "state": story.state,
                "reason": Some(&story.reason).filter(|reason| !reason.is_empty()),
                "commit": commit,
                "failed_branch": story.failed_branch,
                "cost_usd": story.spent().cost_usd,
                "phases": phases,
            })
        })
        .collect();
    let spent = state.spent();
    json!({
        "id": run.id,
        "epic": run.epic,
        "session": run.session,
        "state": shown(state, at_work),
        "reason": state.stopped,
        "base": state.plan.base,
        "branch": state.plan.branch,
        "head": state.head,
        "merged": state.merged.as_ref().map(Option::is_none),
        "merge_refused": state.merged.clone().flatten(),
        "cost_usd": spent.cost_usd,
        "tokens": spent.tokens,
        "turns": spent.turns,
        "duration_ms": spent.duration_ms,
        "started_at": run.created_at,
        "updated_at": run.updated_at,
        "stories": stories,
    })
}

/// A run that nobody works on and that did not come to its end was interrupted, whatever it says.
fn shown(state: &State, at_work: bool) -> RunState {
    if state.state == RunState::Running && !at_work { RunState::Interrupted } else { state.state }
}

/// How many stories stand where.
pub fn counts(state: &State) -> Vec<(StoryState, usize)> {
    StoryState::ALL
        .iter()
        .map(|wanted| {
            (*wanted, state.stories.iter().filter(|story| story.state == *wanted).count())
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}
