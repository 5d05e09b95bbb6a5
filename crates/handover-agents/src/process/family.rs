//! The root of a run and its descendants, while the run is supervised.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use process_wrap::std::ChildWrapper;

use super::platform::{Entry, Member, Platform, Stop};
use super::{Identity, System, own_pid};
use crate::SpawnId;

/// The roots of this process's runs. Locked while a root is started and while descendants are attributed,
/// so that no run mistakes the new root of another one for a stray.
static ACTIVE: Mutex<BTreeMap<i32, SpawnId>> = Mutex::new(BTreeMap::new());

fn active() -> MutexGuard<'static, BTreeMap<i32, SpawnId>> {
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
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
            System::adopt(true)?;
        }
        let child = start()?;
        let pid = child.id().cast_signed();
        active.insert(pid, spawn.clone());
        drop(active);
        // It remains a zombie until it is waited for, so it can be read even if it has ended.
        let started = System::entry(pid).map_or(0, |entry| entry.member.started);
        let root = Member { pid, started };
        let folder = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let (spawn, seen) = (spawn.clone(), BTreeSet::new());
        Ok((child, Self { root, spawn, folder, seen, root_reaped: false }))
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.root.pid.cast_unsigned(),
            started: Some(self.root.started),
            boot: System::boot(),
            spawn: self.spawn.to_string(),
        }
    }

    /// Called once the root was waited for: from now on, its PID may be reused.
    pub(crate) fn root_reaped(&mut self) {
        self.root_reaped = true;
    }

    /// Asks all of them to end.
    pub(crate) fn terminate(&mut self) {
        self.stop(Stop::Terminate);
    }

    /// Kills all of them.
    pub(crate) fn kill(&mut self) {
        self.stop(Stop::Kill);
    }

    fn stop(&mut self, how: Stop) {
        if !self.root_reaped {
            System::stop_group(self.root.pid, how);
        }
        for member in self.living() {
            System::stop(member, how);
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
        if self.root_reaped && System::has_no_children() {
            return Vec::new();
        }
        let table = System::table();
        let me = own_pid();
        let my_session = table.get(me).and_then(|entry| entry.session);
        self.seen.retain(|member| table.has(member));
        let mut living = Vec::new();
        for entry in table.entries() {
            let Entry { member, session, .. } = *entry;
            let pid = member.pid;
            let in_session = session == Some(self.root.pid);
            let ours = self.seen.contains(&member)
                // The session id is the root's PID, until both may be reused.
                || in_session && !self.root_reaped
                || match table.child_of(pid, me) {
                    // Where nothing is adopted, a stray is known by its session and its marker.
                    None if System::ADOPTS || pid == me => false,
                    None => in_session || System::carries(pid, &self.spawn) && !table.descends_from(me, pid),
                    Some(_) if in_session => true,
                    Some(top) if top == self.root.pid => true,
                    Some(top) if active.contains_key(&top) => false,
                    // Not adopted but started by us for another purpose: adopted processes left the session
                    // of their root, which was never ours.
                    Some(top) if table.get(top).and_then(|entry| entry.session) == my_session => {
                        false
                    }
                    Some(top) => self.adopted(&[pid, top], &active),
                };
            if !ours || member == self.root && self.root_reaped {
                continue;
            }
            self.seen.insert(member);
            if !entry.ended {
                living.push(member);
            } else if member != self.root && entry.parent == me {
                System::reap(pid);
            }
        }
        living
    }

    /// Whether a process that we adopted after its parent ended belongs to this run: it or an ancestor
    /// carries our marker; or it carries none and works in our folder, or no other run is active that it
    /// could belong to.
    fn adopted(&self, line: &[i32], active: &BTreeMap<i32, SpawnId>) -> bool {
        let has_mark = |spawn: &SpawnId| line.iter().any(|&pid| System::carries(pid, spawn));
        let works_here = || line.iter().any(|&pid| System::works_in(pid, &self.folder));
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
            let _ = System::adopt(false);
        }
    }
}
