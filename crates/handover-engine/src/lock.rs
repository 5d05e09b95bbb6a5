//! The lock of an epic: only one engine at a time may write to its journal.

use handover_agents::{Identity, SpawnId, current_process, is_alive};
use handover_model::config::Config;
use handover_model::{EpicId, LockOwner, Timestamp};
use handover_store::{LockClaim, Store, StoreError};

use crate::EngineError;

/// How long a lock outlives the longest effect. On the same machine a dead owner is detected by its
/// process; other machines have to wait this long.
const LEASE_SECONDS: u64 = 120;

/// Takes the lock of an epic. A dead owner on this machine loses it immediately.
pub(crate) fn lock(
    store: &dyn Store,
    config: &Config,
    machine: &str,
    epic: &EpicId,
    now: Timestamp,
) -> Result<u64, EngineError> {
    let me = current_process(&SpawnId::new("engine")?);
    let claim = LockClaim {
        epic: epic.clone(),
        owner: LockOwner {
            host: machine.to_owned(),
            pid: me.pid,
            started: me.started,
            boot: me.boot,
        },
        until: lease_end(now, lease(config, 0)),
        over: None,
        now,
    };
    match store.lock_epic(&claim) {
        Err(StoreError::Locked { owner, fence, .. }) if is_dead(machine, &owner) => {
            tracing::debug!(%epic, pid = owner.pid, fence, "taking over the lock of a dead engine");
            Ok(store.lock_epic(&LockClaim { over: Some(fence), ..claim })?)
        }
        other => Ok(other?),
    }
}

/// How long a lock is held without renewal, in seconds. On a single machine every journal entry renews
/// it; with several machines it is renewed every few seconds, so that a dead leader is replaced soon.
pub(crate) fn lease(config: &Config, longest_effect: u64) -> u64 {
    match &config.runs.remote {
        Some(_) => config.runs.lease.max(1),
        None => LEASE_SECONDS.saturating_add(longest_effect),
    }
}

/// When a lease that starts now ends.
pub(crate) fn lease_end(now: Timestamp, seconds: u64) -> Timestamp {
    let micros = i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_add(micros))
}

fn is_dead(machine: &str, owner: &LockOwner) -> bool {
    let identity = Identity {
        pid: owner.pid,
        started: owner.started,
        boot: owner.boot.clone(),
        spawn: "engine".to_owned(),
    };
    owner.host == machine && is_alive(&identity) == Some(false)
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
