//! Since when which agent programs are connected to this project, and where they ran: `.handover/connections.json`.
//! `handover coverage` judges what happened in a connected program, also in worktrees that are gone by now.
//!
//! `host install` and `host uninstall` write it; so do hooks, for those who call us in another way, such as a plugin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_files::{Folder, Sync};
use handover_hosts::Registry;
use handover_model::{Host, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Connection, connection};
use crate::app::App;
use crate::error::CommandError;
use crate::project::Project;

const FILE: &str = "connections.json";

/// The most that is read of it.
const MAX_BYTES: u64 = 1024 * 1024;

/// How many folders are remembered.
const MAX_FOLDERS: usize = 500;

/// How many times each program is remembered to have been connected.
const MAX_SPANS: usize = 100;

/// How many seconds before its first hook a program has started, at most.
const START_SECONDS: i64 = 60;

/// When programs were connected, and the folders outside of the project in which they ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Connections {
    hosts: BTreeMap<String, Vec<Span>>,
    folders: Vec<PathBuf>,
}

/// A time in which a program was connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Span {
    from: Timestamp,
    /// None if it still is.
    until: Option<Timestamp>,
}

impl Connections {
    fn read(folder: &Folder) -> Self {
        let bytes = folder.read(FILE, MAX_BYTES).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write(&self, folder: &Folder) -> Result<(), CommandError> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        Ok(folder.replace(FILE, &bytes, Sync::No)?)
    }

    /// Whether a program was connected at some time.
    pub(crate) fn include(&self, host: Host, at: Timestamp) -> bool {
        let is_in = |span: &Span| span.from <= at && span.until.is_none_or(|until| at < until);
        self.spans(host).iter().any(is_in)
    }

    /// Whether it was ever connected.
    pub(crate) fn know(&self, host: Host) -> bool {
        !self.spans(host).is_empty()
    }

    /// The folders in which programs ran and that are gone, such as worktrees that were removed.
    pub(crate) fn gone(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().filter(|folder| !folder.exists())
    }

    fn spans(&self, host: Host) -> &[Span] {
        self.hosts.get(host.as_str()).map(Vec::as_slice).unwrap_or_default()
    }

    fn is_open(&self, host: Host) -> bool {
        self.spans(host).last().is_some_and(|span| span.until.is_none())
    }

    /// True if that changes anything.
    fn begin(&mut self, host: Host, from: Timestamp) -> bool {
        if self.is_open(host) {
            return false;
        }
        let spans = self.hosts.entry(host.to_string()).or_default();
        let from = spans.iter().filter_map(|span| span.until).fold(from, Timestamp::max);
        spans.push(Span { from, until: None });
        spans.drain(..spans.len().saturating_sub(MAX_SPANS));
        true
    }

    /// True if that changes anything.
    fn end(&mut self, host: Host, now: Timestamp) -> bool {
        let open = self.hosts.get_mut(host.as_str()).and_then(|spans| spans.last_mut());
        match open.filter(|span| span.until.is_none()) {
            Some(span) => {
                span.until = Some(now);
                true
            }
            None => false,
        }
    }

    /// True if that changes anything.
    fn ran_in(&mut self, folder: &Path, root: &Path) -> bool {
        if folder.starts_with(root) || self.folders.iter().any(|known| folder.starts_with(known)) {
            return false;
        }
        self.folders.push(folder.to_owned());
        self.folders.drain(..self.folders.len().saturating_sub(MAX_FOLDERS));
        true
    }
}

/// Records that a program was connected now.
pub(crate) fn begin(project: &Project, host: Host, now: Timestamp) -> Result<(), CommandError> {
    let mut known = Connections::read(&project.folder());
    if known.begin(host, now) { known.write(&project.folder()) } else { Ok(()) }
}

/// Records that a program is connected no longer.
pub(crate) fn end(project: &Project, host: Host, now: Timestamp) -> Result<(), CommandError> {
    let mut known = Connections::read(&project.folder());
    if known.end(host, now) { known.write(&project.folder()) } else { Ok(()) }
}

/// Records that a program has called a hook, in a folder.
pub(crate) fn called(
    project: &Project,
    host: Host,
    folder: Option<&Path>,
    now: Timestamp,
) -> Result<(), CommandError> {
    let mut known = Connections::read(&project.folder());
    let begun = known.begin(host, now.plus_seconds(-START_SECONDS));
    let moved = folder.is_some_and(|folder| known.ran_in(folder, &project.root));
    if begun || moved { known.write(&project.folder()) } else { Ok(()) }
}

/// What is known, together with what settings say now: somebody may have edited them.
pub(crate) fn current(app: &App) -> Result<Connections, CommandError> {
    let folder = app.project()?.folder();
    let mut known = Connections::read(&folder);
    let mut changed = false;
    for host in Registry::built_in().iter() {
        changed |= match connection(app, host) {
            Connection::Since(at) => known.begin(host.name(), at),
            Connection::None => known.end(host.name(), app.now()),
            Connection::Unknown => false,
        };
    }
    if changed {
        // Who may only read gets the same answer, but not for ever.
        let _ = known.write(&folder);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::default().plus_seconds(seconds)
    }

    #[test]
    fn a_program_may_be_connected_several_times() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::at(folder.path());
        fs_err::create_dir(folder.path().join(".handover")).unwrap();
        for (from, until) in [(10, 20), (30, 40)] {
            begin(&project, Host::CLAUDE, at(from)).unwrap();
            begin(&project, Host::CLAUDE, at(from + 5)).unwrap();
            end(&project, Host::CLAUDE, at(until)).unwrap();
            end(&project, Host::CLAUDE, at(until + 5)).unwrap();
        }
        // Its start was before the first hook, but not before it was disconnected.
        called(&project, Host::CLAUDE, Some(Path::new("/gone/worktree/inner")), at(50)).unwrap();
        called(&project, Host::CLAUDE, Some(&folder.path().join("src")), at(60)).unwrap();
        let known = Connections::read(&project.folder());
        let when: Vec<i64> =
            (0..60).step_by(5).filter(|s| known.include(Host::CLAUDE, at(*s))).collect();
        assert_eq!(when, [10, 15, 30, 35, 40, 45, 50, 55]);
        assert!(known.know(Host::CLAUDE) && !known.know(Host::CODEX));
        assert!(known.gone().eq([Path::new("/gone/worktree/inner")]));
    }
}
