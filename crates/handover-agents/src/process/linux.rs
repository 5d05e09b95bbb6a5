//! Finds descendants through `/proc` and kills them through pidfds, which cannot refer to another process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use process_wrap::std::ChildWrapper;
use procfs::process::{Process, Stat};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process,
    kill_process_group, pidfd_open, pidfd_send_signal, set_child_subreaper, waitid, waitpid,
};

use super::{Identity, OrphanEnd};
use crate::{AgentError, SpawnId};

/// How long a killed process may take to disappear before it counts as stuck.
const STUCK: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(10);

/// The roots of this process's runs. Locked while a root is started and while descendants are attributed,
/// so that no run mistakes the new root of another one for a stray.
static ACTIVE: Mutex<BTreeMap<i32, SpawnId>> = Mutex::new(BTreeMap::new());

fn active() -> MutexGuard<'static, BTreeMap<i32, SpawnId>> {
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process at one moment; the start time makes the PID unambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Member {
    pid: i32,
    started: u64,
}

/// The root of a run and all its descendants.
pub(crate) struct Family {
    root: Member,
    spawn: SpawnId,
    /// The root's working folder.
    folder: PathBuf,
    /// Processes known to be ours: a process that has ended no longer reveals its marker.
    seen: BTreeSet<Member>,
    root_reaped: bool,
}

impl Family {
    /// Starts the root and adopts its descendants from now on.
    pub(crate) fn start(
        spawn: &SpawnId,
        folder: &Path,
        start: impl FnOnce() -> io::Result<Box<dyn ChildWrapper>>,
    ) -> io::Result<(Box<dyn ChildWrapper>, Self)> {
        let mut active = active();
        if active.is_empty() {
            set_child_subreaper(Some(getpid()))?;
        }
        let child = start()?;
        let pid = child.id().cast_signed();
        active.insert(pid, spawn.clone());
        drop(active);
        // It remains a zombie until it is waited for, so it can be read even if it has ended.
        let started = stat_of(pid).map_or(0, |stat| stat.starttime);
        let root = Member { pid, started };
        let folder = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let (spawn, seen) = (spawn.clone(), BTreeSet::new());
        Ok((child, Self { root, spawn, folder, seen, root_reaped: false }))
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.root.pid.cast_unsigned(),
            started: Some(self.root.started),
            boot: boot(),
            spawn: self.spawn.to_string(),
        }
    }

    /// Called once the root was waited for: from now on, its PID may be reused.
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

    fn signal(&mut self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.root.pid).filter(|_| !self.root_reaped) {
            // One call for the whole group, so that concurrent forks do not escape.
            let _ = kill_process_group(group, signal);
        }
        for member in self.living() {
            send(member, signal);
        }
    }

    /// How many of them, besides the root, are still running. Zombies are reaped.
    pub(crate) fn survivors(&mut self) -> u32 {
        let living = self.living();
        u32::try_from(living.iter().filter(|&&member| member != self.root).count())
            .unwrap_or(u32::MAX)
    }

    fn living(&mut self) -> Vec<Member> {
        let active = active();
        if self.root_reaped && has_no_children() {
            return Vec::new();
        }
        let table = Table::read();
        let me = getpid().as_raw_pid();
        let my_session = table.stats.get(&me).map(|stat| stat.session);
        let there =
            |seen: &Member| table.stats.get(&seen.pid).is_some_and(|stat| member(stat) == *seen);
        self.seen.retain(there);
        let mut living = Vec::new();
        for stat in table.stats.values() {
            let member = member(stat);
            let ours = self.seen.contains(&member)
                // The session id is the root's PID, until both may be reused.
                || stat.session == self.root.pid && !self.root_reaped
                || match table.child_of(stat.pid, me) {
                    None => false,
                    Some(_) if stat.session == self.root.pid => true,
                    Some(top) if top == self.root.pid => true,
                    Some(top) if active.contains_key(&top) => false,
                    // Not adopted but started by us for another purpose: adopted processes left the session
                    // of their root, which was never ours.
                    Some(top) if table.stats.get(&top).map(|stat| stat.session) == my_session => {
                        false
                    }
                    Some(top) => self.adopted(&[stat.pid, top], &active),
                };
            if !ours || member == self.root && self.root_reaped {
                continue;
            }
            self.seen.insert(member);
            if !ended(stat) {
                living.push(member);
            } else if member != self.root
                && stat.ppid == me
                && let Some(pid) = Pid::from_raw(stat.pid)
            {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        living
    }

    /// Whether a process that we adopted after its parent ended belongs to this run: it or an ancestor
    /// carries our marker; or it carries none and works in our folder, or no other run is active that it
    /// could belong to.
    fn adopted(&self, line: &[i32], active: &BTreeMap<i32, SpawnId>) -> bool {
        let has_mark = |spawn: &SpawnId| line.iter().any(|&pid| carries(pid, spawn));
        let works_here = || line.iter().any(|&pid| works_in(pid, &self.folder));
        has_mark(&self.spawn) || active.len() == 1 || works_here() && !active.values().any(has_mark)
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.root_reaped {
            // The run was abandoned because of an error or a panic.
            self.kill();
        }
        let mut active = active();
        active.remove(&self.root.pid);
        if active.is_empty() {
            let _ = set_child_subreaper(None);
        }
    }
}

/// Ends this process as `kill -9` would: nothing is flushed or reported.
pub fn die() -> ! {
    loop {
        let _ = kill_process(getpid(), Signal::KILL);
        sleep(TICK);
    }
}

/// The identity of this process.
pub fn current_process(spawn: &SpawnId) -> Identity {
    let pid = getpid().as_raw_pid();
    let started = stat_of(pid).map(|stat| stat.starttime);
    Identity { pid: pid.cast_unsigned(), started, boot: boot(), spawn: spawn.to_string() }
}

/// Whether a recorded process of this machine is still running; none if that cannot be determined.
pub fn is_alive(identity: &Identity) -> Option<bool> {
    let started = identity.started?;
    if identity.boot.is_some() && identity.boot != boot() {
        return Some(false);
    }
    let stat = stat_of(identity.pid.cast_signed());
    Some(stat.is_some_and(|stat| stat.starttime == started && !ended(&stat)))
}

/// Kills a process that an earlier run recorded, and every process with the run's marker. A process that merely
/// has the same PID is not touched.
pub fn end_orphan(identity: &Identity, grace: Duration) -> Result<OrphanEnd, AgentError> {
    let Some(started) = identity.started else {
        return Err(AgentError::Unproven { pid: identity.pid });
    };
    let spawn = SpawnId::new(identity.spawn.clone())?;
    let root = Member { pid: identity.pid.cast_signed(), started };
    let same_boot = identity.boot.is_none() || identity.boot == boot();
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
                send(member, Signal::KILL);
            } else if asked.insert(member) {
                send(member, Signal::TERM);
            }
        }
        sleep(TICK);
    }
}

