//! Commits, refs, diffs and merges in a real repository.

use std::path::Path;
use std::process::Command;

use handover_agents::Environment;
use handover_engine::git::{GitError, NewCommit, Repo, ref_part};
use handover_model::{Host, Timestamp};

pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) repo: Repo,
}

fn environment() -> Environment {
    Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[])
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet", "-b", "main"]);
        fs_err::write(folder.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "--quiet", "-m", "base"]);
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let repo = Repo::open(&root, environment()).unwrap();
        Self { folder, repo }
    }

    /// Adds a remote. Settings are read when a repository is opened.
    fn add_remote(&mut self, path: &str) {
        git(self.folder.path(), &["remote", "add", "origin", path]);
        let root = fs_err::canonicalize(self.folder.path()).unwrap();
        self.repo = Repo::open(&root, environment()).unwrap();
    }

    /// A commit on top of another that changes some files, without touching a branch.
    pub(crate) fn commit(&self, parent: &str, files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        let shown = path.display().to_string();
        git(self.folder.path(), &["worktree", "add", "--quiet", "--detach", &shown, parent]);
        for (name, text) in files {
            let file = path.join(name);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, text).unwrap();
        }
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "--allow-empty", "-m", "work"]);
        let head = output(&path, &["rev-parse", "HEAD"]);
        git(self.folder.path(), &["worktree", "remove", "--force", &shown]);
        head
    }
}

pub(crate) fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success(), "{args:?}");
}

pub(crate) fn output(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

#[test]
fn a_project_must_be_a_repository_with_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    assert!(matches!(Repo::open(&root, environment()), Err(GitError::NoRepository { .. })));
    git(&root, &["init", "--quiet"]);
    let opened = Repo::open(&root, environment());
    let head = opened.and_then(|repo| repo.head());
    assert!(matches!(head, Err(GitError::NoCommit)), "{head:?}");
}

#[test]
fn a_project_may_be_a_part_of_a_repository() {
    let project = Project::new();
    let sub = project.folder.path().join("sub");
    fs_err::create_dir_all(&sub).unwrap();
    let repo = Repo::open(&fs_err::canonicalize(sub).unwrap(), environment()).unwrap();
    assert_eq!(repo.prefix, Path::new("sub"));
    assert_eq!(project.repo.prefix, Path::new(""));
}

#[test]
fn the_same_commit_is_made_twice() {
    let project = Project::new();
    let head = project.repo.head().unwrap();
    let tree = project.repo.tree_of(&head).unwrap();
    let new = |at| NewCommit {
        tree: &tree,
        parents: vec![head.clone()],
        subject: "feat: one\ntwo".to_owned(),
        trailers: vec![("Story", "1-1-a\nFake: x".to_owned()), ("Run", "r".to_owned())],
        at,
    };
    let first = project.repo.commit(&new(at(1_700_000_000))).unwrap();
    assert_eq!(project.repo.commit(&new(at(1_700_000_000))).unwrap(), first);
    assert_ne!(project.repo.commit(&new(at(1_700_000_001))).unwrap(), first);
    let read = project.repo.read_commit(&first).unwrap();
    assert_eq!(read.parent.as_ref(), Some(&head));
    assert_eq!(read.message.lines().next(), Some("feat: one two"));
    assert_eq!(read.trailer("Story"), Some("1-1-a Fake: x"));
    assert_eq!(read.trailer("Fake"), None);
}

#[test]
fn refs_move_only_from_where_they_were_left() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let (one, two) = (project.commit(&base, &[]), project.commit(&base, &[("b", "x")]));
    let name = "refs/heads/handover/epic-1";
    let repo = &project.repo;
    repo.move_ref(name, &one, None).unwrap();
    repo.move_ref(name, &one, None).unwrap();
    let error = repo.move_ref(name, &two, None).unwrap_err();
    assert!(matches!(&error, GitError::Moved { branch } if branch == "handover/epic-1"), "{error}");
    repo.move_ref(name, &two, Some(&one)).unwrap();
    assert_eq!(repo.resolve(name).unwrap(), Some(two));
    assert_eq!(repo.resolve("refs/heads/none").unwrap(), None);
}

