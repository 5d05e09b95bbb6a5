//! macOS, Windows and every other system that the crate sysinfo knows. Nothing is adopted there: a process that left
//! the session of its root, lost its parent and dropped its marker before it was seen is not found. Linux can use it
//! too, so that the tests of supervision can run it (the cargo feature `portable`).

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use sysinfo::{
    Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System as Snapshot,
    UpdateKind,
};

use super::platform::{Entry, Member, Platform, Stop, Table, has_mark};
use crate::SpawnId;

pub(super) struct Portable;

impl Platform for Portable {
    const ADOPTS: bool = false;

    fn adopt(_: bool) -> io::Result<()> {
        Ok(())
    }

    fn table() -> Table {
        let Ok(mut snapshot) = Snapshot::new() else { return Table::new(std::iter::empty()) };
        snapshot.refresh_processes_specifics(ProcessesToUpdate::All, true, plain());
        // Threads have ids of their own on Linux, but are no processes.
        let all = snapshot.processes().values().filter(|process| process.thread_kind().is_none());
        Table::new(all.map(entry))
    }

    fn entry(pid: i32) -> Option<Entry> {
        look(pid, plain(), |process| Some(entry(process)))
    }

    fn carries(pid: i32, spawn: &SpawnId) -> bool {
        let prefix = concat_variable();
        let marks = |variable: &OsStr| {
            let bytes = variable.as_encoded_bytes().strip_prefix(prefix.as_bytes());
            bytes.is_some_and(|marks| has_mark(marks, spawn))
        };
        let kind = plain().with_environ(UpdateKind::Always);
        look(pid, kind, |process| Some(process.environ().iter().any(|variable| marks(variable))))
            .unwrap_or(false)
    }

    fn environment(pid: i32) -> Option<HashMap<OsString, OsString>> {
        let kind = plain().with_environ(UpdateKind::Always);
        let variable = |variable: &OsString| {
            let text = variable.to_string_lossy();
            text.split_once('=').map(|(name, value)| (name.into(), value.into()))
        };
        look(pid, kind, |process| Some(process.environ().iter().filter_map(variable).collect()))
    }

    fn works_in(pid: i32, folder: &Path) -> bool {
        let kind = plain().with_cwd(UpdateKind::Always);
        look(pid, kind, |process| Some(process.cwd()?.starts_with(folder))).unwrap_or(false)
    }

    /// The start time is compared just before; between the two a PID would have to be used up and given out again.
    fn stop(member: Member, how: Stop) {
        look(member.pid, plain(), |process| {
            if entry(process).member == member {
                end(process, how);
            }
            Some(())
        });
    }

    #[cfg(unix)]
    fn stop_group(root: i32, how: Stop) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match how {
            Stop::Terminate => Signal::TERM,
            Stop::Kill => Signal::KILL,
        };
        if let Some(group) = Pid::from_raw(root) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Windows has no such groups.
    #[cfg(not(unix))]
    fn stop_group(_: i32, _: Stop) {}

    #[cfg(unix)]
    fn reap(pid: i32) {
        use rustix::process::{Pid, WaitOptions, waitpid};
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    /// Windows keeps no process that has ended.
    #[cfg(not(unix))]
    fn reap(_: i32) {}

    /// Strays are nobody's children, or those of the system.
    fn has_no_children() -> bool {
        false
    }

    /// Start times are those of the calendar, so the last start of the machine adds nothing.
    fn boot() -> Option<String> {
        None
    }
}

/// What is read of every process; the rest costs time, and is asked for where it is needed.
fn plain() -> ProcessRefreshKind {
    ProcessRefreshKind::nothing().without_tasks()
}

fn look<T>(
    pid: i32,
    kind: ProcessRefreshKind,
    read: impl FnOnce(&Process) -> Option<T>,
) -> Option<T> {
    let pid = Pid::from_u32(pid.cast_unsigned());
    let mut snapshot = Snapshot::new().ok()?;
    snapshot.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, kind);
    read(snapshot.process(pid)?)
}

fn entry(process: &Process) -> Entry {
    let signed = |pid: Pid| pid.as_u32().cast_signed();
    Entry {
        member: Member { pid: signed(process.pid()), started: process.start_time() },
        parent: process.parent().map_or(0, signed),
        // On Windows that is the user's, and says nothing.
        session: process.session_id().filter(|_| cfg!(unix)).map(signed),
        ended: matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
    }
}

/// Asks a process to end, if the system knows how, or ends it.
fn end(process: &Process, how: Stop) {
    let asked = how == Stop::Terminate && process.kill_with(sysinfo::Signal::Term).is_some();
    if !asked {
        process.kill();
    }
}

fn concat_variable() -> String {
    format!("{}=", SpawnId::VARIABLE)
}
