//! What a run does when nothing goes wrong, and what it does not touch.

use serde_json::{Value, json};

use crate::watch::on_terminal;

use super::{Epic, story};

#[test]
fn stories_are_developed_reviewed_and_committed() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    epic.run(&[]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    assert_eq!(
        epic.subjects("handover/epic-1"),
        ["feat(epic-1): complete 1-2-b", "feat(epic-1): complete 1-1-a"]
    );
    let body = epic.git(&["log", "-1", "--format=%B", "handover/epic-1"]);
    for trailer in ["Epic: 1", "Story: 1-2-b", "Run: run_", "Receipt: r_"] {
        assert!(body.contains(trailer), "{body}");
    }
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "work");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("Status: done"), "{story}");
    assert!(story.contains("## Dev Agent Record") && story.contains("## Code Review Record"));
    // Only the branch stays in git.
    assert_eq!(epic.git(&["for-each-ref", "--format=%(refname)"]).lines().count(), 2);
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn does_not_touch_the_users_checkout() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("README.md", "half a thought\n");
    epic.env.write("untracked.txt", "mine\n");
    epic.env.write("staged.txt", "mine too\n");
    epic.env.git("", &["add", "staged.txt"]);
    let before = epic.git(&["status", "--porcelain"]);
    epic.run(&[]).ok();
    assert_eq!(epic.git(&["status", "--porcelain"]), before);
    assert_eq!(epic.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    let files = epic.git(&["show", "--name-only", "--format=", "handover/epic-1"]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["1-1-a.txt", "docs/stories/1-1-a.md"]);
}

#[test]
fn runs_an_uncommitted_story() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("docs/stories/1-2-new.md", story("1-2-new"));
    epic.run(&[]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    assert!(
        epic.git(&["show", "handover/epic-1:docs/stories/1-2-new.md"]).contains("Status: done")
    );
}

/// A program that reports no cost may be expensive: 0 would be a lie.
#[test]
fn unknown_cost_is_not_zero() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&[]).ok();
    assert!(output.stderr.contains("$? 1-1-a dev 1: complete"), "{output}");
    assert!(output.stdout.contains("done, cost unknown,"), "{output}");
    let run = epic.status();
    assert_eq!((&run["cost_usd"], &run["unpriced"]), (&json!(0.0), &json!(2)), "{run}");
    // Here one of the two agents reports it.
    let epic = Epic::new(&["1-1-a"]);
    epic.script(r#"* dev 1 | write x.txt y result '{"nonce":"{HANDOVER_NONCE}","story":"1-1-a","phase":"dev","verdict":"complete","summary":"done so","usage":{"cost_usd":0.25}}'"#);
    let output = epic.run(&[]).ok();
    assert!(output.stdout.contains("done, at least 0.2500 USD,"), "{output}");
    assert_eq!(epic.status()["stories"][0]["phases"][0]["unpriced"], 0);
}

#[test]
fn status_json_follows_the_contract() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(r#"* dev 1 | write x.txt y result '{"nonce":"{HANDOVER_NONCE}","story":"1-1-a","phase":"dev","verdict":"complete","summary":"done so","usage":{"cost_usd":0.25,"tokens":100,"turns":3}}'"#);
    epic.run(&[]).ok();
    let run = epic.status();
    assert_eq!(run["epic"], "1");
    assert_eq!(run["state"], "done");
    assert_eq!(run["branch"], "handover/epic-1");
    assert_eq!(run["base"], epic.git(&["rev-parse", "main"]));
    assert_eq!(run["cost_usd"], 0.25);
    let story = &run["stories"][0];
    assert_eq!(story["commit"], epic.git(&["rev-parse", "handover/epic-1"]));
    let phases: Vec<(&str, &str)> = story["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["phase"].as_str().unwrap(), p["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(phases, [("dev", "complete"), ("gates", "none"), ("review", "passed")]);
    assert!(story["phases"][0]["duration_ms"].is_u64());
    let journal = epic.env.run(["journal", "--json"]).ok().json();
    let kinds: Vec<&str> = journal["journal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[0], "result");
    assert!(kinds.contains(&"intent") && kinds.contains(&"note"));
    epic.env.run(["status"]).ok();
    epic.env.run(["journal"]).ok();
}

#[test]
fn progress_is_one_json_document_per_line() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&["--json"]).ok();
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["schema"] == 1));
    assert_eq!(lines[0]["type"], "run_started");
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["run"]["state"]), (&"run_ended".into(), &"done".into()));
}

