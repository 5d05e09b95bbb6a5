//! What runs leave behind.

use std::path::Path;

use handover_engine::garbage::Leftovers;
use handover_files::Folder;
use handover_model::Timestamp;
use handover_sqlite::SqliteStore;

/// A project's `.handover/` with these folders below `runs/`.
fn folders(names: &[&str]) -> (tempfile::TempDir, SqliteStore) {
    let project = tempfile::tempdir().unwrap();
    for name in names {
        fs_err::create_dir_all(project.path().join(".handover/runs").join(name)).unwrap();
    }
    let store = SqliteStore::open(&project.path().join(".handover/store.db")).unwrap();
    (project, store)
}

/// What can be deleted, with the reason, of what was changed before this time.
fn found(project: &Path, store: &SqliteStore, before: i64) -> Vec<(String, String)> {
    let folder = Folder::at(project).inside(".handover");
    let before = Timestamp::from_micros(before);
    let findings = Leftovers { store, folder, repo: None, before }.find().unwrap();
    assert_eq!(findings.kept, []);
    findings.garbage.into_iter().map(|one| (one.path, one.reason)).collect()
}

#[test]
fn only_folders_of_ours_are_garbage() {
    let (project, store) = folders(&["run_a", "gc-run_b", "cargo-target/1", "mine", "gc"]);
    fs_err::write(project.path().join(".handover/runs/run_c"), "a file").unwrap();
    let all = found(project.path(), &store, i64::MAX);
    let expected = [
        ("runs/cargo-target", "no run needs this build cache"),
        ("runs/gc-run_b", "its deletion was interrupted"),
        ("runs/run_a", "the store does not know this run"),
    ];
    assert_eq!(all, expected.map(|(path, reason)| (path.to_owned(), reason.to_owned())));
    let young = found(project.path(), &store, 0);
    let paths: Vec<&str> = young.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["runs/gc-run_b"], "a deletion that began is finished at any age");
}

/// Every run notes which worktree Cargo would build in, also where there is nothing to build.
#[test]
fn a_build_cache_without_a_build_is_not_listed() {
    let (project, store) = folders(&["cargo-target"]);
    let note = project.path().join(".handover/runs/cargo-target/1.worktree");
    fs_err::write(note, "1-1-a").unwrap();
    assert_eq!(found(project.path(), &store, i64::MAX), []);
}
