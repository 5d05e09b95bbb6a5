//! Makes the project's tools use the code of a worktree. Dependencies are installed in the user's checkout,
//! and some of them lead back there: editable installs of Python, linked packages of Node, a `go.work` that
//! is not committed, patches in the configuration of Cargo, siblings in the local repository of Maven, which Gradle
//! reads, too; and copies of the project that were installed once. Gates would then check something else, whatever
//! an agent has done.
//!
//! Each ecosystem has a file that redirects its tools and proves it: a tool that would still use the checkout
//! is an error, because its result would mean nothing.

mod cargo;
mod go;
mod gradle;
mod maven;
mod named;
mod node;
mod python;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{AgentEvent, CancelToken, Ended, Environment, Invocation, SpawnId, run_tool};
use handover_model::Host;

use super::{Gate, GateError};

pub(super) use python::PYTHONS;

/// How long a tool may take to say where it would find its code.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A worktree whose code the tools should use.
pub struct OwnCode<'a> {
    /// The project's folder in the user's checkout.
    pub checkout: &'a Path,
    /// The project's folder in the worktree.
    pub folder: &'a Path,
    /// The worktree's own folder.
    pub root: &'a Path,
    /// The environment that the tools see.
    pub environment: &'a Environment,
    /// The gates that will run there, whose interpreters are asked.
    pub gates: &'a [Gate],
    /// Whether git ignores a path of the project, so that files there are not part of the work.
    pub is_ignored: &'a dyn Fn(&Path) -> bool,
    /// The marker of processes.
    pub spawn: SpawnId,
    /// Stops them.
    pub cancel: &'a CancelToken,
}

/// Variables that make tools use the worktree's code, with their values.
pub type Variables = Vec<(String, OsString)>;

/// A search path that makes an interpreter use the worktree's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The folder of the project that it is for; empty for the root.
    pub folder: PathBuf,
    /// The variable.
    pub name: String,
    /// Its value: folders, in order.
    pub value: OsString,
}

/// What makes all tools of a project use the worktree's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redirected {
    paths: Vec<Redirection>,
    variables: Variables,
}

impl Redirected {
    /// The variables for what runs in a folder: those that belong to it; for the root, where anything may be
    /// started, all of them together.
    pub fn in_folder(&self, folder: &Path) -> Variables {
        let mut variables = self.variables.clone();
        let is_own = |path: &&Redirection| path.folder == folder;
        let has_own = !folder.as_os_str().is_empty() && self.paths.iter().any(|it| is_own(&it));
        for path in self.paths.iter().filter(|path| !has_own || is_own(path)) {
            match variables.iter_mut().find(|(name, _)| *name == path.name) {
                Some((_, value)) => *value = both(value, &path.value),
                None => variables.push((path.name.clone(), path.value.clone())),
            }
        }
        variables
    }
}

/// Two lists of folders as one.
fn both(one: &OsString, other: &OsString) -> OsString {
    let mut all: Vec<PathBuf> = std::env::split_paths(one).collect();
    all.extend(std::env::split_paths(other));
    let mut seen = std::collections::HashSet::new();
    all.retain(|folder| seen.insert(folder.clone()));
    std::env::join_paths(all).unwrap_or_else(|_| one.clone())
}

impl OwnCode<'_> {
    /// Redirects all tools of the project, and fails if one would still use the checkout.
    pub fn redirect(&self, on_event: &mut dyn FnMut(AgentEvent)) -> Result<Redirected, GateError> {
        let mut redirected = self.ask_interpreters(on_event)?;
        redirected.variables = self.link()?;
        Ok(redirected)
    }

    /// The part that must ask programs. Its answer is the same for every worktree of a project.
    pub fn ask_interpreters(
        &self,
        on_event: &mut dyn FnMut(AgentEvent),
    ) -> Result<Redirected, GateError> {
        named::prove(self)?;
        maven::prove(self)?;
        gradle::prove(self)?;
        cargo::prove(self, on_event)?;
        Ok(Redirected { paths: python::redirect(self, on_event)?, variables: Variables::new() })
    }

    /// The part that only needs files, in this worktree.
    pub fn link(&self) -> Result<Variables, GateError> {
        node::redirect(self)?;
        go::redirect(self)
    }

    /// What a tool prints that is started in a place; none if it is missing or fails.
    fn ask(
        &self,
        program: &Path,
        place: &Path,
        args: Vec<OsString>,
        environment: Environment,
        on_event: &mut dyn FnMut(AgentEvent),
    ) -> Option<String> {
        let mut invocation = Invocation::new(Host::COMMAND, self.spawn.clone(), place);
        invocation.program = program.to_owned();
        invocation.args = args;
        invocation.environment = environment;
        invocation.limits.wall = Some(TIMEOUT);
        let outcome = run_tool(&invocation, on_event, self.cancel).ok()?;
        (outcome.ended == Ended::Exited(0)).then(|| outcome.stdout.text())
    }

    /// The place in the worktree of a place in the checkout; none for anything else.
    fn here(&self, place: &Path) -> Option<PathBuf> {
        let below = place.strip_prefix(self.checkout).ok()?;
        Some(self.folder.join(below))
    }
}

fn elsewhere(what: impl Into<String>, place: &Path) -> GateError {
    GateError::Elsewhere { what: what.into(), place: place.to_owned() }
}

/// A folder of the worktree as people name it.
fn shown(own: &OwnCode<'_>, folder: &Path) -> String {
    folder.strip_prefix(own.folder).unwrap_or(folder).display().to_string()
}

/// How deep the folders of a project are searched; gates are found as deep.
const DEPTH: usize = 3;

/// Visits the folders of a project, from the top, until the visitor has seen enough. Hidden folders and those
/// of dependencies and builds are left out.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path) -> bool) {
    let mut open = std::collections::VecDeque::from([(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop_front() {
        if !visit(&folder) {
            return;
        }
        let Ok(entries) = fs_err::read_dir(&folder) else { continue };
        let mut inner: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                !name.starts_with('.')
                    && !matches!(name.as_str(), "node_modules" | "target" | "build")
            })
            .map(|entry| entry.path())
            .collect();
        inner.sort();
        open.extend(inner.into_iter().filter(|_| depth < DEPTH).map(|inner| (inner, depth + 1)));
    }
}

/// The folder of a project with a file, or those inside of it.
fn folders_with(folder: &Path, file: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(folder, &mut |inner| {
        if inner.join(file).is_file() {
            found.push(inner.to_owned());
        }
        // Others belong to that at the top.
        !found.iter().any(|found| found == folder)
    });
    found
}
