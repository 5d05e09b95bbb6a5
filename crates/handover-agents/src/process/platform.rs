//! What supervision asks of an operating system. Whatever differs between systems is behind [`Platform`]; who belongs
//! to a run is decided by `family.rs` and `orphans.rs`, the same way everywhere.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::SpawnId;

/// A process at one moment; the start time makes the PID unambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Member {
    pub(super) pid: i32,
    /// In a unit of the platform's own.
    pub(super) started: u64,
}

/// A line of the process table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) member: Member,
    pub(super) parent: i32,
    /// The session, where a root is the leader of one.
    pub(super) session: Option<i32>,
    /// Whether it has ended and only waits to be reaped.
    pub(super) ended: bool,
}

/// How a process is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It may clean up first, where the system knows such a request.
    Terminate,
    /// At once.
    Kill,
}

/// An operating system.
pub(super) trait Platform {
    /// Whether descendants whose parents have ended become children of this process.
    const ADOPTS: bool;

    /// Begins or ends adopting descendants, where the system can do that.
    fn adopt(adopt: bool) -> io::Result<()>;

    /// All processes that can be seen.
    fn table() -> Table;

    /// One process.
    fn entry(pid: i32) -> Option<Entry>;

    /// Whether a process has the marker in its environment.
    fn carries(pid: i32, spawn: &SpawnId) -> bool;

    /// The environment that a process was started with, unless the system hides it.
    fn environment(pid: i32) -> Option<HashMap<OsString, OsString>>;

    /// Whether a process works in a folder or below it.
    fn works_in(pid: i32, folder: &Path) -> bool;

    /// Stops a process, and never another one that has reused its PID.
    fn stop(member: Member, how: Stop);

    /// Stops the group of a root that has not been reaped, in one call, so that concurrent forks do not escape.
    fn stop_group(root: i32, how: Stop);

    /// Reaps a child that has ended.
    fn reap(pid: i32);

    /// Whether this process has no children at all, not even adopted ones. Then nothing it ever started is left,
    /// and the table need not be read.
    fn has_no_children() -> bool;

    /// What identifies the time since the last start of the machine, if start times alone do not.
    fn boot() -> Option<String>;
}

/// The list of markers that an environment variable contains has this one.
pub(super) fn has_mark(marks: &[u8], spawn: &SpawnId) -> bool {
    marks.split(|&byte| byte == b':').any(|mark| mark == spawn.as_str().as_bytes())
}

/// A snapshot of the process table.
pub(super) struct Table {
    entries: HashMap<i32, Entry>,
}

impl Table {
    pub(super) fn new(entries: impl Iterator<Item = Entry>) -> Self {
        Self { entries: entries.map(|entry| (entry.member.pid, entry)).collect() }
    }

    pub(super) fn get(&self, pid: i32) -> Option<&Entry> {
        self.entries.get(&pid)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub(super) fn has(&self, member: &Member) -> bool {
        self.get(member.pid).is_some_and(|entry| entry.member == *member)
    }

    /// The child of `parent` that is this process or one of its ancestors.
    pub(super) fn child_of(&self, pid: i32, parent: i32) -> Option<i32> {
        self.line(pid).find(|entry| entry.parent == parent).map(|entry| entry.member.pid)
    }

    pub(super) fn descends_from(&self, pid: i32, ancestor: i32) -> bool {
        self.line(pid).any(|entry| entry.parent == ancestor)
    }

    /// A process, its parent, and so on. The table is not read atomically, so cycles are possible. A parent that
    /// started later than its child only has the PID of the true one.
    fn line(&self, pid: i32) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.get(pid), |entry| {
            self.get(entry.parent).filter(|parent| parent.member.started <= entry.member.started)
        })
        .take(self.entries.len())
    }
}
