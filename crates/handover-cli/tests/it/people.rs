//! What people see: tables, errors, completions, the demo. Whole outputs are in `output.rs`.

use handover_testkit::TestEnv;

use crate::project;

#[test]
fn demo_runs_two_epics() {
    let env = TestEnv::empty(crate::handover());
    let demo = env.run(["demo", "--epic"]).ok();
    for part in [
        "feat(epic-1): complete 1-2-farewell",
        "docs(epic-2): close epic 2",
        "| UAT-1 | auto | passed |",
        "- [ ] Read both texts to somebody",
        "The guest is Ada",
        "Hallo, Ada!",
        "## Failure Analysis Record",
        "## Code Review Record",
    ] {
        assert!(demo.stdout.contains(part), "{part} is missing in {demo}");
    }
    for part in [
        "gates failed: spelling",
        "1-2-farewell analysis 1 murat 2: retry",
        "1-2-farewell dev 2: complete",
        "1-1-greet review 1 winston 1: passed",
        "epic-1 scenarios (quick): 2 hold",
        "epic-2 retro 1: complete",
    ] {
        assert!(demo.stderr.contains(part), "{part} is missing in {demo}");
    }
    assert!(demo.stderr.contains("the handoff of epic 1 says who the guest is"), "{demo}");
    env.run(["demo-agent"]).fails(2);
}

#[test]
fn demo_runs_and_leaves_nothing() {
    let env = project();
    let mut env = env;
    // The demo must use neither the user's session nor the user's store.
    env.set("HANDOVER_SESSION", "s1");
    env.set("HANDOVER_STORE", &env.folder().join("mine.db").display().to_string());
    let demo = env.run(["demo"]).ok();
    assert!(!env.folder().join("mine.db").exists());
    assert!(demo.stdout.contains("supersedes 1"), "{demo}");
    assert!(demo.stdout.contains("DB_PASSWORD=[REDACTED-1]"), "{demo}");
    assert!(!demo.stdout.contains("FAIL"), "{demo}");
}

#[test]
fn tables_are_plain_lines() {
    let env = project();
    env.write("a.md", "Résumé of 缓存 caches");
    env.run(["package", "add", "a.md", "--kind", "research", "--priority", "low"]).ok();
    env.write("b.md", "\u{1b}[31mred\u{1b}[0m text");
    env.run(["package", "add", "b.md", "--kind", "decisions", "--group", "P1"]).ok();
    let list = env.run(["package", "list"]).ok();
    insta::assert_snapshot!(list.stdout, @r"
    ID  VER  PRIORITY  KIND       GROUP  PATH  SUMMARY
    2   v1   medium    decisions  P1     b.md   [31mred [0m text
    1   v1   low       research   –      a.md  Résumé of 缓存 caches
    ");
    assert!(!env.run(["package", "show", "2"]).ok().stdout.contains('\u{1b}'));
}

#[test]
fn errors_have_hints() {
    let env = project();
    insta::assert_snapshot!(env.run(["package", "show", "7"]), @r"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no package `7`
    hint: Run `handover package list --all-versions` to see what exists.
    ");
    env.write("a.md", "---\ntype: decisions\n---\nx");
    insta::assert_snapshot!(env.run(["package", "add", "a.md", "--kind", "research"]), @r"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `a.md`: the flag says kind `research`, the front matter says `decisions`
    hint: Make them agree, or omit one.
    ");
}

#[test]
fn completions_exist_for_the_usual_shells() {
    let env = project();
    for shell in ["bash", "zsh", "fish"] {
        assert!(env.run(["completions", shell]).ok().stdout.contains("handover"));
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let env = project();
    for n in 0..50 {
        env.write(&format!("{n}.md"), "x");
        env.run(["package", "add", &format!("{n}.md"), "--kind", "research"]).ok();
    }
    let mut child = env.start(["package", "list", "--json"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn text_may_start_with_a_dash_but_misspelled_options_are_rejected() {
    let env = project();
    env.run(["error", "record", "--message", "--- FAIL: TestFoo (0.00s)"]).ok();
    env.run(["error", "match", "--- FAIL: TestFoo (0.01s)"]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "- a bullet"]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "--josn"]).fails(2);
    env.run(["search", "refresh", "token"]).ok();
}

#[test]
fn sessions_can_be_reopened() {
    let env = project();
    env.run(["session", "close", "s1"]).ok();
    env.run(["package", "list"]).fails(2);
    assert!(env.run(["session", "new", "s1"]).ok().stderr.contains("session reopen s1"));
    env.run(["session", "reopen", "s1"]).ok();
    env.run(["package", "list"]).ok();
}
