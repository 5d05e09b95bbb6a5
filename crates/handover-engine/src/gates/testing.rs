//! Small projects on disk for the tests of gates.

use std::path::Path;

use super::{Gate, GateFolder, GateKind, GateOutput};

pub(super) fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    root
}

pub(super) fn detect_in(kind: &dyn GateKind, files: &[(&str, &str)]) -> Option<Gate> {
    let root = project(files);
    detect_below(kind, root.path(), "")
}

/// The gate of a folder of a project.
pub(super) fn detect_below(kind: &dyn GateKind, root: &Path, below: &str) -> Option<Gate> {
    let (path, below) = (root.join(below), Path::new(below));
    kind.detect(&GateFolder { path: &path, checkout: root, below, scratch: root })
}

/// The names of failed tests, and whether there are failures without a name.
pub(super) fn parse(
    kind: &dyn GateKind,
    stdout: &str,
    stderr: &str,
    reports: &[String],
) -> (Vec<String>, bool) {
    let failed = kind.parse(&GateOutput { stdout, stderr, reports });
    (failed.names.into_iter().collect(), failed.unknown)
}