#[test]
fn a_dry_run_leaves_no_trace() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let before = epic.git(&["for-each-ref"]);
    let output = epic.run(&["--dry-run", "--show-prompts"]).ok();
    assert!(output.stdout.contains("prompt of 1-2-b") && output.stdout.contains("## Your Task"));
    let plan = epic.run(&["--dry-run", "--json"]).ok().json();
    assert_eq!(plan["plan"]["stories"][0]["matched_by"], "its name");
    assert_eq!(epic.git(&["for-each-ref"]), before);
    assert!(!epic.env.path(".handover/runs").exists());
    epic.env.run(["status"]).fails(2);
}

#[test]
fn prompt_and_environment_of_an_agent() {
    let epic = Epic::new(&["1-1-a"]);
    let folder = epic.env.folder().to_owned();
    let (prompt, environment) = (folder.join("prompt"), folder.join("environment"));
    epic.script(&format!(
        "* dev 1 | echo-prompt {} env {} write a.txt b print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 1 | echo-prompt {}.review print \"REVIEW PASSED: 1-1-a\"",
        prompt.display(),
        environment.display(),
        prompt.display()
    ));
    epic.run(&[]).ok();
    let text = fs_err::read_to_string(&prompt).unwrap();
    for part in [
        "## Context for developer",
        "handover:receipt r_",
        "## Your Role",
        "## Your Task",
        "- [ ] do 1-1-a",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let vars = fs_err::read_to_string(environment).unwrap();
    for var in [
        "HANDOVER_RUN=run_",
        "HANDOVER_STORY=1-1-a",
        "HANDOVER_PHASE=dev",
        "HANDOVER_ATTEMPT=1",
        "HANDOVER_RESULT=/",
        "HANDOVER_SESSION=epic-1",
        "HANDOVER_GROUP=1-1-a",
    ] {
        assert!(vars.contains(var), "{var} is missing in {vars}");
    }
    // Every process of the user can read the environment of another one.
    let nonce = text.rsplit_once("{\"nonce\": \"").unwrap().1.split('"').next().unwrap();
    assert!(nonce.len() >= 32 && !vars.contains(nonce), "{nonce} is in {vars}");
    let review = fs_err::read_to_string(folder.join("prompt.review")).unwrap();
    assert!(review.contains("You are seeing this code for the first time"), "{review}");
    assert!(review.contains("+b"), "{review}");
    let receipts = epic.env.run(["receipt", "list", "--json"]).ok().json();
    let states: Vec<&str> = receipts["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["delivered", "delivered"]);
}

#[test]
fn findings_are_fixed_and_reviewed_again() {
    let epic = Epic::new(&["1-1-a"]);
    let prompt = epic.env.folder().join("fix-prompt");
    epic.script(&format!(
        "* review 1 | result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"1-1-a\",\"phase\":\"review\",\"verdict\":\"failed\",\"findings\":[{{\"severity\":\"high\",\"file\":\"1-1-a.txt\",\"issue\":\"no greeting\"}}]}}'\n\
         * fix 1 | echo-prompt {} append 1-1-a.txt hello print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        prompt.display()
    ));
    epic.run(&[]).ok();
    assert!(fs_err::read_to_string(prompt).unwrap().contains("[high] 1-1-a.txt: no greeting"));
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "workhello");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("no greeting"), "{story}");
}

