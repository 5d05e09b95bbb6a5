use handover_model::config::RunsConfig;
use handover_sqlite::SqliteStore;
use handover_store::Runs as _;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_700_000_000 + seconds) * 1_000_000)
}

fn epic() -> EpicId {
    EpicId::new("1").unwrap()
}

fn store() -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
    (folder, store)
}

/// A lock of some other process that is held for an hour.
fn held_by(store: &SqliteStore, host: &str, pid: u32, started: Option<u64>) -> u64 {
    let boot = current_process(&SpawnId::new("engine").unwrap()).boot;
    let owner = LockOwner { host: host.to_owned(), pid, started, boot };
    let claim = LockClaim { epic: epic(), owner, until: at(3_600), over: None, now: at(0) };
    store.lock_epic(&claim).unwrap()
}

/// A process id that no process has: one that has just ended.
fn dead_pid() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    pid
}

#[test]
fn a_free_lock_is_taken_with_a_new_fence_each_time() {
    let (_folder, store) = store();
    let config = Config::default();
    let first = lock(&store, &config, "here", &epic(), at(0)).unwrap();
    store.unlock_epic(&epic(), first).unwrap();
    let second = lock(&store, &config, "here", &epic(), at(1)).unwrap();
    assert!(second > first, "{first} {second}");
}

#[test]
fn a_living_owner_keeps_its_lock() {
    let (_folder, store) = store();
    let me = current_process(&SpawnId::new("engine").unwrap());
    held_by(&store, "here", me.pid, me.started);
    let refused = lock(&store, &Config::default(), "here", &epic(), at(1));
    assert!(matches!(refused, Err(EngineError::Store(StoreError::Locked { .. }))), "{refused:?}");
}

#[test]
fn a_dead_owner_on_this_machine_loses_its_lock_at_once() {
    let (_folder, store) = store();
    let old = held_by(&store, "here", dead_pid(), Some(1));
    let fence = lock(&store, &Config::default(), "here", &epic(), at(1)).unwrap();
    assert!(fence > old);
}

#[test]
fn an_owner_on_another_machine_keeps_its_lock_until_it_expires() {
    let (_folder, store) = store();
    held_by(&store, "there", dead_pid(), Some(1));
    let config = Config::default();
    assert!(lock(&store, &config, "here", &epic(), at(3_599)).is_err());
    assert!(lock(&store, &config, "here", &epic(), at(3_601)).is_ok());
}

#[test]
fn a_lease_outlives_the_longest_effect_unless_machines_share_the_run() {
    let alone = Config::default();
    assert_eq!(lease(&alone, 0), LEASE_SECONDS);
    assert_eq!(lease(&alone, 600), LEASE_SECONDS + 600);
    assert_eq!(lease(&alone, u64::MAX), u64::MAX);
    let shared = |seconds| Config {
        runs: RunsConfig {
            remote: Some("origin".to_owned()),
            lease: seconds,
            ..RunsConfig::default()
        },
        ..Config::default()
    };
    assert_eq!(lease(&shared(30), 600), 30);
    assert_eq!(lease(&shared(0), 600), 1, "never zero");
}
