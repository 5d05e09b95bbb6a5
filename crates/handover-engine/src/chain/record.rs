//! The start and end of a chain, as events of its session.

use handover_model::{EventType, SessionId, Timestamp};
use handover_store::{EventFilter, NewEvent, Store};
use handover_text::Redactor;
use serde_json::json;

use super::report::Report;
use crate::EngineError;

const BEGUN: &str = "chain_started";
const ENDED: &str = "chain_ended";

/// The latest chain of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Latest {
    /// When it started.
    pub(super) begun: Timestamp,
    /// Whether it has ended.
    pub(super) ended: bool,
}

/// The latest chain of a session, if there was one.
pub(super) fn latest(
    store: &dyn Store,
    session: &SessionId,
) -> Result<Option<Latest>, EngineError> {
    let last = |kind: &str| -> Result<Option<Timestamp>, EngineError> {
        let filter = EventFilter { kind: Some(EventType::new(kind)?), ..EventFilter::default() };
        let events = store.events(session, &filter)?;
        Ok(events.into_iter().map(|event| event.created_at).max())
    };
    let (begun, ended) = (last(BEGUN)?, last(ENDED)?);
    Ok(begun.map(|begun| Latest { begun, ended: ended.is_some_and(|ended| ended >= begun) }))
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

#[cfg(test)]
mod tests {
    use handover_model::ProjectId;
    use handover_model::config::RedactionConfig;
    use handover_sqlite::SqliteStore;
    use handover_store::{Events as _, NewSession, Sessions as _};

    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000 + micros)
    }

    #[test]
    fn a_chain_is_unfinished_between_its_start_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let redactor = Redactor::new(&RedactionConfig::default()).unwrap();
        let session = SessionId::new("chain-1-2").unwrap();
        let new = NewSession {
            id: session.clone(),
            project: ProjectId::new("p").unwrap(),
            metadata: redactor.clean_json(json!({})),
            now: at(0),
        };
        store.open_session(&new).unwrap();
        assert_eq!(latest(&store, &session).unwrap(), None);
        let epics = ["1".to_owned(), "2".to_owned()];
        begin(&store, &redactor, &session, &epics, at(1)).unwrap();
        let chain = |begun, ended| Some(Latest { begun: at(begun), ended });
        assert_eq!(latest(&store, &session).unwrap(), chain(1, false));
        let report = Report { state: handover_model::RunState::Done, epics: Vec::new() };
        end(&store, &redactor, &session, &report, at(2)).unwrap();
        assert_eq!(latest(&store, &session).unwrap(), chain(1, true));
        // The next one is another chain, and its start is what counts.
        begin(&store, &redactor, &session, &epics, at(3)).unwrap();
        begin(&store, &redactor, &session, &epics, at(4)).unwrap();
        assert_eq!(latest(&store, &session).unwrap(), chain(4, false));
        let filter =
            EventFilter { kind: Some(EventType::new(BEGUN).unwrap()), ..EventFilter::default() };
        let begun = store.events(&session, &filter).unwrap();
        assert_eq!(begun.len(), 3);
        assert!(begun.iter().all(|event| event.payload == json!({"epics": ["1", "2"]})));
    }
}