#[test]
fn our_refs_are_hidden_and_deleted_by_prefix() {
    let project = Project::new();
    let repo = &project.repo;
    let head = repo.head().unwrap();
    for name in ["refs/handover/run_1/a", "refs/handover/run_1/b", "refs/handover/run_2/a"] {
        repo.set_ref(name, &head).unwrap();
    }
    repo.set_ref("refs/heads/theirs", &head).unwrap();
    let refs: Vec<String> = repo.refs().unwrap().into_iter().collect();
    assert_eq!(refs, ["refs/heads/main", "refs/heads/theirs"]);
    repo.delete_refs("refs/handover/run_1/").unwrap();
    repo.delete_refs("refs/handover/run_9/").unwrap();
    assert_eq!(repo.refs_below("refs/handover/").unwrap(), ["refs/handover/run_2/a"]);
}

#[test]
fn changes_name_files_links_deletions_and_repositories() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let work = project.commit(&base, &[("dir/new file.txt", "x"), ("a.txt", "changed\n")]);
    let changes = project.repo.changes(&base, &work).unwrap();
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["a.txt", "dir/new file.txt"]);
    assert!(changes.iter().all(|change| change.is_file() && !change.is_repository()));
    let blobs: Vec<&str> = changes.iter().filter_map(|change| change.blob.as_deref()).collect();
    assert_eq!(project.repo.blob_sizes(&blobs).unwrap(), [8, 1]);
    assert_eq!(project.repo.blob(blobs[0]).unwrap(), b"changed\n");
    let back = project.repo.changes(&work, &base).unwrap();
    let deleted = back.iter().find(|change| change.path == "dir/new file.txt").unwrap();
    assert!(deleted.blob.is_none() && !deleted.is_file());
    assert!(project.repo.changes(&base, &base).unwrap().is_empty());
}

#[test]
fn patches_are_bounded_and_leave_paths_out() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let work = project.commit(&base, &[("a.txt", "changed\n"), ("b.txt", &"x\n".repeat(5_000))]);
    let patch = |without: &[String], most| project.repo.patch(&base, &work, without, most).unwrap();
    let whole = patch(&[], 1 << 20);
    assert!(whole.contains("-one") && whole.contains("+changed") && whole.contains("b.txt"));
    assert!(!patch(&["b.txt".to_owned()], 1 << 20).contains("b.txt"));
    assert!(patch(&[], 100).len() <= 100);
}

#[test]
fn files_are_read_from_any_tree() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let work = project.commit(&base, &[("dir/b.txt", "x")]);
    let file = |at: &str, path: &str| project.repo.file_of(at, Path::new(path)).unwrap();
    assert_eq!(file(&base, "a.txt").unwrap(), b"one\ntwo\nthree\n");
    assert_eq!(file(&work, "dir/b.txt").unwrap(), b"x");
    assert_eq!(file(&base, "dir/b.txt"), None);
}

#[test]
fn merges_keep_both_sides_and_name_conflicts() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let ours = project.commit(&base, &[("a.txt", "ONE\ntwo\nthree\n"), ("b.txt", "b")]);
    let theirs = project.commit(&base, &[("a.txt", "one\ntwo\nTHREE\n"), ("c.txt", "c")]);
    let merged = project.repo.merge_trees(&ours, &theirs).unwrap();
    assert!(merged.conflicts.is_empty(), "{merged:?}");
    let text = project.repo.file_of(&merged.tree, Path::new("a.txt")).unwrap().unwrap();
    assert_eq!(text, b"ONE\ntwo\nTHREE\n");
    let other = project.commit(&base, &[("a.txt", "first\ntwo\nthree\n")]);
    let merged = project.repo.merge_trees(&ours, &other).unwrap();
    assert_eq!(merged.conflicts, ["a.txt"]);
    let text = project.repo.file_of(&merged.tree, Path::new("a.txt")).unwrap().unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("<<<<<<< {ours}")), "{text}");
    assert!(text.contains("ONE") && text.contains("first"), "{text}");
}

