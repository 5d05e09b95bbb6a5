//! A conversation starts with an empty window: it is bound to its session and given the state of
//! the work.

use handover_hosts::Action;
use handover_hosts::decide::opening::{Work, restore};
use handover_model::{Package, Phase, Priority, SessionId};
use handover_store::{ReasoningFilter, Store, VerdictFilter};

use super::Reply;
use super::context::{HookContext, IfMissing};
use super::spawn::tokenizer;
use crate::error::CommandError;

/// How many critical packages are considered, newest first.
const CRITICAL: usize = 10;

/// How many verdicts are searched for what stopped, newest first.
const VERDICTS: u32 = 100;

/// How many decisions are included.
const DECISIONS: u32 = 3;

pub(super) fn react(context: &HookContext<'_>) -> Result<Reply, CommandError> {
    // A subagent has its brief.
    if context.call.agent.is_some() {
        return Ok(Reply::default());
    }
    // A session is opened when there is work for it, not by every conversation.
    let Some(session) = context.session(IfMissing::Skip)? else { return Ok(Reply::default()) };
    let store = context.app.store()?;
    let filter = ReasoningFilter {
        phase: Some(Phase::Decisions),
        limit: Some(DECISIONS),
        ..ReasoningFilter::default()
    };
    let of_all = VerdictFilter { limit: Some(VERDICTS), ..VerdictFilter::default() };
    let work = Work {
        groups: store.groups(&session)?,
        verdicts: store.verdicts(&session, &of_all)?,
        critical: critical(store, &session)?,
        decisions: store.reasoning(&session, &filter)?,
    };
    let text = restore(&session, &work, tokenizer(context));
    Ok(text.map_or_else(Reply::default, |text| Action::Inject(text).into()))
}

/// Critical packages that no agent has received yet.
fn critical(store: &dyn Store, session: &SessionId) -> Result<Vec<Package>, CommandError> {
    let mut found = store.candidates(session, None, None)?;
    found.retain(|candidate| candidate.priority == Priority::Critical);
    found.sort_by_key(|candidate| std::cmp::Reverse((candidate.created_at, candidate.id)));
    let mut lost = Vec::new();
    for candidate in found.iter().take(CRITICAL) {
        if store.package_deliveries(candidate.id)?.is_empty() {
            lost.push(candidate.id);
        }
    }
    Ok(store.packages_by_id(&lost)?)
}
