//! The trust class of what is derived from a session's work.

use handover_model::{GroupId, SessionId, Trust};
use handover_store::{Result, Store, VerdictFilter};

/// The class of a text that sums up what the agents of a session, or of one of its groups, reported: that of an agent,
/// or the lowest of theirs.
pub fn of_session(
    store: &dyn Store,
    session: &SessionId,
    group: Option<&GroupId>,
) -> Result<Trust> {
    let filter = VerdictFilter { group: group.cloned(), ..VerdictFilter::default() };
    let verdicts = store.verdicts(session, &filter)?;
    let lowest = Trust::lowest(verdicts.iter().map(|verdict| verdict.trust));
    Ok(lowest.unwrap_or(Trust::Agent).min(Trust::Agent))
}
