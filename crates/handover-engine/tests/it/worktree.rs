//! Worktrees, whatever was done to them.

use std::path::Path;
use std::process::Command;

use handover_agents::Environment;
use handover_engine::git::{NewCommit, Repo, Worktree};
use handover_model::{Host, Timestamp};

fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success(), "{args:?}");
}

fn repository(folder: &Path) -> Repo {
    git(folder, &["init", "--quiet", "-b", "main"]);
    fs_err::write(folder.join("a.txt"), "one\n").unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "base"]);
    let environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
    Repo::open(&fs_err::canonicalize(folder).unwrap(), environment).unwrap()
}

#[test]
fn a_worktree_recovers_from_damage() {
    let folder = tempfile::tempdir().unwrap();
    let repo = repository(folder.path());
    let base = repo.head().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let open = || {
        let path = outside.path().join("tree");
        let tree = Worktree::at(&repo, path, outside.path().join("index"), &base);
        tree.ensure().unwrap();
        tree
    };
    let tree = open();
    fs_err::write(tree.path.join("b.txt"), "two\n").unwrap();
    let work = tree.snapshot().unwrap();
    let admin = folder.path().join(".git/worktrees/tree");
    let harm: [&dyn Fn(); 7] = [
        &|| fs_err::write(tree.path.join("a.txt"), "spoilt").unwrap(),
        &|| fs_err::remove_file(tree.path.join("b.txt")).unwrap(),
        &|| fs_err::write(admin.join("index.lock"), "").unwrap(),
        &|| fs_err::write(outside.path().join("index.lock"), "").unwrap(),
        &|| fs_err::remove_dir_all(&tree.path).unwrap(),
        &|| fs_err::write(tree.path.join(".git"), "gitdir: /nowhere").unwrap(),
        &|| fs_err::remove_dir_all(&admin).unwrap(),
    ];
    for (number, harm) in harm.iter().enumerate() {
        harm();
        let tree = open();
        tree.restore(&work).unwrap();
        assert_eq!(tree.snapshot().unwrap(), work, "{number}");
        assert_eq!(fs_err::read_to_string(tree.path.join("a.txt")).unwrap(), "one\n", "{number}");
    }
    tree.remove().unwrap();
    assert!(!tree.path.exists());
}

#[test]
fn the_same_commit_twice_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let repo = repository(folder.path());
    let base = repo.head().unwrap();
    let tree = repo.tree_of(&base).unwrap();
    let new = NewCommit {
        tree: &tree,
        parents: vec![base.clone()],
        subject: "two\nlines and $(shell)".to_owned(),
        trailers: vec![("Story", "a\nRun: forged".to_owned()), ("Run", "r1".to_owned())],
        at: Timestamp::from_micros(1_700_000_000_000_000),
    };
    let one = repo.commit(&new).unwrap();
    assert_eq!(repo.commit(&new).unwrap(), one);
    let read = repo.read_commit(&one).unwrap();
    assert_eq!(read.trailer("Run"), Some("r1"));
    assert_eq!(read.trailer("Story"), Some("a Run: forged"));
    assert_eq!(read.parent, Some(base.clone()));
    repo.move_ref("refs/heads/x", &one, None).unwrap();
    assert!(repo.move_ref("refs/heads/x", &base, None).is_err());
    assert!(repo.move_ref("refs/heads/x", &base, Some(&base)).is_err());
    repo.move_ref("refs/heads/x", &base, Some(&one)).unwrap();
}
