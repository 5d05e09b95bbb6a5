//! Worktrees, whatever happened to them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use handover_engine::git::{Damage, Worktree};

use crate::repository::{Project, git, output};

/// A project and a folder for worktrees outside it.
struct Trees {
    project: Project,
    outside: tempfile::TempDir,
    base: String,
}

impl Trees {
    fn new() -> Self {
        let project = Project::new();
        let base = project.repo.head().unwrap();
        Self { project, outside: tempfile::tempdir().unwrap(), base }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    fn at(&self, name: &str) -> Worktree {
        let index = self.path(&format!("{name}.index"));
        Worktree::at(&self.project.repo, self.path(name), index, &self.base)
    }

    /// Where a run keeps one.
    fn of_run(&self, name: &str) -> Worktree {
        let folder = self.project.folder.path().join(".handover/runs/run_1/worktrees");
        let index = self.path(&format!("{name}.index"));
        Worktree::at(&self.project.repo, folder.join(name), index, &self.base)
    }

    fn open(&self, name: &str) -> Worktree {
        let tree = self.at(name);
        tree.ensure().unwrap();
        tree
    }
}

fn read(tree: &Worktree, name: &str) -> Option<String> {
    fs_err::read_to_string(tree.path.join(name)).ok()
}

fn write(tree: &Worktree, name: &str, text: &str) {
    let path = tree.path.join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

#[test]
fn a_worktree_recovers_from_damage() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    write(&tree, "b.txt", "two\n");
    let work = tree.snapshot().unwrap();
    let admin = trees.project.folder.path().join(".git/worktrees/tree");
    let harm: [&dyn Fn(); 8] = [
        &|| fs_err::write(tree.path.join("a.txt"), "spoilt").unwrap(),
        &|| fs_err::remove_file(tree.path.join("b.txt")).unwrap(),
        &|| fs_err::write(admin.join("index.lock"), "").unwrap(),
        &|| fs_err::write(trees.path("tree.index.lock"), "").unwrap(),
        &|| fs_err::remove_dir_all(&tree.path).unwrap(),
        &|| fs_err::write(tree.path.join(".git"), "gitdir: /nowhere").unwrap(),
        &|| fs_err::remove_dir_all(&admin).unwrap(),
        // `git worktree add` was killed.
        &|| {
            fs_err::remove_dir_all(&tree.path).unwrap();
            fs_err::write(admin.join("locked"), "initializing").unwrap();
        },
    ];
    for (number, harm) in harm.iter().enumerate() {
        harm();
        let tree = trees.open("tree");
        tree.restore(&work).unwrap();
        assert_eq!(tree.snapshot().unwrap(), work, "{number}");
        assert_eq!(read(&tree, "a.txt").as_deref(), Some("one\ntwo\nthree\n"), "{number}");
    }
    tree.remove().unwrap();
    assert!(!tree.path.exists() && !trees.path("tree.index").exists());
    tree.remove().unwrap();
}

#[test]
fn a_worktree_that_was_never_finished_is_forgotten() {
    let trees = Trees::new();
    let admin = trees.project.folder.path().join(".git/worktrees");
    for (name, reason) in [("killed", "initializing"), ("kept", "a stick that is not plugged in")] {
        let tree = trees.of_run(name);
        tree.ensure().unwrap();
        fs_err::remove_dir_all(&tree.path).unwrap();
        fs_err::write(admin.join(name).join("locked"), reason).unwrap();
    }
    trees.project.repo.prune().unwrap();
    assert!(!admin.join("killed").exists());
    assert!(admin.join("kept").exists(), "somebody else locked it");
}

/// The power failed before what git had written was on the disk.
#[test]
fn a_worktree_whose_entry_is_empty_keeps_no_other_from_being_made() {
    let trees = Trees::new();
    let damaged = trees.of_run("damaged");
    damaged.ensure().unwrap();
    let entry = trees.project.folder.path().join(".git/worktrees/damaged/commondir");
    fs_err::write(&entry, "").unwrap();
    let other = trees.of_run("other");
    assert!(other.ensure().unwrap());
    assert_eq!(fs_err::read_to_string(&entry).unwrap(), "../..\n");
    assert!(!damaged.ensure().unwrap(), "it was repaired, and is as it was");
}

#[test]
fn a_worktree_is_created_once() {
    let trees = Trees::new();
    let tree = trees.at("tree");
    assert!(!tree.is_linked());
    assert!(tree.ensure().unwrap());
    assert!(tree.is_linked());
    assert!(!tree.ensure().unwrap());
    assert_eq!(tree.snapshot().unwrap(), trees.project.repo.tree_of(&trees.base).unwrap());
    assert_eq!(tree.project(), tree.path);
}

#[test]
fn a_snapshot_has_everything_but_ignored_files() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    write(&tree, ".gitignore", "target\n");
    write(&tree, "target/big", "x");
    write(&tree, "dir/new.txt", "x");
    symlink("dir/new.txt", tree.path.join("link")).unwrap();
    let script = tree.path.join("run.sh");
    write(&tree, "run.sh", "x");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    fs_err::remove_file(tree.path.join("a.txt")).unwrap();
    // Whatever the agent stages or hides does not matter.
    git(&tree.path, &["add", "dir/new.txt"]);
    let made = tree.snapshot().unwrap();
    let listed = output(
        trees.project.folder.path(),
        &["ls-tree", "-r", "--format=%(objectmode) %(path)", &made],
    );
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        ["100644 .gitignore", "100644 dir/new.txt", "120000 link", "100755 run.sh"]
    );
    // A second snapshot returns the same tree.
    assert_eq!(tree.snapshot().unwrap(), made);
    fs_err::remove_file(trees.path("tree.index")).unwrap();
    assert_eq!(tree.snapshot().unwrap(), made, "even without its index");
}