#[test]
fn a_reviewer_cannot_write() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(
        "* review 1 | write sneaked.txt x write 1-1-a.txt other print \"REVIEW PASSED: 1-1-a\"",
    );
    epic.run(&[]).ok();
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("sneaked"), "{files}");
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "work");
}

#[test]
fn failed_work_is_kept_on_its_own_branch() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    epic.env.write(
        "docs/stories/1-3-c.md",
        format!(
            "{}\nDepends on: 1.1\n",
            story("1-3-c").replace("\n\n## Tasks", "\nDepends on: 1.1\n\n## Tasks")
        ),
    );
    epic.commit_all("dependency");
    epic.script(
        "1-1-a dev 1 | write half.txt half print \"IMPLEMENTATION BLOCKED: 1-1-a - no key\"",
    );
    epic.run(&[]).fails(3);
    assert_eq!(epic.states(), ["blocked", "done", "blocked"]);
    assert_eq!(epic.reason(0), "no key");
    assert_eq!(epic.git(&["show", "handover/failed/1-1-a:half.txt"]), "half");
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("half.txt"), "{files}");
}

#[test]
fn flags_skip_stories() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    epic.env.write("docs/stories/1-2-b.md", story("1-2-b").replace("ready-for-dev", "Done"));
    epic.commit_all("done");
    epic.run(&["--skip-done", "--start-from", "1.2", "--skip-review"]).ok();
    assert_eq!(epic.states(), ["skipped", "skipped", "done"]);
    assert_eq!(epic.subjects("handover/epic-1"), ["feat(epic-1): complete 1-3-c"]);
    let error = epic.run(&["--start-from", "1-9", "--json"]).fails(2);
    assert_eq!(error.error()["code"], "not_found");
}

#[test]
fn merge_fast_forwards_the_current_branch() {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&["--merge"]).ok();
    assert_eq!(epic.git(&["rev-parse", "main"]), epic.git(&["rev-parse", "handover/epic-1"]));
    assert!(epic.env.path("1-1-a.txt").exists());
    // The branch is behind now, and the next run starts at the user's commit.
    epic.env.write("docs/stories/1-2-b.md", story("1-2-b"));
    epic.commit_all("another story");
    epic.run(&["--skip-done", "--merge"]).ok();
    assert_eq!(epic.states(), ["skipped", "done"]);
}

#[test]
fn work_can_stay_uncommitted() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    epic.run(&["--no-commit"]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    assert_eq!(epic.git(&["branch", "--list", "handover/*"]), "");
    assert_eq!(epic.status()["stories"][0]["commit"], Value::Null);
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 3);
}

#[test]
fn sprint_status_is_kept_in_sync() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let plan = "development_status:\n  epic-1: backlog\n  1-1-a: ready-for-dev # first\n  1-2-b: ready-for-dev\n";
    epic.env.write("docs/sprint-artifacts/sprint-status.yaml", plan);
    epic.commit_all("plan");
    epic.run(&[]).ok();
    let path = "docs/sprint-artifacts/sprint-status.yaml";
    let after = epic.git(&["show", &format!("handover/epic-1:{path}")]);
    assert_eq!(after, "development_status:\n  epic-1: done\n  1-1-a: done # first\n  1-2-b: done");
    let between = epic.git(&["show", &format!("handover/epic-1~1:{path}")]);
    assert!(
        between.contains("epic-1: in-progress") && between.contains("1-2-b: ready-for-dev"),
        "{between}"
    );
}

#[test]
fn resolves_a_program_path_from_the_current_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let epic = Epic::new(&["1-1-a"]);
    let script = "#!/bin/sh\nif [ $HANDOVER_PHASE = dev ]; then echo \"$1\" > a.txt; \
        echo \"IMPLEMENTATION COMPLETE: $HANDOVER_STORY\"; else echo \"REVIEW PASSED: $HANDOVER_STORY\"; fi\n";
    epic.env.write("tools/my agent.sh", script);
    let path = epic.env.path("tools/my agent.sh");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    epic.env.run_in("tools", ["run", "1", "--agent-command", "'./my agent.sh' 'two words'"]).ok();
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "two words");
    let output = epic.env.run(["run", "1", "--agent-command", "./nothing", "--json"]).fails(5);
    assert_eq!(output.error()["code"], "host");
}

