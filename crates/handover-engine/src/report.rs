//! A run as scripts see it.

use handover_model::{Run, RunState, StoryState};
use serde_json::{Value, json};

use crate::ledger::Line;
use crate::reducer::{State, StoryRun};

/// The run as one document.
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
        "head": state.head,
        "merged": state.merged.as_ref().map(Option::is_none),
        "merge_refused": state.merged.clone().flatten(),
        "cost_usd": spent.cost_usd,
        "tokens": spent.tokens,
        "turns": spent.turns,
        "duration_ms": spent.duration_ms,
        "started_at": run.created_at,
        "updated_at": run.updated_at,
        "stories": state.stories.iter().map(unit).collect::<Vec<_>>(),
        "closing": state.closing.as_ref().map(unit),
    })
}

fn unit(story: &StoryRun, with_commit: bool) -> Value {
    json!({
        "id": story.planned.id,
        "title": story.planned.title,
        "state": story.state,
        "reason": Some(&story.reason).filter(|reason| !reason.is_empty()),
        "commit": story.commit.as_ref().filter(|_| with_commit),
        "failed_branch": story.failed_branch,
        "cost_usd": story.spent().cost_usd,
        "phases": story.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

fn line(line: &Line) -> Value {
    let voice = line.voice.as_ref();
    json!({
        "phase": line.phase,
        "attempt": line.attempt,
        "persona": voice.map(|voice| &voice.persona),
        "round": voice.map(|voice| voice.round),
        "verdict": line.verdict,
        "duration_ms": line.spent.duration_ms,
        "cost_usd": line.spent.cost_usd,
        "tokens": line.spent.tokens,
        "turns": line.spent.turns,
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
