use handover_model::config::RedactionConfig;
use handover_model::{EpicId, LockOwner, ProjectId, RunPhase, SessionId};
use handover_sqlite::SqliteStore;
use handover_store::{LockClaim, NewRun, NewSession, Runs as _, Sessions as _};

use super::*;

const SECRET: &str = "ghp_a8Fk2LmQ9xWz4TnRvB7cYd1EoUiP3sJhG5tN";

struct Fixture {
    _folder: tempfile::TempDir,
    store: SqliteStore,
    redactor: Redactor,
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + micros)
}

fn run_id() -> RunId {
    RunId::new("run_1").unwrap()
}

impl Fixture {
    fn new() -> (Self, u64) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let redactor = Redactor::new(&RedactionConfig::default()).unwrap();
        let session = NewSession {
            id: SessionId::new("epic-1").unwrap(),
            project: ProjectId::new("p").unwrap(),
            metadata: redactor.clean_json(json!({})),
            now: at(0),
        };
        store.open_session(&session).unwrap();
        let owner = LockOwner { host: "here".into(), pid: 1, started: Some(1), boot: None };
        let epic = EpicId::new("1").unwrap();
        let claim = LockClaim { epic: epic.clone(), owner, until: at(10), over: None, now: at(0) };
        let fence = store.lock_epic(&claim).unwrap();
        let new = NewRun { id: run_id(), epic, session: session.id, now: at(0) };
        store.start_run(&new, fence).unwrap();
        (Self { _folder: folder, store, redactor }, fence)
    }

    fn journal(&self, fence: u64) -> Journal<'_> {
        Journal {
            store: &self.store,
            redactor: &self.redactor,
            run: run_id(),
            fence,
            seq: 0,
            lease: 60,
            death: None,
        }
    }

    fn fold(&self) -> Option<Folded> {
        fold(&run_id(), &self.store.journal(&run_id(), 1).unwrap()).unwrap()
    }
}

fn started() -> Event {
    crate::testing::started(crate::testing::story(), &["a"])
}

fn opened() -> Event {
    Event::Opened { story: "a".into(), base: "base".into(), tree: "t".into() }
}

fn dev() -> Effect {
    Effect::Agent { story: "a".into(), phase: RunPhase::Dev, attempt: 1, voice: None }
}

fn process(seq: u64) -> Identity {
    Identity { pid: 4_000_000, started: Some(1), boot: None, spawn: mark(&run_id(), seq) }
}

#[test]
fn a_journal_without_a_plan_folds_to_nothing() {
    let (fixture, fence) = Fixture::new();
    assert!(fixture.fold().is_none());
    let mut journal = fixture.journal(fence);
    journal.note(&Note::Reaped { count: 1 }, at(1)).unwrap();
    assert!(fixture.fold().is_none());
    journal.event(&started(), at(2)).unwrap();
    assert_eq!(fixture.fold().unwrap().seq, 2);
}

#[test]
fn an_intent_is_open_until_its_event_is_written() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    journal.event(&started(), at(1)).unwrap();
    let open = Effect::Open { story: "a".into() };
    let intent = journal.intent(&open, at(2)).unwrap();
    assert_eq!((intent.seq, intent.at), (2, at(2)));
    assert_eq!(fixture.fold().unwrap().open, [intent]);
    journal.event(&opened(), at(3)).unwrap();
    let folded = fixture.fold().unwrap();
    assert!(folded.open.is_empty());
    assert_eq!(folded.state.stories[0].tree.as_deref(), Some("t"));
}

#[test]
fn processes_are_known_as_long_as_their_effect_is_open() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    journal.event(&started(), at(1)).unwrap();
    journal.event(&opened(), at(2)).unwrap();
    let agent = journal.intent(&dev(), at(3)).unwrap();
    let gates = Effect::Gates { story: "a".into(), attempt: 1 };
    let gates = journal.intent(&gates, at(4)).unwrap();
    for seq in [agent.seq, gates.seq] {
        journal.note(&Note::Spawned { process: process(seq) }, at(5)).unwrap();
    }
    assert_eq!(fixture.fold().unwrap().processes.len(), 2);
    let ended = Event::GatesEnded {
        story: "a".into(),
        attempt: 1,
        outcome: crate::reducer::GateOutcome::Passed,
        failures: Vec::new(),
        detail: String::new(),
        duration_ms: 1,
    };
    journal.event(&ended, at(6)).unwrap();
    let folded = fixture.fold().unwrap();
    assert_eq!(folded.processes, [process(agent.seq)]);
    assert_eq!(folded.open, [agent]);
}

#[test]
fn events_are_redacted_before_they_are_applied() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    journal.event(&started(), at(1)).unwrap();
    let stopped = Event::Stopped {
        state: RunState::Environment,
        reason: format!("cannot use the token {SECRET}"),
    };
    let written = journal.event(&stopped, at(2)).unwrap();
    let Event::Stopped { reason, .. } = &written else { panic!("{written:?}") };
    assert!(!reason.contains(SECRET), "{reason}");
    assert_eq!(fixture.fold().unwrap().state.stopped.as_ref(), Some(reason));
}

#[test]
fn the_state_of_the_run_record_follows_the_events() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    let state = || fixture.store.run_record(&run_id()).unwrap().state;
    journal.event(&started(), at(1)).unwrap();
    assert_eq!(state(), RunState::Running);
    journal.event(&opened(), at(2)).unwrap();
    assert_eq!(state(), RunState::Running);
    let stopped = Event::Stopped { state: RunState::Budget, reason: "x".into() };
    journal.event(&stopped, at(3)).unwrap();
    assert_eq!(state(), RunState::Budget);
    journal.event(&Event::Ended { state: RunState::Done }, at(4)).unwrap();
    assert_eq!(state(), RunState::Done);
}

#[test]
fn an_engine_that_lost_its_lock_cannot_write() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    journal.event(&started(), at(1)).unwrap();
    let mut late = fixture.journal(fence + 1);
    late.seq = 1;
    assert!(late.event(&opened(), at(2)).is_err());
    assert_eq!(fixture.fold().unwrap().seq, 1);
    assert_eq!(late.seq, 1, "a failed entry is not counted");
}

#[test]
fn every_entry_extends_the_lock_by_the_lease() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    assert_eq!(journal.until(at(5)), at(5 + 60_000_000));
    journal.lease = u64::MAX;
    assert!(journal.until(at(5)) > at(5), "a huge lease does not overflow");
}

#[test]
fn a_damaged_entry_is_an_error_with_its_number() {
    let (fixture, fence) = Fixture::new();
    let mut journal = fixture.journal(fence);
    journal.event(&started(), at(1)).unwrap();
    let mut entries = fixture.store.journal(&run_id(), 1).unwrap();
    let mut damaged = entries[0].clone();
    damaged.seq = 2;
    damaged.entry = json!({"event": "from the future"});
    entries.push(damaged.clone());
    match fold(&run_id(), &entries) {
        Err(EngineError::Journal { seq: 2, .. }) => {}
        other => panic!("{other:?}"),
    }
    // Unknown notes do not matter.
    damaged.kind = JournalKind::Note;
    entries[1] = damaged;
    assert_eq!(fold(&run_id(), &entries).unwrap().unwrap().seq, 2);
}
