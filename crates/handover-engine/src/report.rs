//! A run as JSON.

use handover_agents::{Identity, is_alive};
use handover_model::{JournalEntry, Run, RunState, ScenarioOutcome, StoryState, UatGate};
use handover_store::Store;
use serde_json::{Value, json};

use crate::data::{uat_data_path, uat_document_path};
use crate::reducer::{Line, State, StoryRun};
use crate::{EngineError, fold};

/// The stored run as JSON; none if it crashed before it was planned.
pub fn of_run(store: &dyn Store, run: &Run, machine: &str) -> Result<Option<Value>, EngineError> {
    of_journal(store, run, &store.journal(&run.id, 1)?, machine)
}

/// The same, of a journal that was read already.
pub fn of_journal(
    store: &dyn Store,
    run: &Run,
    journal: &[JournalEntry],
    machine: &str,
) -> Result<Option<Value>, EngineError> {
    let Some(folded) = fold(&run.id, journal)? else { return Ok(None) };
    Ok(Some(document(run, &folded.state, is_at_work(store, run, machine)?)))
}

/// Whether an engine holds the epic's lock; its process can only be checked on the same machine.
fn is_at_work(store: &dyn Store, run: &Run, machine: &str) -> Result<bool, EngineError> {
    let Some((owner, _)) = store.epic_owner(&run.epic)? else { return Ok(false) };
    let identity = Identity {
        pid: owner.pid,
        started: owner.started,
        boot: owner.boot,
        spawn: "engine".to_owned(),
    };
    Ok(owner.host != machine || is_alive(&identity) != Some(false))
}

/// The run as one JSON document.
pub fn document(run: &Run, state: &State, at_work: bool) -> Value {
    let unit = |story: &StoryRun| unit(story, !state.options.no_commit);
    let spent = state.spent();
    json!({
        "id": run.id,
        "epic": run.epic,
        "session": run.session,
        "state": shown(state, at_work),
        "reason": state.stopped,
        "base": state.plan.base,
        "branch": state.plan.branch,
        "no_commit": state.options.no_commit,
        "head": state.head,
        "waits_until": state.waits_until,
        "merged": state.merged.as_ref().map(Option::is_none),
        "merge_refused": state.merged.clone().flatten(),
        "cost_usd": spent.cost_usd,
        "unpriced": spent.unpriced,
        "tokens": spent.tokens,
        "turns": spent.turns,
        "duration_ms": spent.duration_ms,
        "started_at": run.created_at,
        "updated_at": run.updated_at,
        "stories": state.stories.iter().map(unit).collect::<Vec<_>>(),
        "closing": state.closing.as_ref().map(unit),
        "uat": uat(state),
    })
}

/// The results of the acceptance scenarios, if the run has any.
pub fn uat(state: &State) -> Option<Value> {
    let step = state.plan.pipeline.uat()?;
    let closing = state.closing.as_ref()?;
    let uat = closing.uat.as_ref();
    let word = match uat {
        None if closing.is_settled() => "failed",
        None => "pending",
        Some(uat) if uat.is_failure() => "failed",
        Some(_) if step.gate == UatGate::Skip => "skipped",
        Some(_) => "passed",
    };
    let count = |outcome| uat.map_or(0, |uat| uat.count(outcome));
    Some(json!({
        "epic": state.plan.epic,
        "gate": step.gate,
        "state": word,
        "reason": uat.map(|uat| uat.problem.clone()),
        "passed": count(ScenarioOutcome::Passed),
        "failed": count(ScenarioOutcome::Failed) + count(ScenarioOutcome::Refused),
        "fixes": closing.fixes(),
        "scenarios": uat.map(|uat| &uat.results),
        "approvals": uat.map(|uat| &uat.approvals),
        "data": uat_data_path(&state.plan.epic),
        "document": uat_document_path(&state.plan.epic),
        "commit": closing.commit,
    }))
}

fn unit(story: &StoryRun, with_commit: bool) -> Value {
    json!({
        "id": story.planned.id,
        "title": story.planned.title,
        "state": story.state,
        "reason": Some(&story.reason).filter(|reason| !reason.is_empty()),
        "commit": story.commit.as_ref().filter(|_| with_commit),
        "failed_branch": story.failed_branch,
        "test_setup": story.test_setup(),
        "question": story.question,
        "cost_usd": story.spent().cost_usd,
        "unpriced": story.spent().unpriced,
        "duration_ms": story.spent().duration_ms,
        "phases": story.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

fn line(line: &Line) -> Value {
    let voice = line.voice.as_ref();
    json!({
        "phase": line.phase,
        "attempt": line.attempt,
        "role": line.role,
        "status": line.status,
        "persona": voice.map(|voice| &voice.persona),
        "round": voice.map(|voice| voice.round),
        "verdict": line.verdict,
        "duration_ms": line.spent.duration_ms,
        "cost_usd": line.spent.cost_usd,
        "unpriced": line.spent.unpriced,
        "tokens": line.spent.tokens,
        "turns": line.spent.turns,
    })
}

/// A run that is recorded as running but has no engine was interrupted.
fn shown(state: &State, at_work: bool) -> RunState {
    if state.state == RunState::Running && !at_work { RunState::Interrupted } else { state.state }
}

/// The number of stories in each state.
pub fn counts(state: &State) -> Vec<(StoryState, usize)> {
    StoryState::ALL
        .iter()
        .map(|wanted| {
            (*wanted, state.stories.iter().filter(|story| story.state == *wanted).count())
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}