/// The same board as `handover watch`, with what the agents of the run were given; the table stays on the first screen.
#[test]
fn a_terminal_shows_the_board() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    epic.script(
        "* dev 1 | sleep 1200 write {HANDOVER_STORY}.txt x print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"",
    );
    let shown = epic.in_terminal(&[]);
    for part in [
        "\x1b[?1049h",
        "RUN epic 1  running  0 of 2 done",
        "▸ 1-1-a",
        "dev 1 00:00",
        "· 1-2-b",
        "✓ 1-1-a",
        "developer",
        "Ctrl-C stop the run",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in {shown}");
    }
    let (_, after) = shown.rsplit_once("\x1b[?1049l").unwrap();
    assert!(after.contains("1-2-b") && after.contains("handover/epic-1"), "{after}");
}

#[test]
fn keys_on_the_board_of_a_run_leave_it_or_stop_the_run() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* dev 1 | sleep 9000 write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    let words: Vec<String> = epic.args(&[]).iter().map(|arg| format!("'{arg}'")).collect();
    let keys = [(3_000, "q"), (1_000, "\u{3}")];
    let stopped = on_terminal(&epic.env, &words.join(" "), &keys);
    assert_eq!(stopped.code, Some(130), "{stopped}");
    let (_, after) = stopped.stdout.rsplit_once("\x1b[?1049l").unwrap();
    assert!(after.contains("The run continues."), "{after}");
    let resumed =
        on_terminal(&epic.env, &format!("{} --resume", words.join(" ")), &[(3_000, "\u{3}")]);
    assert_eq!(resumed.code, Some(130), "{resumed}");
    assert!(resumed.stdout.contains("stopping; agents at work are ended"), "{resumed}");
    epic.script("");
    epic.run(&["--resume"]).ok();
}

#[test]
fn a_terminal_shows_lines_if_they_are_wanted() {
    let epic = Epic::new(&["1-1-a"]);
    let shown = epic.in_terminal(&["--plain"]);
    assert!(shown.contains("1-1-a dev 1 …"), "{shown}");
    assert!(!shown.contains("\x1b[J"), "{shown}");
}

/// R6: packages of the only active session reach the agents of a run.
#[test]
fn a_run_uses_the_only_active_session() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.run(["session", "new", "work"]).ok();
    epic.env.write("docs/research_ports.md", "# Ports\n\nPort 4711 is reserved for the shop.\n");
    epic.env.run(["package", "add", "docs/research_ports.md", "--kind", "research"]).ok();
    let prompt = epic.env.folder().join("prompt");
    epic.script(&format!(
        "* dev 1 | echo-prompt {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        prompt.display()
    ));
    let output = epic.run(&[]).ok();
    assert!(output.stderr.contains("Using session work."), "{output}");
    let text = fs_err::read_to_string(&prompt).unwrap();
    assert!(text.contains("4711"), "{text}");
    // Several: none of them is meant, and that is said.
    epic.env.run(["session", "new", "other"]).ok();
    let output = epic.run(&["--skip-done"]).ok();
    assert!(output.stderr.contains("2 active sessions"), "{output}");
}

/// R6, as it is after `init`: the only session is the one that it opened, and it holds packages.
#[test]
fn a_run_uses_the_default_session_if_it_holds_packages() {
    let epic = Epic::new(&["1-1-a"]);
    let work = "write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    epic.env.write("docs/research_ports.md", "# Ports\n\nPort 4711 is reserved for the shop.\n");
    let add = ["package", "add", "docs/research_ports.md", "--kind", "research"];
    // Empty, it is not worth a word.
    epic.env.run(["init", "--yes"]).ok();
    assert!(!epic.run(&["--dry-run"]).ok().stderr.contains("Using session"));
    epic.env.run(add).ok();
    let preview = epic.run(&["--dry-run", "--show-prompts"]).ok();
    assert!(preview.stdout.contains("4711"), "{preview}");
    let prompt = epic.env.folder().join("prompt");
    epic.script(&format!("* dev 1 | echo-prompt {} {work}", prompt.display()));
    let output = epic.run(&[]).ok();
    assert!(output.stderr.contains("Using session main."), "{output}");
    let text = fs_err::read_to_string(&prompt).unwrap();
    assert!(text.contains("4711"), "{text}");
}

