//! Keeps the project's notes current while the host waits: new commits and changed documents when a
//! conversation starts, the conversation when it ends, that of a subagent when it stops. What does not fit the
//! deadline is left for the next time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use handover_hosts::{Checkpoint, HookEvent};
use handover_model::SourceName;
use tracing::{debug, warn};

use super::context::HookContext;
use super::starts_conversation;
use crate::learn::{self, Lesson};

/// The most time that a hook spends on it.
const MOST: Duration = Duration::from_millis(1_500);

/// What of the deadline must be left when it stops.
const MARGIN: Duration = Duration::from_millis(500);

/// Learns what the event makes worth learning. A failure is a line in the log: the host has its answer.
pub(super) fn keep_current(context: &HookContext<'_>, started: Instant) {
    let Some((sources, paths)) = worth_learning(context) else { return };
    let app = context.app;
    let outcome = (|| {
        let hooks = &app.config()?.hooks;
        let until =
            started + Duration::from_millis(hooks.deadline_ms).saturating_sub(MARGIN).min(MOST);
        let allowed = learn::allowed(app)?;
        let lesson = Lesson {
            sources: sources.into_iter().filter(|source| allowed.contains(source)).collect(),
            paths,
            since: None,
            preview: false,
            stop: &|| Instant::now() >= until,
            progress: &|_, _, _| (),
        };
        learn::learn(app, &lesson)
    })();
    match outcome {
        Ok(tallies) => {
            let notes: usize = tallies.iter().map(|tally| tally.notes).sum();
            let left: usize = tallies.iter().map(|tally| tally.left).sum();
            debug!(notes, left, "learned");
        }
        Err(error) => warn!(error = %error.message, "nothing was learned"),
    }
}

fn worth_learning(context: &HookContext<'_>) -> Option<(Vec<SourceName>, Vec<PathBuf>)> {
    let call = context.call;
    if starts_conversation(call) {
        return Some((vec![SourceName::Docs, SourceName::Git], Vec::new()));
    }
    let transcript = if let HookEvent::SubagentStopping(stop) = &call.event {
        stop.transcript.clone()
    } else if matches!(call.event, HookEvent::Checkpoint { at: Checkpoint::SessionEnd, .. }) {
        call.transcript.clone()
    } else {
        None
    };
    Some((vec![SourceName::Transcripts], vec![transcript?]))
}
