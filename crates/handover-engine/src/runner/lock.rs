//! One engine per epic.

use handover_agents::{Identity, SpawnId, is_alive, myself};
use handover_model::config::Config;
use handover_model::{EpicId, LockOwner, Timestamp};
use handover_store::{LockClaim, Store, StoreError};

use super::Engine;
use crate::EngineError;

/// How long a lock is held beyond what an effect may take. Who holds it is known to be dead when its
/// process is gone; this is for whoever cannot see that.
const LEASE_SECONDS: u64 = 120;

impl Engine<'_> {
    pub(super) fn lock(&self, epic: &EpicId) -> Result<u64, EngineError> {
        lock(self.store, self.config, &self.machine, epic, (self.now)())
    }

    pub(super) fn lease(&self, longest_effect: u64) -> u64 {
        lease(self.config, longest_effect)
    }
}

/// Takes the lock of an epic. An owner of this machine that is dead loses it at once.
pub(crate) fn lock(
    store: &dyn Store,
    config: &Config,
    machine: &str,
    epic: &EpicId,
    now: Timestamp,
) -> Result<u64, EngineError> {
    let me = myself(&SpawnId::new("engine")?);
    let claim = LockClaim {
        epic: epic.clone(),
        owner: LockOwner {
            host: machine.to_owned(),
            pid: me.pid,
            started: me.started,
            boot: me.boot,
        },
        until: Timestamp::from_micros(now.as_micros() + lease(config, 0).cast_signed() * 1_000_000),
        over: None,
        now,
    };
    match store.lock_epic(&claim) {
        Err(StoreError::Locked { owner, fence, .. }) if is_dead(machine, &owner) => {
            Ok(store.lock_epic(&LockClaim { over: Some(fence), ..claim })?)
        }
        other => Ok(other?),
    }
}

/// How long a lock is held without a sign of life, in seconds. On one machine the end of an effect
/// is the next one; on several there is one every few seconds, so that the others need not wait
/// long for the dead.
pub(crate) fn lease(config: &Config, longest_effect: u64) -> u64 {
    match &config.runs.remote {
        Some(_) => config.runs.lease.max(1),
        None => LEASE_SECONDS.saturating_add(longest_effect),
    }
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
