//! What people see: tables, errors, completions, the demo. Whole outputs are in `output.rs`.

use handover_testkit::{Demo, TestEnv};

use crate::help::leaf_commands;
use crate::watch::on_terminal;
use crate::{empty, project};

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
        "epic-1 scenarios (quick): 2 passed",
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
    let temporary = env.folder().join("temporary");
    fs_err::create_dir(&temporary).unwrap();
    env.set("TMPDIR", &temporary.display().to_string());
    let left = || fs_err::read_dir(&temporary).unwrap().count();
    env.run(["demo", "--epic"]).ok();
    assert_eq!(left(), 0);
    let kept = env.run(["demo", "--keep"]).ok();
    assert_eq!(left(), 1, "{kept}");
    fs_err::remove_dir_all(&temporary).unwrap();
    fs_err::create_dir(&temporary).unwrap();
    let demo = env.run(["demo"]).ok();
    assert_eq!(left(), 0);
    assert!(!env.folder().join("mine.db").exists());
    // Without Handover both agents make the mistake, with it only the first.
    let mistakes = demo.stdout.matches("FAILED: invoice: accounting expects 537").count();
    assert_eq!(mistakes, 2, "{demo}");
    for part in ["10 + 10  10 + 4", "2 + 2    2 + 0", "password=[REDACTED-", "docs/tax.md"] {
        assert!(demo.stdout.contains(part), "{part} is missing in {demo}");
    }
    assert!(!demo.stdout.contains("correct-horse"), "{demo}");
}

#[test]
fn the_demo_on_a_page_has_the_story_and_packages_in_its_runs() {
    let demo = Demo::start(crate::handover().as_ref());
    let story = demo.get("/sessions/totals");
    assert!(story.contains("How accounting rounds tax"), "{story}");
    assert!(story.contains("brief delivered: 1 package"), "{story}");
    let run = demo.get("/sessions/epic-1");
    assert!(run.contains("brief delivered: 1 package"), "{run}");
    assert!(!run.contains("brief delivered: 0 packages"), "{run}");
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
    for shell in ["bash", "zsh", "fish", "elvish"] {
        assert!(env.run(["completions", shell]).ok().stdout.contains("handover"));
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let env = empty();
    assert!(env.run(["man"]).ok().stdout.contains(".TH handover 1"));
    env.run(["man", "--to", "pages/man1"]).ok();
    for command in leaf_commands(&env) {
        let page = env.path(&format!("pages/man1/handover-{}.1", command.replace(' ', "-")));
        assert!(fs_err::read_to_string(page).unwrap().contains(".SH SYNOPSIS"), "{command}");
    }
    assert!(!env.path("pages/man1/handover-demo-agent.1").exists());
    env.write("file", "");
    let failed = env.run(["man", "--to", "file/man1"]).fails(5);
    assert!(failed.stderr.contains("file/man1"), "{}", failed.stderr);
}

#[test]
fn the_version_names_the_build() {
    let version = env_version(&["--version"]);
    assert!(
        version.starts_with(concat!("handover ", env!("CARGO_PKG_VERSION"), " (")),
        "{version}"
    );
    // A release build has its commit and date there.
    assert!(version.contains("development build, "), "{version}");
    assert!(version.contains(std::env::consts::ARCH), "{version}");
    assert_eq!(version, env_version(&["-V"]));
}

fn env_version(args: &[&str]) -> String {
    empty().run(args.iter().copied()).ok().stdout
}

#[test]
fn completions_know_the_words_and_records_of_the_project() {
    let env = project();
    env.write("docs/oauth.md", "Refresh tokens rotate");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--group", "login"]).ok();
    let brief = ["brief", "--role", "developer", "--task", "x", "--json"];
    let receipt = env.run(brief).ok().json()["receipt"].as_str().unwrap().to_owned();
    let next = |line: &str| -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let at = (words.len() - 1).to_string();
        let args = ["completions", "--at", &at, "--"].into_iter().chain(words);
        env.run(args).ok().stdout.lines().map(str::to_owned).collect()
    };
    assert_eq!(next("handover rec"), ["receipt"]);
    assert_eq!(next("handover brief --role dev"), ["developer"]);
    assert_eq!(next("handover package add x.md --kind re"), ["research"]);
    assert_eq!(next("handover spawn --host cl"), ["claude"]);
    assert_eq!(next("handover host install ge"), ["gemini"]);
    assert_eq!(next("handover --session s"), ["s1"]);
    assert_eq!(next("handover config get guard."), ["guard.mode"]);
    assert_eq!(next("handover package show "), ["1", "docs/oauth.md"]);
    assert_eq!(next("handover receipt show "), [&receipt[receipt.len() - 6..], "latest"]);
    assert_eq!(next("handover receipt show --te"), ["--text"]);
    assert!(next("handover tokens ").is_empty(), "files are left to the shell");
    assert!(
        TestEnv::empty(crate::handover())
            .run(["completions", "--at", "3", "--", "handover", "receipt", "show", ""])
            .ok()
            .stdout
            .is_empty()
    );
}

