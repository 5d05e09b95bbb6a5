//! Systems without `/proc` and subreapers: only the process group of the root is known.

use std::io;
use std::path::Path;
use std::time::Duration;

use process_wrap::std::ChildWrapper;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::{Identity, OrphanEnd};
use crate::{AgentError, SpawnId};

/// The root of a run and its group.
pub(crate) struct Family {
    group: Option<Pid>,
    pid: u32,
    spawn: SpawnId,
    root_reaped: bool,
}

impl Family {
    /// Starts the root.
    pub(crate) fn start(
        spawn: &SpawnId,
        _folder: &Path,
        start: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
    ) -> io::Result<(Box<dyn ChildWrapper>, Self)> {
        let child = start()?;
        let pid = child.id();
        let group = Pid::from_raw(pid.cast_signed());
        Ok((child, Self { group, pid, spawn: spawn.clone(), root_reaped: false }))
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity { pid: self.pid, started: None, boot: None, spawn: self.spawn.to_string() }
    }

    /// Called once the root was waited for; its group exists as long as it has members.
    pub(crate) fn root_reaped(&mut self) {
        self.root_reaped = true;
    }

    /// Sends SIGTERM to all of them.
    pub(crate) fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Kills all of them.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Whether any process besides the root is still running: they cannot be counted.
    pub(crate) fn survivors(&mut self) -> u32 {
        let alive = self.root_reaped
            && self.group.is_some_and(|group| test_kill_process_group(group).is_ok());
        u32::from(alive)
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.root_reaped {
            // The run was abandoned because of an error or a panic.
            self.kill();
        }
    }
}

/// Ends this process as `kill -9` would: nothing is flushed or reported.
pub fn die() -> ! {
    loop {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The identity of this process.
pub fn current_process(spawn: &SpawnId) -> Identity {
    Identity { pid: std::process::id(), started: None, boot: None, spawn: spawn.to_string() }
}

/// A PID proves nothing, unless no process has it.
pub fn is_alive(identity: &Identity) -> Option<bool> {
    let pid = Pid::from_raw(identity.pid.cast_signed())?;
    rustix::process::test_kill_process(pid).is_err().then_some(false)
}

/// Nothing proves that a PID still refers to the recorded process, so none is killed.
pub fn end_orphan(identity: &Identity, _grace: Duration) -> Result<OrphanEnd, AgentError> {
    Err(AgentError::Unproven { pid: identity.pid })
}

/// Environments of other processes cannot be read here.
pub fn end_marked(_spawn: &SpawnId, _grace: Duration) -> Result<OrphanEnd, AgentError> {
    Err(AgentError::Processes(io::Error::from(io::ErrorKind::Unsupported)))
}
