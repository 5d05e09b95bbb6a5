//! Finds unregistered package files: those in a session's own folders, and artifacts whose names identify
//! them.

use std::path::{Path, PathBuf};

use handover_model::SessionId;
use ignore::WalkBuilder;

use super::ProjectPaths;
use super::name;
use crate::ignore_files;

/// The deepest level that is searched.
const MAX_DEPTH: usize = 12;

/// Folders of third-party or generated files, whether or not git ignores them.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor", ".git", ".venv", "dist", "build"];

/// How much of the project is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach<'a> {
    /// Only the session's own folders.
    Session,
    /// Also artifacts with identifying names anywhere below these roots, except in folders of other
    /// sessions.
    Project {
        /// The project, and the worktree the user is in.
        roots: &'a [PathBuf],
        /// All other sessions.
        others: &'a [SessionId],
    },
}

/// The files that look like packages of a session, sorted by path.
pub fn scan(paths: &ProjectPaths, session: &SessionId, reach: Reach<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let own = own_folders(paths, session);
    for folder in &own {
        for path in markdown_files(folder, false) {
            found.push(path);
        }
    }
    if let Reach::Project { roots, others } = reach {
        let foreign: Vec<PathBuf> =
            others.iter().flat_map(|other| own_folders(paths, other)).collect();
        for path in roots.iter().flat_map(|root| markdown_files(root, true)) {
            let file_name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let identifies = file_name.contains("_group_") && name::read(file_name).kind.is_some();
            if identifies && !own.iter().chain(&foreign).any(|folder| path.starts_with(folder)) {
                found.push(path);
            }
        }
    }
    found.sort();
    // A worktree may be inside the project.
    found.dedup();
    found
}

/// The folders in which every file belongs to the session.
fn own_folders(paths: &ProjectPaths, session: &SessionId) -> [PathBuf; 2] {
    let theirs = paths.root().join("bazinga").join("artifacts").join(session.as_str());
    [paths.artifacts(session), theirs]
}

fn markdown_files(folder: &Path, respect_ignores: bool) -> impl Iterator<Item = PathBuf> {
    let mut walk = WalkBuilder::new(folder);
    walk.max_depth(Some(MAX_DEPTH)).follow_links(false).filter_entry(move |entry| {
        let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let reads_ignores = respect_ignores && is_folder;
        !is_skipped && (!reads_ignores || ignore_files::are_readable(entry.path()))
    });
    if !respect_ignores {
        // `.handover/` is hidden and ignored by design.
        walk.standard_filters(false);
    } else if !folder.ancestors().all(ignore_files::are_readable) {
        walk.parents(false).ignore(false).git_ignore(false).git_exclude(false);
    }
    walk.build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_own_folders_fully_and_others_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "x").unwrap();
        };
        for path in [
            ".handover/artifacts/s1/context/anything.md",
            ".handover/artifacts/s2/context/foreign.md",
            "bazinga/artifacts/s1/qa_failures_group_A.md",
            "bazinga/artifacts/s2/qa_failures_group_B.md",
            "reports/investigation_group_A.md",
            "README.md",
            "docs/research-user-auth.md",
            "node_modules/x/qa_failures_group_A.md",
        ] {
            write(path);
        }
        let paths = ProjectPaths::new(folder.path(), &[]).unwrap();
        let (s1, s2) = (SessionId::new("s1").unwrap(), SessionId::new("s2").unwrap());
        let names = |reach| -> Vec<String> {
            let found = scan(&paths, &s1, reach);
            let relative = found.iter().map(|path| path.strip_prefix(paths.root()).unwrap());
            relative.map(|p| p.display().to_string()).collect()
        };
        assert_eq!(
            names(Reach::Session),
            [
                ".handover/artifacts/s1/context/anything.md",
                "bazinga/artifacts/s1/qa_failures_group_A.md"
            ]
        );
        assert_eq!(
            names(Reach::Project { roots: &[paths.root().to_owned()], others: &[s2] }),
            [
                ".handover/artifacts/s1/context/anything.md",
                "bazinga/artifacts/s1/qa_failures_group_A.md",
                "reports/investigation_group_A.md"
            ]
        );
    }
}
