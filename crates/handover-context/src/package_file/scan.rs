//! Finding package files that nobody registered: those in a session's own folders, and artifacts
//! whose names say what they are.

use std::path::{Path, PathBuf};

use handover_model::SessionId;
use ignore::WalkBuilder;

use super::ProjectPaths;
use super::name;

/// Deeper folders are not looked into.
const MAX_DEPTH: usize = 12;

/// Folders of other people's files, with or without a gitignore that says so.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor", ".git", ".venv", "dist", "build"];

/// How far a scan looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach<'a> {
    /// The session's own folders.
    Session,
    /// The session's own folders, and artifacts with telling names anywhere below these roots (the
    /// project, the worktree in which the user is), except in the folders of other sessions.
    Project {
        /// Where to look.
        roots: &'a [PathBuf],
        /// Every other session.
        others: &'a [SessionId],
    },
}

/// The files that look like packages of a session, sorted by path.
pub fn scan(places: &ProjectPaths, session: &SessionId, reach: Reach<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let own = own_folders(places, session);
    for folder in &own {
        for path in markdown_files(folder, false) {
            found.push(path);
        }
    }
    if let Reach::Project { roots, others } = reach {
        let foreign: Vec<PathBuf> =
            others.iter().flat_map(|other| own_folders(places, other)).collect();
        for path in roots.iter().flat_map(|root| markdown_files(root, true)) {
            let file_name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let telling = file_name.contains("_group_") && name::read(file_name).kind.is_some();
            if telling && !own.iter().chain(&foreign).any(|folder| path.starts_with(folder)) {
                found.push(path);
            }
        }
    }
    found.sort();
    // A worktree may lie inside the project.
    found.dedup();
    found
}

/// The folders in which everything belongs to a session.
fn own_folders(places: &ProjectPaths, session: &SessionId) -> [PathBuf; 2] {
    let theirs = places.root().join("bazinga").join("artifacts").join(session.as_str());
    [places.artifacts(session), theirs]
}

fn markdown_files(folder: &Path, respect_ignores: bool) -> impl Iterator<Item = PathBuf> {
    let mut walk = WalkBuilder::new(folder);
    walk.max_depth(Some(MAX_DEPTH))
        .follow_links(false)
        .filter_entry(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name));
    if !respect_ignores {
        // `.handover/` is hidden and ignored by design.
        walk.standard_filters(false);
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
    fn own_folders_in_full_the_rest_by_name() {
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
        let places = ProjectPaths::new(folder.path(), &[]).unwrap();
        let (s1, s2) = (SessionId::new("s1").unwrap(), SessionId::new("s2").unwrap());
        let names = |reach| -> Vec<String> {
            let found = scan(&places, &s1, reach);
            let relative = found.iter().map(|path| path.strip_prefix(places.root()).unwrap());
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
            names(Reach::Project { roots: &[places.root().to_owned()], others: &[s2] }),
            [
                ".handover/artifacts/s1/context/anything.md",
                "bazinga/artifacts/s1/qa_failures_group_A.md",
                "reports/investigation_group_A.md"
            ]
        );
    }
}