#[test]
fn commits_are_joined_only_if_they_must_be() {
    let project = Project::new();
    let repo = &project.repo;
    let base = repo.head().unwrap();
    let one = project.commit(&base, &[("b.txt", "b")]);
    let later = project.commit(&one, &[("b.txt", "bb")]);
    let two = project.commit(&base, &[("c.txt", "c")]);
    let joined = |commits: &[&String]| {
        let commits: Vec<String> = commits.iter().map(|&commit| commit.clone()).collect();
        repo.joined(&commits, "epic 3", at(1_700_000_000))
    };
    assert_eq!(joined(&[]).unwrap(), None);
    assert_eq!(joined(&[&one]).unwrap().as_ref(), Some(&one));
    for order in [[&base, &one, &later], [&later, &base, &one], [&one, &later, &base]] {
        assert_eq!(joined(&order).unwrap().as_ref(), Some(&later));
    }
    let merge = joined(&[&later, &two]).unwrap().unwrap();
    assert_eq!(joined(&[&later, &two]).unwrap().as_ref(), Some(&merge), "idempotent");
    for commit in [&later, &two] {
        assert!(repo.is_ancestor(commit, &merge).unwrap());
    }
    let conflicting = project.commit(&base, &[("b.txt", "other")]);
    assert!(matches!(joined(&[&later, &conflicting]), Err(GitError::Conflict { .. })));
}

#[test]
fn the_users_branch_is_only_fast_forwarded() {
    let project = Project::new();
    let repo = &project.repo;
    let base = repo.head().unwrap();
    let ahead = project.commit(&base, &[("b.txt", "b")]);
    let aside = project.commit(&base, &[("c.txt", "c")]);
    assert_eq!(repo.current_branch().unwrap().as_deref(), Some("main"));
    repo.fast_forward(&ahead).unwrap();
    assert_eq!(repo.head().unwrap(), ahead);
    assert!(project.folder.path().join("b.txt").exists());
    assert!(matches!(repo.fast_forward(&aside), Err(GitError::Failed { .. })));
    git(project.folder.path(), &["checkout", "--quiet", "--detach"]);
    assert_eq!(repo.current_branch().unwrap(), None);
}

#[test]
fn ids_become_valid_and_distinct_parts_of_refs() {
    assert_eq!(ref_part("1-1-login"), "1-1-login");
    let odd = ["a b", "a-b", "a/b", "../x", "x.lock", "ä", "", &"x".repeat(300)];
    let parts: std::collections::BTreeSet<String> = odd.iter().map(|id| ref_part(id)).collect();
    assert_eq!(parts.len(), odd.len(), "{parts:?}");
    let project = Project::new();
    let head = project.repo.head().unwrap();
    for part in &parts {
        project.repo.set_ref(&format!("refs/handover/r/{part}x"), &head).unwrap();
    }
}

/// An environment with nothing but these variables.
fn only(variables: &[(&str, &str)]) -> Environment {
    let own = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Environment::scrubbed(own, Host::COMMAND, &[])
}

#[test]
fn without_git_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let error = Repo::open(folder.path(), only(&[("PATH", "/nowhere")])).unwrap_err();
    assert!(matches!(error, GitError::NoGit), "{error}");
    assert_eq!(error.to_string(), "the program `git` was not found");
}

