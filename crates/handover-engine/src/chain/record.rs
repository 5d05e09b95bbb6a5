//! The start and end of a chain, as events of its session.

use handover_model::{EventType, SessionId, Timestamp};
use handover_store::{EventFilter, NewEvent, Store};
use handover_text::Redactor;
use serde_json::json;

use super::report::Report;
use crate::EngineError;

const BEGUN: &str = "chain_started";
const ENDED: &str = "chain_ended";

/// When the unfinished chain of a session started.
pub(super) fn open(
    store: &dyn Store,
    session: &SessionId,
) -> Result<Option<Timestamp>, EngineError> {
    let times = |kind: &str| -> Result<Vec<Timestamp>, EngineError> {
        let filter = EventFilter { kind: Some(EventType::new(kind)?), ..EventFilter::default() };
        let events = store.events(session, &filter)?;
        Ok(events.into_iter().map(|event| event.created_at).collect())
    };
    let begun = times(BEGUN)?.into_iter().max();
    let ended = times(ENDED)?.into_iter().max();
    Ok(begun.filter(|begun| ended.is_none_or(|ended| ended < *begun)))
}

pub(super) fn begin(
    store: &dyn Store,
    redactor: &Redactor,
    session: &SessionId,
    epics: &[String],
    now: Timestamp,
) -> Result<(), EngineError> {
    log(store, redactor, session, BEGUN, json!({"epics": epics}), now)
}

pub(super) fn end(
    store: &dyn Store,
    redactor: &Redactor,
    session: &SessionId,
    report: &Report,
    now: Timestamp,
) -> Result<(), EngineError> {
    log(store, redactor, session, ENDED, report.document(), now)
}

fn log(
    store: &dyn Store,
    redactor: &Redactor,
    session: &SessionId,
    kind: &str,
    payload: serde_json::Value,
    now: Timestamp,
) -> Result<(), EngineError> {
    store.log_event(&NewEvent {
        session: session.clone(),
        group: None,
        kind: EventType::new(kind)?,
        payload: redactor.clean_json(payload),
        key: None,
        now,
    })?;
    Ok(())
}
