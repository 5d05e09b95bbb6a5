//! Which project and store are used: subfolders, worktrees, clones.

use serde_json::Value;

use crate::empty;

fn root(output: handover_testkit::Output) -> Value {
    output.ok().json()["project"]["root"].clone()
}

#[test]
fn finds_the_project_from_subfolders() {
    let env = empty();
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    fs_err::create_dir_all(env.path("a/b/c")).unwrap();
    env.run_in("a/b/c", ["session", "show", "s1"]).ok();
    assert_eq!(root(env.run_in("a/b/c", ["init", "--json"])), "[ROOT]/project");
    env.write("a/notes.md", "text");
    let added = env
        .run_in("a/b", ["package", "add", "../notes.md", "--kind", "research", "--json"])
        .ok()
        .json();
    assert_eq!(added["package"]["path"], "a/notes.md");
}

#[test]
fn init_uses_the_root_of_the_repository() {
    let env = empty();
    env.git("", &["init", "-q"]);
    fs_err::create_dir_all(env.path("deep/down")).unwrap();
    assert_eq!(root(env.run_in("deep/down", ["init", "--json"])), "[ROOT]/project");
    assert_eq!(
        root(env.run_in("", ["init", "--project", "deep", "--json"])),
        "[ROOT]/project/deep"
    );
}

#[test]
fn worktrees_use_the_store_of_the_main_checkout() {
    let env = empty();
    env.git("", &["init", "-q", "main"]);
    env.write("main/README.md", "x");
    env.git("main", &["add", "."]);
    env.git("main", &["commit", "-qm", "x"]);
    env.git("main", &["worktree", "add", "-q", "../tree"]);
    // Even `init` inside the worktree creates the project in the main checkout.
    assert_eq!(root(env.run_in("tree", ["init", "--json"])), "[ROOT]/project/main");
    env.run_in("tree", ["session", "new", "s1"]).ok();
    env.run_in("main", ["session", "show", "s1"]).ok();
    env.write("tree/docs/only-here.md", "text");
    let added = env
        .run_in("tree/docs", ["package", "add", "only-here.md", "--kind", "research", "--json"])
        .ok()
        .json();
    assert_eq!(added["package"]["path"], "[ROOT]/project/tree/docs/only-here.md");
    let seen = env.run_in("main", ["package", "show", "1", "--json"]).ok().json();
    assert_eq!(seen["package"]["file"], "current");
    // Newer git may write relative paths.
    let link = env.path("main/.git/worktrees/tree/gitdir");
    fs_err::write(&link, "../../../../tree/.git\n").unwrap();
    env.write("tree/docs/more.md", "text");
    env.run_in("tree", ["package", "add", "docs/more.md", "--kind", "research"]).ok();
    // The main checkout does not apply to unrelated folders next to the worktree.
    env.write("elsewhere/x.md", "text");
    env.run_in("tree", ["package", "add", "../elsewhere/x.md", "--kind", "research"]).fails(2);
}

#[test]
fn clones_and_nested_repositories_have_their_own_store() {
    let env = empty();
    env.git("", &["init", "-q", "one"]);
    env.run_in("one", ["init"]).ok();
    env.run_in("one", ["session", "new", "s1"]).ok();
    env.git("one", &["add", "."]);
    env.git("one", &["commit", "-qm", "x"]);
    env.git("", &["clone", "-q", "one", "two"]);
    // The clone has the configuration but not the records.
    assert!(env.path("two/.handover/config.toml").is_file());
    assert!(!env.path("two/.handover/store.db").exists());
    env.run_in("two", ["session", "show", "s1"]).fails(2);
    env.run_in("two", ["session", "new", "s2"]).ok();
    env.run_in("one", ["session", "show", "s2"]).fails(2);
    // A repository inside the project is independent.
    env.git("one", &["init", "-q", "inner"]);
    env.run_in("one/inner", ["session", "list"]).fails(2);
}

#[test]
fn the_store_can_be_elsewhere() {
    let mut env = empty();
    env.run(["init"]).ok();
    let elsewhere = env.folder().join("elsewhere.db");
    env.set("HANDOVER_STORE", &elsewhere.display().to_string());
    env.run(["session", "new", "s1"]).ok();
    assert!(elsewhere.is_file());
    env.run(["session", "show", "s1"]).ok();
    env.set("HANDOVER_STORE", "");
    env.run(["session", "show", "s1"]).fails(2);
    env.set("HANDOVER_STORE", "postgres://localhost/x");
    env.run(["session", "list"]).fails(5);
}