#[test]
fn restoring_a_tree_keeps_ignored_files_and_nothing_else() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    write(&tree, ".gitignore", "target\n");
    let wanted = tree.snapshot().unwrap();
    write(&tree, "target/big", "x");
    write(&tree, "junk/file", "x");
    write(&tree, "a.txt", "other");
    fs_err::create_dir_all(tree.path.join("inner")).unwrap();
    git(&tree.path.join("inner"), &["init", "--quiet"]);
    tree.restore(&wanted).unwrap();
    assert_eq!(read(&tree, "target/big").as_deref(), Some("x"));
    assert_eq!(read(&tree, "a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    assert!(!tree.path.join("junk").exists() && !tree.path.join("inner").exists());
    // In the agent's own view, the work so far is a change to the base.
    let status = output(&tree.path, &["status", "--porcelain"]);
    assert_eq!(status, "?? .gitignore");
}

#[test]
fn single_paths_are_put_back() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    write(&tree, "dir/b.txt", "b");
    let before = tree.snapshot().unwrap();
    write(&tree, "a.txt", "changed");
    write(&tree, "new.txt", "new");
    fs_err::remove_dir_all(tree.path.join("dir")).unwrap();
    let away = tempfile::tempdir().unwrap();
    symlink(away.path(), tree.path.join("dir")).unwrap();
    tree.snapshot().unwrap();
    let paths = ["dir/b.txt".to_owned(), "dir".to_owned()];
    let after = tree.restore_paths(&before, &paths).unwrap();
    assert_eq!(read(&tree, "dir/b.txt").as_deref(), Some("b"));
    assert_eq!(read(&tree, "a.txt").as_deref(), Some("changed"));
    assert_eq!(read(&tree, "new.txt").as_deref(), Some("new"));
    assert_eq!(fs_err::read_dir(away.path()).unwrap().count(), 0, "nothing is written elsewhere");
    let changed: Vec<String> = trees
        .project
        .repo
        .changes(&before, &after)
        .unwrap()
        .into_iter()
        .map(|change| change.path)
        .collect();
    assert_eq!(changed, ["a.txt", "new.txt"]);
    // A file that is new is removed.
    let after = tree.restore_paths(&before, &["new.txt".to_owned(), "a.txt".to_owned()]).unwrap();
    assert_eq!(after, before);
    assert!(!tree.path.join("new.txt").exists());
}

#[test]
fn links_cannot_escape() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    let away = tempfile::tempdir().unwrap();
    symlink(away.path(), tree.path.join("out")).unwrap();
    symlink("a.txt", tree.path.join("near")).unwrap();
    fs_err::create_dir_all(tree.path.join("dir")).unwrap();
    symlink("dir", tree.path.join("same")).unwrap();
    assert_eq!(tree.inside("a.txt"), Some(tree.path.join("a.txt")));
    assert_eq!(tree.inside("not/yet/there.md"), Some(tree.path.join("not/yet/there.md")));
    assert_eq!(tree.inside("same/x.md"), Some(tree.path.join("same/x.md")));
    assert_eq!(tree.inside("out/x.md"), None);
    assert_eq!(tree.inside("out"), None);
    assert_eq!(tree.inside("near"), None, "a link is not written through");
    assert_eq!(tree.inside("../elsewhere.md"), None);
}

#[test]
fn the_folder_of_a_finished_story_is_reused() {
    let trees = Trees::new();
    let old = trees.open("old");
    write(&old, ".gitignore", "target\n");
    write(&old, "target/big", "x");
    let tree = old.snapshot().unwrap();
    let next = trees.at("next");
    next.inherit(&old).unwrap();
    assert!(!old.path.exists() && next.is_linked());
    assert!(!next.ensure().unwrap(), "it exists already");
    next.restore(&tree).unwrap();
    assert_eq!(read(&next, "target/big").as_deref(), Some("x"));
    // A folder that exists is not replaced, and one that is damaged is not reused.
    let other = trees.open("other");
    other.inherit(&next).unwrap();
    assert!(next.path.exists() && other.path.exists());
    fs_err::write(next.path.join(".git"), "gitdir: /nowhere").unwrap();
    let third = trees.at("third");
    third.inherit(&next).unwrap();
    assert!(!third.path.exists() && next.path.exists());
}

