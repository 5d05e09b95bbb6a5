//! R1: what a configured gate checks is found out by trying it on damaged files.

use super::Epic;
use super::base::{counted, refused};
use super::gates::verdicts;

/// A project whose only gate is a command.
fn gated(argv: &[&str], format: &str) -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    let argv = serde_json::to_string(argv).unwrap();
    epic.env.write(
        ".handover/config.toml",
        format!(
            "[gates]\ncommands = [{{ name = \"unit\", argv = {argv}, format = \"{format}\" }}]\n"
        ),
    );
    epic
}

/// `make` that takes its settings from the nearest `.env`, as many tools do. Worktrees are inside of the checkout.
fn made(recipe: &str) -> Epic {
    let epic = gated(&["make", "test"], "none");
    epic.env.write(
        "Makefile",
        format!(
            "HERE := $(shell d=\"$(CURDIR)\"; until [ -f \"$$d/.env\" ] || [ \"$$d\" = / ]; do d=$$(dirname \"$$d\"); done; echo \"$$d\")\n\
             -include $(HERE)/.env\nROOT ?= .\ntest:\n\t{recipe}\n"
        ),
    );
    epic.env.write("check.sh", "test \"$(cat total.txt)\" = 3 && echo fine\n");
    epic.env.write("total.txt", "3");
    epic.env.write(".gitignore", ".env\n");
    epic.commit_all("make");
    epic
}

#[test]
fn a_gate_that_follows_a_file_to_the_checkout_is_refused() {
    for (recipe, leads) in [
        ("cd $(ROOT) && sh check.sh", "its output leads to"),
        ("@cd $(ROOT) && sh check.sh", "`.env` leads to"),
    ] {
        let epic = made(recipe);
        let checkout = fs_err::canonicalize(epic.env.path("")).unwrap();
        epic.env.write(".env", format!("ROOT={}\n", checkout.display()));
        let calls = counted(&epic);
        let message = refused(&epic, &[]);
        assert!(message.contains("gate `unit` does not check the worktree"), "{message}");
        assert!(message.contains(&format!("{leads} `[ROOT]/project`")), "{leads}: {message}");
        assert!(!calls.exists(), "nobody was paid");
        assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
        // Without the file the same gate checks the worktree, and nothing is said about it.
        fs_err::remove_file(epic.env.path(".env")).unwrap();
        epic.script(
            "* dev 1 | write total.txt 4 print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
             * fix 1 | write total.txt 3 write new.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        );
        let output = epic.run(&[]).ok();
        assert!(!output.stderr.contains("says nothing about the work"), "{output}");
        assert_eq!(
            verdicts(&epic),
            ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
        );
    }
}

/// Tests that run where there is no code left are those of something else.
#[test]
fn tests_that_run_without_any_code_are_refused() {
    let epic = gated(&["printf", r"1..2\nok 1 - a\nok 2 - b\n"], "tap");
    epic.commit_all("gate");
    let calls = counted(&epic);
    let message = refused(&epic, &[]);
    assert!(message.contains("it passes (2 of its tests ran) although"), "{message}");
    assert!(!calls.exists(), "nobody was paid");
    // A person who knows better can start.
    epic.run(&["--skip-base-check"]).ok();
    assert!(calls.exists());
}

/// A command whose program is in the checkout is code of the checkout.
#[test]
fn a_gate_that_starts_a_program_of_the_checkout_is_refused() {
    let epic = gated(&["sh", "{checkout}/check.sh"], "none");
    let checkout = fs_err::canonicalize(epic.env.path("")).unwrap().display().to_string();
    let config = fs_err::read_to_string(epic.env.path(".handover/config.toml")).unwrap();
    epic.env.write(".handover/config.toml", config.replace("{checkout}", &checkout));
    epic.env.write("check.sh", "test -d /\n");
    epic.commit_all("gate");
    let message = refused(&epic, &[]);
    assert!(message.contains("its command leads to `[ROOT]/project/check.sh`"), "{message}");
}

/// Some gates are not about files. They count, and the run says what they are worth.
#[test]
fn a_gate_that_checks_no_files_is_only_named() {
    let calls = tempfile::tempdir().unwrap();
    let calls = calls.path().join("calls");
    let count = format!("git diff --check; echo x >> {}", calls.display());
    let epic = gated(&["sh", "-c", &count], "none");
    epic.commit_all("gate");
    epic.script("* dev * | print \"IMPLEMENTATION BLOCKED: 1-1-a - no\"");
    let output = epic.run(&[]);
    let caution =
        "gate `unit` passes even if every file is damaged: it says nothing about the work";
    assert!(output.stderr.contains(caution), "{output}");
    assert!(epic.env.run(["run", "journal"]).ok().stdout.contains(caution), "it is recorded");
    let times = || fs_err::read_to_string(&calls).unwrap().lines().count();
    assert_eq!(times(), 3, "on the base, and on files that are damaged in two ways");
    // The answer is known for this tree and this command, and is said again.
    let output = epic.run(&[]);
    assert!(output.stderr.contains(caution), "{output}");
    assert_eq!(times(), 3);
}

/// A linter only notices what is there, and others only what is missing.
#[test]
fn a_gate_that_notices_one_kind_of_damage_checks_the_worktree() {
    for gate in
        ["for file in *.py; do python3 -m py_compile $file || exit 1; done", "test -f app.py"]
    {
        let epic = gated(&["sh", "-c", gate], "none");
        epic.env.write("app.py", "x = 1\n");
        epic.env.write(".gitignore", "__pycache__\n");
        epic.commit_all("gate");
        let output = epic.run(&[]).ok();
        assert!(!output.stderr.contains("says nothing about the work"), "{gate}: {output}");
    }
}