#[test]
fn bash_completes_ids_with_the_script() {
    let env = project();
    let brief = ["brief", "--role", "developer", "--task", "x", "--json"];
    let receipt = env.run(brief).ok().json()["receipt"].as_str().unwrap().to_owned();
    let script = env.run(["completions", "bash"]).ok().stdout;
    env.write("complete.sh", format!("{script}\nhandover() {{ {} \"$@\"; }}\nCOMP_WORDS=(handover receipt show '')\nCOMP_CWORD=3\n_handover\necho \"${{COMPREPLY[@]}}\"\n", crate::handover()));
    let found = env.tool("bash").arg("complete.sh").current_dir(env.path("")).output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.trim(), format!("{} latest", &receipt[receipt.len() - 6..]));
}

#[test]
fn tables_fit_the_width_that_is_given() {
    let mut env = project();
    env.write(
        "docs/a-very-long-name-of-a-document.md",
        "A summary that goes on and on, ".repeat(5),
    );
    env.run(["package", "add", "docs/a-very-long-name-of-a-document.md", "--kind", "research"])
        .ok();
    for role in ["developer", "senior_software_engineer", "qa_expert"] {
        env.run(["brief", "--role", role, "--task", "Go on and on"]).ok();
    }
    for columns in ["40", "60", "80"] {
        env.set("COLUMNS", columns);
        let limit = columns.parse().unwrap();
        for command in ["package list", "receipt list", "note list", "learn --dry-run"] {
            let list = env.run(command.split(' ')).ok().stdout;
            assert!(list.lines().all(|line| line.chars().count() <= limit), "{command}: {list}");
        }
        // What is the same in every row goes before anything is cut, unless the list is about it.
        let list = env.run(["receipt", "list"]).ok().stdout;
        assert_eq!(list.contains('…'), limit == 60, "{list}");
        assert!(list.contains("senior_software_engin"), "{list}");
        assert_eq!(list.matches("assembled").count(), 3, "{list}");
        assert_eq!(list.contains("SESSION"), limit == 80, "{list}");
        assert!(!list.contains("GROUP"), "{list}");
    }
    assert!(env.run(["package", "list"]).ok().stdout.contains('…'));
}

#[test]
fn long_output_on_a_terminal_goes_through_the_pager() {
    let mut env = project();
    env.run(["note", "add", "Prices are stored in cents"]).ok();
    let lists = |env: &TestEnv, args: &str, paged: bool| {
        let output = on_terminal(env, args, &[]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stdout.contains("Prices are stored"), "{output}");
        assert_eq!(output.stdout.contains("paged: "), paged, "{args}: {output}");
    };
    env.set("PAGER", "sed 's/^/other: /'");
    env.set("HANDOVER_PAGER", "sed 's/^/paged: /'");
    lists(&env, "note list", true);
    lists(&env, "note list --no-pager", false);
    lists(&env, "note list --json", false);
    assert!(!env.run(["note", "list"]).ok().stdout.contains("paged: "), "no terminal");
    for none in ["cat", "", "no-such-pager"] {
        env.set("HANDOVER_PAGER", none);
        lists(&env, "note list", false);
    }
    env.set("HANDOVER_PAGER", "false");
    assert_eq!(on_terminal(&env, "note list", &[]).code, Some(0), "a pager that ends at once");
}

