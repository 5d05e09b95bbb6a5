//! A repository whose configuration and attributes name a program for everything git can start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use handover_agents::Environment;
use handover_engine::git::{NewCommit, Repo, Worktree};
use handover_model::{Host, Timestamp};

struct Stage {
    folder: tempfile::TempDir,
    repo: Repo,
    base: String,
}

fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success(), "{args:?}");
}

/// Names the program for everything git can start.
fn poison(folder: &Path, program: &Path) {
    let program = program.to_str().unwrap();
    for key in [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.command",
        "diff.x.textconv",
        "diff.external",
        "merge.x.driver",
        "merge.default",
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.alternateRefsCommand",
        "gpg.program",
        "credential.helper",
        "alias.ls-files",
        "uploadpack.packObjectsHook",
    ] {
        git(folder, &["config", key, program]);
    }
    for (key, value) in [
        ("filter.x.required", "true"),
        ("commit.gpgSign", "true"),
        ("log.showSignature", "true"),
        ("submodule.recurse", "true"),
        ("protocol.ext.allow", "always"),
    ] {
        git(folder, &["config", key, value]);
    }
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repo");
        fs_err::create_dir(&root).unwrap();
        git(&root, &["init", "--quiet", "-b", "main"]);
        fs_err::write(root.join("a.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", "base"]);
        let environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
        let repo = Repo::open(&fs_err::canonicalize(&root).unwrap(), environment).unwrap();
        let base = repo.head().unwrap();
        Self { folder, repo, base }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that leaves a trace and passes its input through.
    fn program(&self) -> PathBuf {
        let path = self.path("program");
        let text =
            format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", self.path("trace").display());
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn worktree(&self) -> Worktree {
        let (path, index) = (self.path("tree"), self.path("index"));
        let tree = Worktree::at(&self.repo, path, index, &self.base);
        tree.ensure().unwrap();
        tree
    }

    fn nothing_ran(&self) {
        assert_eq!(fs_err::read_to_string(self.path("trace")).unwrap_or_default(), "");
    }
}

fn commit<'a>(tree: &'a str, parent: &str) -> NewCommit<'a> {
    NewCommit {
        tree,
        parents: vec![parent.to_owned()],
        subject: "work".to_owned(),
        trailers: Vec::new(),
        at: Timestamp::from_micros(1_700_000_000_000_000),
    }
}

#[test]
fn nothing_that_the_configuration_names_runs() {
    let stage = Stage::new();
    let worktree = stage.worktree();
    // As an agent would: in its worktree, for the whole repository.
    poison(&worktree.path, &stage.program());
    let hooks = stage.path("repo/.git/hooks");
    fs_err::create_dir_all(&hooks).unwrap();
    for hook in
        ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"]
    {
        fs_err::copy(stage.program(), hooks.join(hook)).unwrap();
    }
    let info = stage.path("repo/.git/info");
    fs_err::create_dir_all(&info).unwrap();
    fs_err::write(info.join("attributes"), "* filter=x diff=x merge=x\n").unwrap();
    fs_err::write(worktree.path.join(".gitattributes"), "* filter=x diff=x merge=x\n").unwrap();
    fs_err::write(worktree.path.join("a.txt"), "two\n").unwrap();

    let tree = worktree.snapshot().unwrap();
    let (repo, base) = (&stage.repo, &stage.base);
    assert_eq!(repo.file_of(&tree, Path::new("a.txt")).unwrap().unwrap(), b"two\n");
    let one = repo.commit(&commit(&tree, base)).unwrap();
    let _ = repo.read_commit(&one).unwrap();
    assert_eq!(repo.changes(base, &one).unwrap().len(), 2);
    assert!(repo.patch(base, &one, &[], 1 << 20).unwrap().contains("+two"));
    worktree.restore(&tree).unwrap();
    fs_err::write(worktree.path.join("a.txt"), "three\n").unwrap();
    let tree = worktree.snapshot().unwrap();
    let other = repo.commit(&commit(&tree, base)).unwrap();
    assert_eq!(repo.merge_trees(&one, &other).unwrap().conflicts, ["a.txt"]);
    worktree.restore_paths(base, &["a.txt".to_owned()]).unwrap();
    worktree.remove().unwrap();
    repo.prune().unwrap();
    worktree.ensure().unwrap();
    repo.move_ref("refs/heads/main", &one, Some(base)).unwrap();
    let _ = repo
        .push(&format!("ext::{} x", stage.program().display()), &[format!("{one}:refs/heads/x")]);
    stage.nothing_ran();

    // The same with a new engine, for which all of it already exists.
    let environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
    let root = fs_err::canonicalize(stage.path("repo")).unwrap();
    let again = Repo::open(&root, environment).unwrap();
    git(&root, &["-c", "core.fsmonitor=false", "update-ref", "refs/heads/main", base]);
    let _ = fs_err::remove_file(stage.path("trace"));
    again.fast_forward(&one).unwrap();
    assert_eq!(fs_err::read_to_string(root.join("a.txt")).unwrap(), "two\n");
    stage.nothing_ran();
}

