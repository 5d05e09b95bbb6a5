//! Processes of runs whose supervisor is gone: whether one is still running, and how all of them are ended.

use std::collections::BTreeSet;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::platform::{Entry, Member, Platform, Stop};
use super::{Identity, OrphanEnd, System, own_pid};
use crate::{AgentError, SpawnId};

/// How long a killed process may take to disappear before it counts as stuck.
const STUCK: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(10);

/// Ends this process as `kill -9` would: nothing is flushed or reported.
pub fn die() -> ! {
    loop {
        if let Some(me) = System::entry(own_pid()) {
            System::stop(me.member, Stop::Kill);
        }
        sleep(TICK);
    }
}

/// The identity of this process.
pub fn current_process(spawn: &SpawnId) -> Identity {
    let started = System::entry(own_pid()).map(|entry| entry.member.started);
    Identity { pid: std::process::id(), started, boot: System::boot(), spawn: spawn.to_string() }
}

/// Whether a recorded process of this machine is still running; none if that cannot be determined.
pub fn is_alive(identity: &Identity) -> Option<bool> {
    let started = identity.started?;
    if identity.boot.is_some() && identity.boot != System::boot() {
        return Some(false);
    }
    let entry = System::entry(identity.pid.cast_signed());
    Some(entry.is_some_and(|entry| entry.member.started == started && !entry.ended))
}

/// Kills a process that an earlier run recorded, and every process with the run's marker. A process that merely
/// has the same PID is not touched.
pub fn end_orphan(identity: &Identity, grace: Duration) -> Result<OrphanEnd, AgentError> {
    let Some(started) = identity.started else {
        return Err(AgentError::Unproven { pid: identity.pid });
    };
    let spawn = SpawnId::new(identity.spawn.clone())?;
    let root = Member { pid: identity.pid.cast_signed(), started };
    let same_boot = identity.boot.is_none() || identity.boot == System::boot();
    end_all(&spawn, Some(root).filter(|_| same_boot), grace)
}

/// Kills every process with the marker: for a run that crashed before it could record what it had started.
pub fn end_marked(spawn: &SpawnId, grace: Duration) -> Result<OrphanEnd, AgentError> {
    end_all(spawn, None, grace)
}

fn end_all(
    spawn: &SpawnId,
    root: Option<Member>,
    grace: Duration,
) -> Result<OrphanEnd, AgentError> {
    let mut met = BTreeSet::new();
    let start = Instant::now();
    let mut asked = BTreeSet::new();
    loop {
        let found = marked(spawn, root)?;
        met.extend(found.iter().copied());
        let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
        if found.is_empty() {
            return Ok(if met.is_empty() {
                OrphanEnd::Gone
            } else {
                OrphanEnd::Ended(count(met.len()))
            });
        }
        let since = start.elapsed();
        if since > grace + STUCK {
            return Ok(OrphanEnd::Stuck(count(found.len())));
        }
        for member in found {
            if since >= grace {
                System::stop(member, Stop::Kill);
            } else if asked.insert(member) {
                System::stop(member, Stop::Terminate);
            }
        }
        sleep(TICK);
    }
}

/// Processes that carry the marker or descend from the recorded root, except this process and its ancestors.
fn marked(spawn: &SpawnId, root: Option<Member>) -> Result<Vec<Member>, AgentError> {
    let table = System::table();
    let me = own_pid();
    if table.get(me).is_none() {
        let message = "the process table does not show this process";
        return Err(AgentError::Processes(io::Error::other(message)));
    }
    let root = root.filter(|root| table.has(root)).map(|root| root.pid);
    let ours = |entry: &Entry| {
        let pid = entry.member.pid;
        root.is_some_and(|root| {
            pid == root || entry.session == Some(root) || table.descends_from(pid, root)
        }) || System::carries(pid, spawn)
    };
    let above = |pid: i32| pid == me || table.descends_from(me, pid);
    let found =
        table.entries().filter(|entry| !entry.ended && !above(entry.member.pid) && ours(entry));
    Ok(found.map(|entry| entry.member).collect())
}