/// Processes that carry the marker or descend from the recorded root, except this process and its ancestors.
fn marked(spawn: &SpawnId, root: Option<Member>) -> Result<Vec<Member>, AgentError> {
    let table = Table::read();
    let me = getpid().as_raw_pid();
    if !table.stats.contains_key(&me) {
        return Err(AgentError::Processes(io::Error::other("/proc does not show this process")));
    }
    let root =
        root.filter(|root| table.stats.get(&root.pid).is_some_and(|stat| member(stat) == *root));
    let ours = |stat: &Stat| {
        root.is_some_and(|root| {
            stat.pid == root.pid
                || stat.session == root.pid
                || table.descends_from(stat.pid, root.pid)
        }) || carries(stat.pid, spawn)
    };
    let above = |stat: &Stat| stat.pid == me || table.descends_from(me, stat.pid);
    let found = table.stats.values().filter(|stat| !ended(stat) && !above(stat) && ours(stat));
    Ok(found.map(member).collect())
}

/// A snapshot of the process table.
struct Table {
    stats: HashMap<i32, Stat>,
}

impl Table {
    /// A parent that ends while the table is read would hide its children, so such a table is read again. (Some
    /// systems permanently hide the processes of other users, and with them parents.)
    fn read() -> Self {
        let mut table = Self::read_once();
        for _ in 0..2 {
            if table.stats.values().all(|s| s.ppid == 0 || table.stats.contains_key(&s.ppid)) {
                break;
            }
            table = Self::read_once();
        }
        table
    }

    fn read_once() -> Self {
        // Skip a process that ends while it is being read.
        let all = procfs::process::all_processes().into_iter().flatten().flatten();
        Self { stats: all.filter_map(|process| process.stat().ok()).map(|s| (s.pid, s)).collect() }
    }

    /// The child of `parent` that is this process or one of its ancestors.
    fn child_of(&self, pid: i32, parent: i32) -> Option<i32> {
        self.line(pid).find(|stat| stat.ppid == parent).map(|stat| stat.pid)
    }

    fn descends_from(&self, pid: i32, ancestor: i32) -> bool {
        self.line(pid).any(|stat| stat.ppid == ancestor)
    }

    /// A process, its parent, and so on. The table is not read atomically, so cycles are possible.
    fn line(&self, pid: i32) -> impl Iterator<Item = &Stat> {
        std::iter::successors(self.stats.get(&pid), |stat| self.stats.get(&stat.ppid))
            .take(self.stats.len())
    }
}

/// Whether this process has no children at all, not even adopted ones. Then nothing it ever started is
/// left, and the table need not be read.
fn has_no_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

fn member(stat: &Stat) -> Member {
    Member { pid: stat.pid, started: stat.starttime }
}

fn ended(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X' | 'x')
}

fn stat_of(pid: i32) -> Option<Stat> {
    Process::new(pid).and_then(|process| process.stat()).ok()
}

/// Whether a process has the marker in its environment.
fn carries(pid: i32, spawn: &SpawnId) -> bool {
    let environ = Process::new(pid).and_then(|process| process.environ()).unwrap_or_default();
    environ.get(OsStr::new(SpawnId::VARIABLE)).is_some_and(|marks| {
        let mut marks = marks.as_encoded_bytes().split(|&byte| byte == b':');
        marks.any(|mark| mark == spawn.as_str().as_bytes())
    })
}

/// Whether a process works in a folder or below it.
fn works_in(pid: i32, folder: &Path) -> bool {
    Process::new(pid).and_then(|process| process.cwd()).is_ok_and(|cwd| cwd.starts_with(folder))
}

fn boot() -> Option<String> {
    fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Signals a process, and never another one that has reused its PID.
fn send(member: Member, signal: Signal) {
    let Some(pid) = Pid::from_raw(member.pid) else { return };
    let descriptor = pidfd_open(pid, PidfdFlags::empty());
    if stat_of(member.pid).is_none_or(|stat| stat.starttime != member.started) {
        return;
    }
    // It may have ended in the meantime, which is fine.
    let _ = match descriptor {
        Ok(descriptor) => pidfd_send_signal(descriptor, signal),
        // Kernels and sandboxes without pidfds: the window for a reused PID is tiny.
        Err(Errno::NOSYS) => kill_process(pid, signal),
        Err(error) => Err(error),
    };
}