#[test]
fn nested_repositories_are_read_but_not_entered() {
    let stage = Stage::new();
    let worktree = stage.worktree();
    let inner = worktree.path.join("inner");
    fs_err::create_dir(&inner).unwrap();
    git(&inner, &["init", "--quiet"]);
    fs_err::write(inner.join("a"), "a\n").unwrap();
    git(&inner, &["add", "."]);
    git(&inner, &["commit", "--quiet", "-m", "inner"]);
    let before = worktree.snapshot().unwrap();
    fs_err::write(inner.join(".gitattributes"), "* filter=x\n").unwrap();
    fs_err::write(inner.join("a"), "other\n").unwrap();
    poison(&inner, &stage.program());
    let _ = fs_err::remove_file(stage.path("trace"));
    let after = worktree.snapshot().unwrap();
    stage.nothing_ran();
    assert_eq!(before, after, "only its commit counts");
    let changes = stage.repo.changes(&stage.base, &after).unwrap();
    assert!(changes.iter().any(|change| change.path == "inner" && change.is_repository()));
}

#[test]
fn a_snapshot_has_every_kind_of_change() {
    let stage = Stage::new();
    let worktree = stage.worktree();
    let write = |path: &str, text: &str| {
        let path = worktree.path.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    for name in ["gone.txt", "file", "folder/x", "linked/x", "mode.sh", "kept"] {
        write(name, "one\n");
    }
    write(".gitignore", "ignored/\n");
    let first = worktree.snapshot().unwrap();
    fs_err::remove_file(worktree.path.join("gone.txt")).unwrap();
    // A file becomes a folder, and a folder a file.
    fs_err::remove_file(worktree.path.join("file")).unwrap();
    write("file/inside", "two\n");
    fs_err::remove_dir_all(worktree.path.join("folder")).unwrap();
    write("folder", "two\n");
    // A link is stored as a link, whatever it points to.
    fs_err::rename(worktree.path.join("linked"), stage.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(stage.path("elsewhere"), worktree.path.join("linked")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(worktree.path.join("mode.sh"), mode).unwrap();
    std::os::unix::fs::symlink("kept", worktree.path.join("link")).unwrap();
    write("ignored/x", "no\n");
    write("odd \"name\"\n ä/.x", "yes\n");
    let second = worktree.snapshot().unwrap();
    let changes = stage.repo.changes(&first, &second).unwrap();
    let seen: Vec<(&str, &str)> = changes
        .iter()
        .map(|change| (change.path.as_str(), change.mode.as_deref().unwrap_or("gone")))
        .collect();
    assert_eq!(
        seen,
        [
            ("file", "gone"),
            ("file/inside", "100644"),
            ("folder", "100644"),
            ("folder/x", "gone"),
            ("gone.txt", "gone"),
            ("link", "120000"),
            ("linked", "120000"),
            ("linked/x", "gone"),
            ("mode.sh", "100755"),
            ("odd \"name\"\n ä/.x", "100644"),
        ]
    );
    assert_eq!(worktree.snapshot().unwrap(), second);
    worktree.restore(&first).unwrap();
    assert_eq!(worktree.snapshot().unwrap(), first);
}

#[test]
fn our_own_configuration_is_restored_before_each_call() {
    let stage = Stage::new();
    let worktree = stage.worktree();
    let own = fs_err::read_dir(stage.path("repo/.git/handover")).unwrap().next().unwrap().unwrap();
    let config = own.path().join("config");
    let program = stage.program();
    let text = format!("[filter \"x\"]\n\tclean = {}\n", program.display());
    fs_err::write(&config, text).unwrap();
    fs_err::write(worktree.path.join(".gitattributes"), "* filter=x\n").unwrap();
    worktree.snapshot().unwrap();
    stage.nothing_ran();
    assert!(!fs_err::read_to_string(config).unwrap().contains("filter"));
    let path = own.path();
    drop((worktree, stage.repo));
    assert!(!path.exists(), "it goes with its engine");
}

#[test]
fn folders_of_crashed_engines_are_removed() {
    let stage = Stage::new();
    let orphan = stage.path("repo/.git/handover/git-orphan");
    fs_err::create_dir(&orphan).unwrap();
    fs_err::write(orphan.join("lock"), "").unwrap();
    std::os::unix::fs::symlink(stage.path("repo/.git/objects"), orphan.join("objects")).unwrap();
    let environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
    let root = fs_err::canonicalize(stage.path("repo")).unwrap();
    let _second = Repo::open(&root, environment).unwrap();
    assert!(!orphan.exists());
    assert!(stage.path("repo/.git/objects").exists());
    let left = fs_err::read_dir(stage.path("repo/.git/handover")).unwrap().count();
    assert_eq!(left, 2, "that of the living engine stays");
}

#[test]
fn files_with_a_filter_are_as_git_stores_them() {
    let stage = Stage::new();
    let root = stage.path("repo");
    fs_err::write(root.join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    fs_err::write(root.join("x.bin"), "pointer\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "lfs"]);
    let head = stage.repo.head().unwrap();
    let names: Vec<String> = stage.repo.filters(&head).unwrap().into_iter().collect();
    assert_eq!(names, ["lfs"]);
    assert!(stage.repo.filters(&stage.base).unwrap().is_empty());
    let found = stage.repo.filtered(&head, &["x.bin", "a.txt"]).unwrap();
    assert_eq!(found, [("x.bin".to_owned(), "lfs".to_owned())]);
}