/// R15: nothing of other agents is beside an agent's result.
#[test]
fn a_result_is_not_beside_the_files_of_other_agents() {
    let epic = Epic::new(&["1-1-a"]);
    let seen = epic.env.folder().join("seen");
    let look = epic.env.folder().join("look.sh");
    // Also in everything that holds the worktrees of this run and of others.
    let script = "cd \"$(dirname \"$HANDOVER_RESULT\")\" && pwd > SEEN && ls -A . .. >> SEEN\n\
                  cd \"$(git rev-parse --show-toplevel)\" && find ../../.. -type f -not -path '*/.git/*' >> SEEN\n";
    fs_err::write(&look, script.replace("SEEN", &seen.display().to_string())).unwrap();
    epic.script(&format!(
        "* dev 1 | print thinking write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 1 | run 'sh {}' print \"REVIEW PASSED: 1-1-a\"",
        look.display()
    ));
    epic.run(&[]).ok();
    let seen = fs_err::read_to_string(&seen).unwrap();
    assert!(seen.contains("/worktrees/"), "{seen}");
    for other in ["dev-1", ".log", "result.json"] {
        assert!(!seen.contains(other), "{seen}");
    }
    // Once the story has ended, they are kept with the run.
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    for name in ["dev-1.log", "review-1.log"] {
        assert!(epic.env.path(&format!(".handover/runs/{run}/1-1-a/{name}")).exists(), "{name}");
    }
    assert!(!epic.env.path(&format!(".handover/logs/{run}")).exists());
}

/// R7: a lock file does not hide the code from the reviewer.
#[test]
fn a_large_lock_file_does_not_hide_the_code() {
    let epic = Epic::new(&["1-1-a"]);
    let prompt = epic.env.folder().join("prompt");
    let fill = epic.env.folder().join("fill.sh");
    let script = "seq 1 40000 | sed 's/.*/    \"integrity\": \"sha512-&\",/' > a-lock.json\n\
                  mv a-lock.json package-lock.json\necho 'let total = 1 - 1' > src.js\n\
                  seq 1 30000 > data.csv\n";
    fs_err::write(&fill, script).unwrap();
    epic.script(&format!(
        "* dev 1 | run 'sh {}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 1 | echo-prompt {} print \"REVIEW PASSED: 1-1-a\"",
        fill.display(),
        prompt.display()
    ));
    epic.run(&[]).ok();
    let text = fs_err::read_to_string(prompt).unwrap();
    assert!(text.contains("+let total = 1 - 1"), "the code is missing");
    assert!(text.contains("not shown: package-lock.json"), "the lock file is not named");
    assert!(text.contains("read data.csv"), "a large file is not said to be cut");
    assert!(text.len() < 160_000, "{}", text.len());
}

/// R22: the end of a run says how long it took and what to do next.
#[test]
fn a_finished_run_names_the_next_step() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&[]).ok();
    assert!(output.stdout.contains("TIME") && output.stdout.contains("00:0"), "{output}");
    let next = "Next: `git merge handover/epic-1`; `handover open run` shows what was done, `handover report` \
                writes a page of it to send.";
    assert!(output.stderr.contains(next), "{output}");
    let again = epic.run(&[]).ok();
    let done = "Nothing to do: the story is done; `--all` runs it again.";
    assert!(again.stderr.contains(done), "{again}");
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&["--no-commit"]).ok();
    assert!(output.stdout.contains("worktrees in .handover/runs/"), "{output}");
    assert!(!output.stdout.contains("branch handover/epic-1"), "{output}");
}