#[test]
fn commits_have_an_author_even_if_the_user_has_no_name() {
    let project = Project::new();
    let root = fs_err::canonicalize(project.folder.path()).unwrap();
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let author = || {
        let repo = Repo::open(&root, only(&[("PATH", &path)])).unwrap();
        let head = repo.head().unwrap();
        let tree = repo.tree_of(&head).unwrap();
        let commit = repo
            .commit(&NewCommit {
                tree: &tree,
                parents: vec![head],
                subject: "x".to_owned(),
                trailers: Vec::new(),
                at: at(1_700_000_000),
            })
            .unwrap();
        output(&root, &["show", "--no-patch", "--format=%an <%ae>", &commit])
    };
    git(&root, &["config", "user.useConfigOnly", "true"]);
    assert_eq!(author(), "Handover <handover@localhost>");
    git(&root, &["config", "user.name", "Ann"]);
    git(&root, &["config", "user.email", "ann@example.com"]);
    assert_eq!(author(), "Ann <ann@example.com>");
}

#[test]
fn a_commit_without_trailers_is_one_line() {
    let project = Project::new();
    let head = project.repo.head().unwrap();
    let tree = project.repo.tree_of(&head).unwrap();
    let new = NewCommit {
        tree: &tree,
        parents: Vec::new(),
        subject: "  a \n b  ".to_owned(),
        trailers: Vec::new(),
        at: at(1_700_000_000),
    };
    let commit = project.repo.commit(&new).unwrap();
    let read = project.repo.read_commit(&commit).unwrap();
    assert_eq!((read.message.trim_end(), read.parent, read.id), ("a b", None, commit));
}

#[test]
fn a_trailer_is_a_whole_name() {
    let message = "subject\n\nRun: one\nRunner: two\nStory: a: b\n".to_owned();
    let commit = handover_engine::git::Commit { id: "x".to_owned(), message, parent: None };
    assert_eq!(commit.trailer("Run"), Some("one"));
    assert_eq!(commit.trailer("Story"), Some("a: b"));
    assert_eq!(commit.trailer("Sto"), None);
    assert_eq!(commit.trailer("Epic"), None);
}

#[test]
fn failures_name_the_command_and_what_git_said() {
    let project = Project::new();
    let error = project.repo.tree_of("nowhere").unwrap_err();
    let GitError::Failed { command, message } = &error else { panic!("{error}") };
    assert_eq!(command, "rev-parse --verify --end-of-options");
    assert!(message.contains("fatal"), "{message}");
    assert!(error.to_string().starts_with("`git rev-parse --verify --end-of-options` failed: "));
    // A name that looks like an option is a name.
    assert!(project.repo.resolve("--help").unwrap().is_none());
}

#[test]
fn refs_are_deleted_one_by_one() {
    let project = Project::new();
    let (repo, head) = (&project.repo, project.repo.head().unwrap());
    for name in ["refs/heads/one", "refs/heads/two"] {
        repo.set_ref(name, &head).unwrap();
    }
    repo.delete_ref("refs/heads/one").unwrap();
    let left: Vec<String> = repo.refs().unwrap().into_iter().collect();
    assert_eq!(left, ["refs/heads/main", "refs/heads/two"]);
    // Our branches are not shown among the user's.
    repo.set_ref("refs/heads/handover/epic-1", &head).unwrap();
    assert_eq!(repo.refs().unwrap().len(), 2);
    assert!(repo.delete_ref("../outside").is_err());
}

#[test]
fn ancestors_are_known() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let (one, two) = (project.commit(&base, &[("b", "1")]), project.commit(&base, &[("b", "2")]));
    let is = |one: &str, other: &str| project.repo.is_ancestor(one, other).unwrap();
    assert!(is(&base, &one) && is(&one, &one));
    assert!(!is(&one, &base) && !is(&one, &two));
}

/// A bare repository that is the remote of a project.
fn with_remote(project: &mut Project) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remote.git").display().to_string();
    git(folder.path(), &["init", "--quiet", "--bare", &path]);
    project.add_remote(&path);
    (folder, path)
}

