//! What must not be committed: secrets, huge files, nested repositories.

use handover_engine::pipeline::Pipeline;
use handover_engine::reducer::State;
use handover_model::{Profile, RunState};

use crate::stage::Stage;

const SECRET: &str = "ghp_a8Fk2LmQ9xWz4TnRvB7cYd1EoUiP3sJhG5tN";

/// A run whose developer writes this file and whose fixes are up to the script.
fn wrote(file: &str, text: &str, script: &str) -> (Stage, State) {
    let stage = Stage::new(&["1-1-a"], "");
    let source = stage.env.folder().join("source");
    fs_err::write(&source, text).unwrap();
    let copy = format!("run \"cp {} {file}\"", source.display());
    let done = "print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    stage.script(&format!("* dev * | write a.txt x {copy} {done}\n{script}"));
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
    (stage, state)
}

const USELESS: &str = "* fix * | append a.txt y print \"IMPLEMENTATION COMPLETE: 1-1-a\"";

#[test]
fn a_secret_is_sent_back_and_never_reaches_a_branch() {
    let text = format!("fn main() {{}}\nconst KEY: &str = \"{SECRET}\";\n");
    let (stage, state) = wrote("key.rs", &text, USELESS);
    assert_eq!(state.state, RunState::Failed);
    let story = &state.stories[0];
    assert!(
        story.reason.starts_with("the work cannot be committed after 1 fix"),
        "{}",
        story.reason
    );
    assert!(
        story.findings[0].text.starts_with("`key.rs` contains a secret in line 2"),
        "{:?}",
        story.findings
    );
    // The rest of the work is parked without the file.
    let parked = stage.git(&["ls-tree", "-r", "--name-only", "handover/failed/1-1-a"]);
    assert!(parked.contains("a.txt") && !parked.contains("key.rs"), "{parked}");
    let all = stage.git(&["log", "--all", "-p"]);
    assert!(!all.contains(SECRET));
}

#[test]
fn a_removed_secret_does_not_block_the_commit() {
    let fix =
        "* fix * | write key.rs \"// from the vault\" print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    let (stage, state) = wrote("key.rs", &format!("\"{SECRET}\""), fix);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(stage.show("handover/epic-1", "key.rs"), "// from the vault");
}

#[test]
fn lock_files_and_defaults_are_not_secrets() {
    for (file, text) in [
        ("Cargo.lock", format!("checksum = \"{SECRET}\"\n")),
        ("config.py", "password = \"hunter2\"\n".to_owned()),
        (".env.example", "PASSWORD=changeme\n".to_owned()),
        ("compose.yml", "url: postgres://user:password@localhost/shop\n".to_owned()),
        ("settings.py", "user = \"ann\"\npassword = \"hunter2\"\n".to_owned()),
    ] {
        let (_, state) = wrote(file, &text, USELESS);
        assert_eq!(state.state, RunState::Done, "{file}: {:?}", state.stories[0].reason);
    }
}

#[test]
fn a_plain_password_counts_in_a_file_made_for_secrets() {
    let (_, state) = wrote(".env", "PASSWORD=hunter2\n", USELESS);
    assert_eq!(state.state, RunState::Failed);
    assert!(
        state.stories[0].reason.contains("`.env` contains a secret"),
        "{}",
        state.stories[0].reason
    );
}

#[test]
fn existing_secrets_are_not_blamed_on_the_agent() {
    let stage = Stage::new(
        &["1-1-a"],
        "* dev * | append old.rs more print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    stage.env.write("old.rs", format!("const OLD: &str = \"{SECRET}\";\n"));
    stage.commit("old");
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert!(stage.show("handover/epic-1", "old.rs").ends_with("more"));
}

#[test]
fn files_and_changes_have_a_largest_size() {
    let run = |file_bytes: u64, commit_bytes: u64| {
        let mut stage = Stage::new(&["1-1-a"], USELESS);
        stage.config.runs.max_file_bytes = file_bytes;
        stage.config.runs.max_commit_bytes = commit_bytes;
        let script = "* dev * | write big.txt 0123456789 write small.txt 01 print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
        stage.script(&format!("{script}\n{USELESS}"));
        let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
        (state.state, state.stories[0].reason.clone())
    };
    assert_eq!(run(10, 1_000).0, RunState::Done);
    let (state, reason) = run(9, 1_000);
    assert_eq!(state, RunState::Failed);
    assert!(
        reason.contains("`big.txt` has 10 bytes, and 9 are allowed (runs.max_file_bytes)"),
        "{reason}"
    );
    assert_eq!(run(10, 12).0, RunState::Done);
    let (state, reason) = run(10, 11);
    assert_eq!(state, RunState::Failed);
    assert!(reason.contains("bytes, and 11 are allowed (runs.max_commit_bytes)"), "{reason}");
}

#[test]
fn a_repository_inside_the_repository_is_not_committed() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.script(&format!(
        "* dev * | write a.txt x run \"git init --quiet inner\" write inner/b.txt y \
         run \"git -C inner add .\" run \"git -C inner -c user.name=a -c user.email=a@a commit --quiet -m x\" \
         print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n{USELESS}"
    ));
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
    assert_eq!(state.state, RunState::Failed);
    let reason = &state.stories[0].reason;
    assert!(reason.contains("`inner` is a git repository of its own"), "{reason}");
    let parked = stage.git(&["ls-tree", "-r", "--name-only", "handover/failed/1-1-a"]);
    assert!(parked.contains("a.txt") && !parked.contains("inner"), "{parked}");
}
