//! The interface of a kind of gate: detection, command, and how to read which tests failed.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use handover_agents::Environment;

use super::Gate;
use crate::bounded;

/// A test tool that Handover knows, such as Cargo or Gradle. One file implements it, one line of
/// [`BUILT_IN`](super::BUILT_IN) adds it.
pub trait GateKind: Sync {
    /// A unique name that identifies stored results.
    fn id(&self) -> &'static str;

    /// The gate of a folder; none if the tool is not used there.
    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate>;

    /// Which tests failed.
    fn parse(&self, output: &GateOutput<'_>) -> FailedTests;

    /// Folders outside of the worktree that the tool writes to, such as a build cache: an agent whose program
    /// confines it must be able to run the tool.
    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        let _ = environment;
        Vec::new()
    }

    /// The command that installs what the tool needs, if that was never done in this folder of the checkout.
    fn install(&self, gate: &Gate, folder: &Path) -> Option<String> {
        let _ = (gate, folder);
        None
    }

    /// Whether [`OwnCode`](super::OwnCode) makes this tool use the code of the worktree, and proves it. Of any other it
    /// must be tried.
    fn is_redirected(&self) -> bool {
        false
    }

    /// What is not installed according to the output, although the program started.
    fn missing(&self, output: &GateOutput<'_>) -> Option<String> {
        let _ = output;
        None
    }
}

impl fmt::Debug for dyn GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The folder that a variable names, else one in the user's home.
pub(super) fn folder_of(environment: &Environment, variable: &str, usual: &str) -> Option<PathBuf> {
    let named = environment.get(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(Path::new(environment.get("HOME")?).join(usual)))
}

/// A folder that is searched for a tool.
#[derive(Debug, Clone, Copy)]
pub struct GateFolder<'a> {
    /// The folder: the root of the project or a component.
    pub path: &'a Path,
    /// The user's own checkout, where tools may be installed.
    pub checkout: &'a Path,
    /// The folder's path below the root of the project; empty for the root itself.
    pub below: &'a Path,
    /// A folder for reports, outside the worktree.
    pub scratch: &'a Path,
}

impl GateFolder<'_> {
    /// Whether the folder has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// A file that was installed in the checkout: in this folder, else in the nearest one above it.
    pub fn installed(&self, names: &[&str]) -> Option<PathBuf> {
        let folders = self.below.ancestors().map(|folder| self.checkout.join(folder));
        let files = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        files.into_iter().find(|file| file.exists())
    }

    /// The text of a file; none if it cannot be read.
    pub fn read(&self, name: &str) -> Option<String> {
        bounded::text(&self.path.join(name))
    }
}

/// What a gate printed and wrote.
#[derive(Debug, Clone, Copy)]
pub struct GateOutput<'a> {
    /// Its standard output.
    pub stdout: &'a str,
    /// Its standard error.
    pub stderr: &'a str,
    /// The contents of its report files, in the order of their paths.
    pub reports: &'a [String],
}

/// Which tests failed, as far as the tool reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedTests {
    /// Their names, which must be stable between runs.
    pub names: BTreeSet<String>,
    /// Whether there is a failure without a name, such as a compiler error.
    pub unknown: bool,
    /// How many tests ran, if the tool says so.
    pub ran: Option<u64>,
}

/// The longest name of a test.
const MAX_NAME: usize = 300;

impl FailedTests {
    /// A report that is missing or cannot be read.
    pub fn unreadable() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// Counts a test that ran.
    pub fn count(&mut self) {
        self.ran = Some(self.ran.unwrap_or_default() + 1);
    }

    /// Adds the name of a failed test, shortened if necessary.
    pub fn add(&mut self, name: &str) {
        self.names.insert(name.trim().chars().take(MAX_NAME).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_bounded_and_unique() {
        let mut failed = FailedTests::default();
        failed.add("  a  ");
        failed.add("a");
        failed.add(&"ä".repeat(MAX_NAME + 5));
        assert_eq!(failed.names.len(), 2);
        assert_eq!(failed.names.iter().map(|name| name.chars().count()).max(), Some(MAX_NAME));
        assert!(!failed.unknown && FailedTests::unreadable().unknown);
    }

    #[test]
    fn a_kind_is_shown_by_its_id() {
        let kind: &dyn GateKind = &super::super::Cargo;
        assert_eq!(format!("{kind:?}"), "cargo");
        let output = GateOutput { stdout: "", stderr: "", reports: &[] };
        assert_eq!(kind.missing(&output), None, "most tools are missing if their program is");
    }
}