#[test]
fn refs_travel_through_a_remote() {
    let (mut project, mut other) = (Project::new(), Project::new());
    let (_folder, path) = with_remote(&mut project);
    other.add_remote(&path);
    let head = project.repo.head().unwrap();
    let one = project.commit(&head, &[("b.txt", "one")]);
    let two = project.commit(&head, &[("b.txt", "two")]);
    let name = "refs/handover/run_1/a";
    project.repo.push("origin", &[format!("{one}:{name}"), format!("{one}:refs/heads/x")]).unwrap();
    assert_eq!(project.repo.remote_refs("origin", "refs/handover/").unwrap(), [name]);
    assert_eq!(project.repo.remote_refs("origin", "refs/handover/run_2/").unwrap(), [""; 0]);
    other.repo.fetch("origin", &[format!("{name}:{name}")]).unwrap();
    assert_eq!(other.repo.resolve(name).unwrap().as_ref(), Some(&one));
    // Existing refs are replaced, on both sides.
    project.repo.push("origin", &[format!("{two}:{name}")]).unwrap();
    other.repo.fetch("origin", &[format!("{name}:{name}")]).unwrap();
    assert_eq!(other.repo.resolve(name).unwrap().as_ref(), Some(&two));
    project.repo.push("origin", &[format!(":{name}")]).unwrap();
    assert_eq!(project.repo.remote_refs("origin", "refs/handover/").unwrap(), [""; 0]);
    assert!(!other.folder.path().join(".git/FETCH_HEAD").exists());
}

#[test]
fn a_remote_cannot_start_programs() {
    let project = Project::new();
    let pwned = project.folder.path().join("pwned");
    let remote = format!("ext::touch {}", pwned.display());
    assert!(project.repo.remote_refs(&remote, "").is_err());
    assert!(project.repo.fetch(&remote, &["main".to_owned()]).is_err());
    assert!(project.repo.push(&remote, &["main:main".to_owned()]).is_err());
    assert!(!pwned.exists());
    // Nor can a name be mistaken for an option.
    assert!(project.repo.remote_refs("--upload-pack=touch pwned", "").is_err());
}

#[test]
fn a_file_that_one_side_deletes_and_the_other_changes_is_a_conflict() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let ours = project.commit(&base, &[("a.txt", "changed\n")]);
    git(project.folder.path(), &["rm", "--quiet", "a.txt"]);
    git(project.folder.path(), &["commit", "--quiet", "-m", "deleted"]);
    let theirs = project.repo.head().unwrap();
    let merged = project.repo.merge_trees(&ours, &theirs).unwrap();
    assert_eq!(merged.conflicts, ["a.txt"]);
}

#[test]
fn odd_names_survive_changes_and_patches() {
    let project = Project::new();
    let base = project.repo.head().unwrap();
    let names = ["ä ö.txt", "tab\there.txt", "quote\".txt", ":(exclude)x.txt"];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x\n")).collect();
    let work = project.commit(&base, &files);
    let mut changed: Vec<String> =
        project.repo.changes(&base, &work).unwrap().into_iter().map(|change| change.path).collect();
    changed.sort();
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(changed, expected);
    let without = ["ä ö.txt".to_owned(), ":(exclude)x.txt".to_owned()];
    let patch = project.repo.patch(&base, &work, &without, 1 << 20).unwrap();
    assert!(
        patch.contains("quote") && !patch.contains("ä ö") && !patch.contains("exclude"),
        "{patch}"
    );
}

/// A power failure, or git that was killed.
#[test]
fn a_lock_that_nobody_holds_any_more_stops_none_of_our_refs() {
    let project = Project::new();
    let head = project.repo.head().unwrap();
    let lock = |name: &str| {
        let path = project.folder.path().join(".git").join(format!("{name}.lock"));
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, "").unwrap();
        path
    };
    let work = "refs/handover/run_1/1-1-a";
    assert!(lock(work).exists());
    project.repo.set_ref(work, &head).unwrap();
    let branch = "refs/heads/handover/epic-1";
    assert!(lock(branch).exists());
    project.repo.move_ref(branch, &head, None).unwrap();
    // Another program may be at work on any other.
    let users = lock("refs/heads/theirs");
    assert!(project.repo.move_ref("refs/heads/theirs", &head, None).is_err());
    assert!(users.exists());
}