#[test]
fn a_branch_that_is_checked_out_is_left() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    assert_eq!(tree.detach().unwrap(), None);
    git(&tree.path, &["checkout", "--quiet", "-b", "mine"]);
    write(&tree, "b.txt", "x");
    git(&tree.path, &["add", "."]);
    git(&tree.path, &["commit", "--quiet", "-m", "mine"]);
    assert_eq!(tree.detach().unwrap().as_deref(), Some("refs/heads/mine"));
    assert_eq!(output(&tree.path, &["rev-parse", "HEAD"]), trees.base);
    assert_eq!(tree.detach().unwrap(), None);
    assert_eq!(read(&tree, "b.txt").as_deref(), Some("x"), "files stay as they are");
    fs_err::write(tree.path.join(".git"), "gitdir: /nowhere").unwrap();
    assert_eq!(tree.detach().unwrap(), None);
}

#[test]
fn a_nested_repository_is_not_our_worktree() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    fs_err::remove_file(tree.path.join(".git")).unwrap();
    git(&tree.path, &["init", "--quiet"]);
    assert!(!tree.is_linked());
    assert!(tree.ensure().unwrap(), "it is recreated");
    assert!(tree.is_linked());
}

#[test]
fn git_forgets_worktrees_whose_folders_are_gone() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    let listed = || output(trees.project.folder.path(), &["worktree", "list"]).lines().count();
    assert_eq!(listed(), 2);
    tree.remove().unwrap();
    assert_eq!(listed(), 2);
    trees.project.repo.prune().unwrap();
    assert_eq!(listed(), 1);
}

#[test]
fn hooks_and_settings_of_the_user_do_not_interfere() {
    let trees = Trees::new();
    let root = trees.project.folder.path();
    let hooks = root.join(".git/hooks");
    fs_err::create_dir_all(&hooks).unwrap();
    for name in ["post-checkout", "post-index-change", "reference-transaction"] {
        let path = hooks.join(name);
        fs_err::write(&path, format!("#!/bin/sh\ntouch {}\n", root.join("hooked").display()))
            .unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    git(root, &["config", "commit.gpgSign", "true"]);
    git(root, &["config", "gpg.program", "false"]);
    let tree = trees.open("tree");
    write(&tree, "b.txt", "x");
    let made = tree.snapshot().unwrap();
    let commit = trees
        .project
        .repo
        .commit(&handover_engine::git::NewCommit {
            tree: &made,
            parents: vec![trees.base.clone()],
            subject: "x".to_owned(),
            trailers: Vec::new(),
            at: handover_model::Timestamp::from_micros(1_700_000_000_000_000),
        })
        .unwrap();
    trees.project.repo.set_ref("refs/heads/x", &commit).unwrap();
    assert!(!root.join("hooked").exists());
}

/// What is damaged is in the worktree, wherever else it may have a name.
#[test]
fn damage_stays_in_the_worktree() {
    let trees = Trees::new();
    let tree = trees.open("tree");
    write(&tree, "src/run.sh", "true\n");
    write(&tree, "linked/x.txt", "x\n");
    let program = tree.path.join("src/run.sh");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let files = ["a.txt", "src/run.sh", "linked/x.txt", "gone.txt"];
    let outside = trees.path("outside");
    fs_err::create_dir_all(&outside).unwrap();
    fs_err::write(outside.join("x.txt"), "precious").unwrap();
    fs_err::hard_link(tree.path.join("a.txt"), outside.join("a.txt")).unwrap();
    let before = fs_err::read_to_string(outside.join("a.txt")).unwrap();
    fs_err::remove_dir_all(tree.path.join("linked")).unwrap();
    symlink(&outside, tree.path.join("linked")).unwrap();
    tree.damage(&files, Damage::Overwritten).unwrap();
    for file in ["a.txt", "src/run.sh"] {
        assert!(read(&tree, file).unwrap().starts_with("]})"), "{file}");
    }
    assert_eq!(fs_err::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
    tree.damage(&files, Damage::Removed).unwrap();
    assert_eq!((read(&tree, "a.txt"), read(&tree, "src/run.sh")), (None, None));
    assert_eq!(read(&tree, "linked/x.txt").as_deref(), Some("precious"));
    assert_eq!(fs_err::read_to_string(outside.join("a.txt")).unwrap(), before);
}