#[test]
fn lines_break_between_words() {
    let mut env = project();
    env.write(
        "docs/tax.md",
        "# How accounting rounds tax\n\nAccounting rounds on each line, half up.\n",
    );
    env.run(["package", "add", "docs/tax.md", "--kind", "research", "--consumer", "developer"])
        .ok();
    env.run(["note", "add", "Accounting rounds tax on each line and not on the sum"]).ok();
    let task = "Print the total of the given prices in cents with the tax of accounting";
    env.run(["brief", "--role", "developer", "--task", task, "--deliver"]).ok();
    for command in [
        "search accounting rounds tax",
        "receipt show",
        "doctor",
        "why docs/tax.md",
        "note show latest",
    ] {
        env.set("COLUMNS", "");
        let wide = env.run(command.split(' ')).stdout;
        env.set("COLUMNS", "44");
        let narrow = env.run(command.split(' ')).stdout;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if command != "doctor" {
            assert_eq!(words(&narrow), words(&wide), "{command}");
        }
        for line in narrow.lines().filter(|line| !line.contains('/')) {
            assert!(line.chars().count() <= 56, "{command}: {line}");
        }
    }
}

#[test]
fn an_editor_needs_a_terminal_or_a_name() {
    let env = project();
    let begin = std::time::Instant::now();
    let refused = env.run(["config", "edit"]).fails(2);
    assert!(refused.stderr.contains("there is no terminal for an editor"), "{refused}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(5));
}

#[test]
fn completions_know_what_follows_run_search_and_learn() {
    let env = project();
    let found = |words: &[&str]| {
        let at = (words.len() - 1).to_string();
        let line = [&["completions", "--at", &at, "--"][..], words].concat();
        let found = env.run(line).ok().stdout;
        found.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&["handover", "run", "st"]), ["status"]);
    assert!(found(&["handover", "run", "status", "--"]).contains(&"--json".to_owned()));
    assert_eq!(found(&["handover", "search", "--type", "n"]), ["note"]);
    assert_eq!(found(&["handover", "search", "--kind", "decis"]), ["decisions"]);
    assert_eq!(found(&["handover", "learn", ""]), ["docs", "git", "transcripts", "memories"]);
    assert_eq!(found(&["handover", "spawn", "--host", "q"]), [""; 0]);
    assert_eq!(found(&["handover", "host", "install", "qw"]), ["qwen"]);
}

#[test]
fn times_are_relative_unless_they_are_asked_for() {
    let env = project();
    let list = env.run(["session", "list"]).ok().stdout;
    assert!(list.contains("just now"), "{list}");
    let list = env.run(["session", "list", "--absolute-times"]).ok().stdout;
    assert!(list.contains("T") && list.contains("Z") && !list.contains("just now"), "{list}");
    let json = env.run(["session", "list", "--json"]).ok().json();
    assert!(json["sessions"][0]["created_at"].as_str().unwrap().ends_with('Z'), "{json}");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let mut env = project();
    assert!(!env.run(["session", "list"]).ok().stdout.contains('\u{1b}'));
    let list = env.run(["session", "list", "--color", "always"]).ok().stdout;
    assert!(list.contains("\u{1b}[33mactive\u{1b}[0m"), "{list:?}");
    env.set("NO_COLOR", "1");
    assert!(!env.run(["session", "list"]).ok().stdout.contains('\u{1b}'));
}

#[test]
fn examples_in_help_are_not_wrapped() {
    let mut env = project();
    env.set("COLUMNS", "50");
    for command in ["brief", "spawn", "receipt show", "config set", "why"] {
        let help = env.run(command.split(' ').chain(["--help"])).ok().stdout;
        assert!(!help.contains('\u{a0}'), "{help}");
        let examples = help.split("Examples:\n").nth(1).unwrap();
        let commands = examples.lines().take_while(|line| line.starts_with("  "));
        for line in commands {
            assert!(line.contains("handover"), "{command}: {line}");
        }
    }
}

#[test]
fn open_prints_an_address_and_returns() {
    let env = project();
    let page = env.run(["open", "session", "--print"]).ok();
    assert_eq!(page.stdout, "http://127.0.0.1:4747/sessions/s1\n");
    assert!(page.stderr.contains("handover serve"), "{page}");
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
