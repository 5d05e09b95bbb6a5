//! Clones that hold one commit's history and nothing else.

use crate::repository::{Project, git, output};

#[test]
fn a_clone_has_no_future() {
    let project = Project::new();
    let user = project.folder.path();
    let first = project.repo.head().unwrap();
    let second = project.commit(&first, &[("a.txt", "the decision\n")]);
    git(user, &["tag", "later", &second]);
    git(user, &["update-ref", "refs/notes/x", &second]);
    git(user, &["update-ref", "refs/heads/other", &second]);
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    project.repo.isolated_clone(&first, &clone).unwrap();
    assert_eq!(fs_err::read_to_string(clone.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
    let there = |args: &[&str]| output(&clone, args);
    assert_eq!(there(&["rev-parse", "HEAD"]), first);
    assert_eq!(there(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert_eq!(there(&["rev-list", "--all"]), first);
    assert_eq!(there(&["remote"]), "");
    assert_eq!(there(&["status", "--porcelain"]), "");
    // Not even an object of it is there.
    let all = there(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    assert!(all.contains(&first) && !all.contains(&second), "{all}");
    assert!(!there(&["reflog", "--all"]).contains(&second[..7]));
    assert!(!clone.join(".git/objects/info/alternates").exists());
}

#[test]
fn the_judges_files_replace_whatever_an_agent_left() {
    let project = Project::new();
    let head = project.repo.head().unwrap();
    let commit = project.commit(&head, &[("tests/deep/a.txt", "right")]);
    let folder = tempfile::tempdir().unwrap();
    let (clone, outside) = (folder.path().join("clone"), folder.path().join("outside"));
    fs_err::create_dir_all(outside.join("deep")).unwrap();
    fs_err::write(outside.join("deep/a.txt"), "mine").unwrap();
    project.repo.isolated_clone(&commit, &clone).unwrap();
    let file = clone.join("tests/deep/a.txt");
    let restored = || {
        assert!(project.repo.restore_into(&clone, &commit, "tests/deep/a.txt").unwrap());
        fs_err::read_to_string(&file).unwrap()
    };
    fs_err::write(&file, "cheated").unwrap();
    assert_eq!(restored(), "right");
    // A folder that leads out of the clone is replaced, and what it led to stays.
    fs_err::remove_dir_all(clone.join("tests")).unwrap();
    std::os::unix::fs::symlink(&outside, clone.join("tests")).unwrap();
    assert_eq!(restored(), "right");
    assert_eq!(fs_err::read_to_string(outside.join("deep/a.txt")).unwrap(), "mine");
    // So is a file that became a folder.
    fs_err::remove_file(&file).unwrap();
    fs_err::create_dir_all(file.join("x")).unwrap();
    assert_eq!(restored(), "right");
    assert!(!project.repo.restore_into(&clone, &commit, "missing.txt").unwrap());
}

#[test]
fn commits_come_with_their_files() {
    let project = Project::new();
    let first = project.repo.head().unwrap();
    let second = project.commit(&first, &[("b b.txt", "two\n")]);
    let third =
        project.commit(&second, &[("a.txt", "one\nmore\nlines\nthree\n"), ("c.txt", "c\n")]);
    let all = project.repo.history(&third, 10).unwrap();
    // The first commit has no state to start from.
    let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, [third.as_str(), second.as_str()]);
    assert_eq!(
        (all[0].files.as_slice(), all[0].message.as_str()),
        (&["a.txt".to_owned(), "c.txt".to_owned()][..], "work")
    );
    assert_eq!(
        (all[1].files.as_slice(), all[1].parent.as_str()),
        (&["b b.txt".to_owned()][..], first.as_str())
    );
    assert_eq!(project.repo.history(&third, 1).unwrap().len(), 1);
    assert_eq!(project.repo.added_lines(&second, &third, "a.txt").unwrap(), [2..=3]);
    assert!(project.repo.commit_time(&third).unwrap() >= project.repo.commit_time(&first).unwrap());
}
