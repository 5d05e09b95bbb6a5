//! Linux: descendants are found through `/proc`, adopted by this process, and killed through pidfds, which cannot
//! refer to another process.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use procfs::process::{Process, Stat};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process,
    kill_process_group, pidfd_open, pidfd_send_signal, set_child_subreaper, waitid, waitpid,
};

use super::platform::{Entry, Member, Platform, Stop, Table, has_mark};
use crate::SpawnId;

pub(super) struct Linux;

impl Platform for Linux {
    const ADOPTS: bool = true;

    fn adopt(adopt: bool) -> io::Result<()> {
        Ok(set_child_subreaper(adopt.then(getpid))?)
    }

    /// A parent that ends while the table is read would hide its children, so such a table is read again. (Some
    /// systems permanently hide the processes of other users, and with them parents.)
    fn table() -> Table {
        let mut table = read_once();
        for _ in 0..2 {
            if is_closed(&table) {
                break;
            }
            table = read_once();
        }
        table
    }

    fn entry(pid: i32) -> Option<Entry> {
        Process::new(pid).and_then(|process| process.stat()).ok().map(|stat| entry(&stat))
    }

    fn carries(pid: i32, spawn: &SpawnId) -> bool {
        let environ = Process::new(pid).and_then(|process| process.environ()).unwrap_or_default();
        let marks = environ.get(OsStr::new(SpawnId::VARIABLE));
        marks.is_some_and(|marks| has_mark(marks.as_encoded_bytes(), spawn))
    }

    fn environment(pid: i32) -> Option<HashMap<OsString, OsString>> {
        Process::new(pid).and_then(|process| process.environ()).ok()
    }

    fn works_in(pid: i32, folder: &Path) -> bool {
        Process::new(pid).and_then(|process| process.cwd()).is_ok_and(|cwd| cwd.starts_with(folder))
    }

    fn stop(member: Member, how: Stop) {
        let Some(pid) = Pid::from_raw(member.pid) else { return };
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        if Self::entry(member.pid).is_none_or(|entry| entry.member != member) {
            return;
        }
        // It may have ended in the meantime, which is fine.
        let _ = match descriptor {
            Ok(descriptor) => pidfd_send_signal(descriptor, signal(how)),
            // Kernels and sandboxes without pidfds: the window for a reused PID is tiny.
            Err(Errno::NOSYS) => kill_process(pid, signal(how)),
            Err(error) => Err(error),
        };
    }

    fn stop_group(root: i32, how: Stop) {
        if let Some(group) = Pid::from_raw(root) {
            let _ = kill_process_group(group, signal(how));
        }
    }

    fn reap(pid: i32) {
        if let Some(pid) = Pid::from_raw(pid) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    fn has_no_children() -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
    }

    fn boot() -> Option<String> {
        let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        id.map(|id| id.trim().to_owned())
    }
}

fn read_once() -> Table {
    // Skip a process that ends while it is being read.
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    Table::new(all.filter_map(|process| process.stat().ok()).map(|stat| entry(&stat)))
}

/// Whether it has the parent of every process.
fn is_closed(table: &Table) -> bool {
    table.entries().all(|entry| entry.parent == 0 || table.get(entry.parent).is_some())
}

fn entry(stat: &Stat) -> Entry {
    Entry {
        member: Member { pid: stat.pid, started: stat.starttime },
        parent: stat.ppid,
        session: Some(stat.session),
        ended: matches!(stat.state, 'Z' | 'X' | 'x'),
    }
}

fn signal(how: Stop) -> Signal {
    match how {
        Stop::Terminate => Signal::TERM,
        Stop::Kill => Signal::KILL,
    }
}