/// Each thing that happens is one line, and as wide as the terminal at most.
#[test]
fn what_agents_say_is_one_line() {
    let mut epic = Epic::new(&["1-1-a", "1-2-b"]);
    let result = |verdict: &str, summary: &str| {
        format!(
            "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{{HANDOVER_PHASE}}\",\"verdict\":\"{verdict}\",\"summary\":\"{summary}\"}}'"
        )
    };
    epic.script(&format!(
        "1-1-a dev 1 | write a.txt x {}\n1-2-b dev 1 | print 'I have looked.'\n1-2-b dev * | print 'And again.'",
        result("complete", "one\\n  two "),
    ));
    let output = epic.run(&["--plain"]).fails(1);
    let lines: Vec<&str> = output.stderr.lines().collect();
    let has = |end: &str| lines.iter().any(|line| line.ends_with(end));
    assert!(has(" 1-1-a dev 1: complete: one two"), "{output}");
    assert!(
        has(" 1-2-b dev 1: the agent ended without a result: it gave no verdict (cost unknown)"),
        "{output}"
    );
    assert!(has("no tests were found that could check the work; `gates.commands` names commands"));
    assert!(lines.iter().all(|line| line.trim_end() == *line), "{output}");
    epic.env.set("COLUMNS", "66");
    let output = epic.run(&["--plain"]).fails(1);
    let ends = output.stderr.lines().filter(|line| line.contains("without a result"));
    let ends: Vec<&str> = ends.collect();
    assert!(!ends.is_empty(), "{output}");
    assert!(ends.iter().all(|line| line.chars().count() == 66 && line.ends_with('…')), "{ends:?}");
    let shown = epic.env.run(["status"]).ok().stdout;
    assert!(shown.contains("1-2-b failed: "), "{shown}");
    assert!(shown.contains("STATE"), "{shown}");
}

/// A terminal of 80 columns shows whole reasons, in lines of their own.
#[test]
fn reasons_are_readable_in_a_narrow_terminal() {
    let mut epic = Epic::new(&["1-1-a", "1-2-b"]);
    let reason = "the key of the payment provider is missing and nobody can be asked for it before Monday morning";
    epic.script(&format!("1-1-a dev * | print \"IMPLEMENTATION BLOCKED: 1-1-a - {reason}\""));
    epic.run(&[]).fails(3);
    epic.env.set("COLUMNS", "80");
    let shown = epic.env.run(["status"]).ok().stdout;
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let whole = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(whole.contains(&format!("1-1-a blocked: {reason}")), "{shown}");
}

/// R22: the clock moves while an agent says nothing.
#[test]
fn the_clock_moves_while_an_agent_is_silent() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script("* dev 1 | sleep 3200 write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    let shown = epic.in_terminal(&[]);
    for second in ["dev 1 00:01", "dev 1 00:02", "dev 1 00:03"] {
        assert!(shown.contains(second), "{second} is missing in {shown}");
    }
}

/// R22: the table stays readable with parties.
#[test]
fn the_voices_of_a_party_are_counted() {
    let epic = Epic::new(&["1-1-a"]);
    let output = epic.run(&["--party-review"]).ok();
    assert!(output.stdout.contains("3 review passed"), "{output}");
}

/// R12: before the first run, previewed prompts are those that agents will get.
#[test]
fn the_first_preview_shows_a_whole_prompt() {
    let epic = Epic::new(&["1-1-a"]);
    let before = epic.env.run(["session", "list", "--json"]).ok().json();
    let shown = epic.run(&["--dry-run", "--show-prompts"]).ok().stdout;
    assert!(shown.contains("## Context for developer"), "{shown}");
    assert!(!shown.contains("encountered an error"), "{shown}");
    assert_eq!(epic.env.run(["session", "list", "--json"]).ok().json(), before);
}
