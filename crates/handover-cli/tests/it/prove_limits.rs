//! `handover prove` and its limits: of money, of the agent program and of patience; and what is said before anything is
//! spent.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use handover_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::prove::{CLAUDE, READER, oracle, prove};

/// An experiment with an agent program that answers like Claude Code.
fn with_claude(tasks: usize, script: &str) -> TestEnv {
    let env = oracle(tasks, script);
    let program = env.folder().join("agent.sh");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    let program = program.display();
    let programs = format!("{config}\n[agents.programs]\nclaude = \"{program}\"\n");
    env.write(".handover/config.toml", programs);
    env
}

/// Claude Code that fails its first calls with a line of its own, and counts all of them.
fn failing(times: u32, lines: &str) -> String {
    let rest = CLAUDE.replace("#!/bin/sh\n", "");
    format!(
        "#!/bin/sh\necho x >> \"$HOME/worked.txt\"\nif [ \"$(wc -l < \"$HOME/worked.txt\")\" -le {times} ]; then\ncat > /dev/null\n{lines}\nexit 1\nfi\n{rest}"
    )
}

fn failure(status: u32, words: &str) -> String {
    json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "result": words, "session_id": "s", "num_turns": 1, "total_cost_usd": 0.1}).to_string()
}

fn worked(env: &TestEnv) -> usize {
    fs_err::read_to_string(env.folder().join("home/worked.txt")).unwrap().lines().count()
}

const TWO_ARMS: [&str; 8] =
    ["prove", "tasks.toml", "--host", "claude", "--arms", "bare,brief", "--repeat", "1"];

fn two_arms(env: &TestEnv, more: &[&str]) -> Output {
    env.run(TWO_ARMS.iter().chain(more))
}

fn shown(env: &TestEnv) -> Value {
    env.run(["prove", "tasks.toml", "--show", "--json"]).ok().json()
}

fn experiments(env: &TestEnv) -> usize {
    let folder = env.path(".handover/experiments");
    if folder.exists() { fs_err::read_dir(folder).unwrap().count() } else { 0 }
}

#[test]
fn a_usage_limit_is_waited_for_and_counts_as_no_attempt() {
    let limited = failure(429, "You have hit your session limit");
    let lines = format!(
        "echo \"{{\\\"type\\\":\\\"rate_limit_event\\\",\\\"rate_limit_info\\\":{{\\\"status\\\":\\\"rejected\\\",\\\"resetsAt\\\":$(($(date +%s) + 2)),\\\"rateLimitType\\\":\\\"five_hour\\\"}}}}\"\necho '{limited}'"
    );
    // As often as an attempt is made at most.
    let env = with_claude(2, &failing(3, &lines));
    let begun = Instant::now();
    let output = two_arms(&env, &[]).ok();
    assert!(begun.elapsed() > Duration::from_secs(6), "{output}");
    let waits = output.stderr.matches("has reached a usage limit; waits until 20").count();
    assert_eq!(waits, 3, "{output}");
    let document = shown(&env);
    let experiment = &document["experiment"];
    assert_eq!((&experiment["trials"], &experiment["dropped"]), (&json!(4), &json!(0)));
    let spent = experiment["spent_usd"].as_f64().unwrap();
    assert!((spent - 1.9).abs() < 1e-9, "what was used before the limit counts: {spent}");
    assert_eq!(worked(&env), 7);
}

#[test]
fn a_server_that_is_overloaded_is_asked_again_later() {
    let lines = format!("echo '{}'", failure(529, "Overloaded"));
    let env = with_claude(2, &failing(1, &lines));
    let begun = Instant::now();
    let output = two_arms(&env, &[]).ok();
    assert!(begun.elapsed() > Duration::from_secs(5), "{output}");
    assert!(output.stderr.contains("Trying again in 5 s"), "{output}");
    assert_eq!(shown(&env)["experiment"]["trials"], 4);
}

#[test]
fn the_page_is_written_whatever_ends_the_experiment() {
    let lines = format!("echo '{}'", failure(401, "Invalid API key"));
    let env = with_claude(2, &failing(99, &lines));
    let output = two_arms(&env, &["--html", "result.html"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("2 trials in a row could not be done"), "{output}");
    let page = fs_err::read_to_string(env.path("result.html")).unwrap();
    assert!(page.contains("No trial has been judged yet."));
    // A page that cannot be written is said before anything is spent.
    let calls = worked(&env);
    for (more, words) in [
        (&["--html", "nowhere/result.html"][..], "there is no folder for `nowhere/result.html`"),
        (&["--html", "docs"], "`docs` is a folder"),
        (&["--show", "--html", "nowhere/result.html"], "there is no folder for"),
    ] {
        let output = env.run(["prove", "tasks.toml", "--host", "claude"].iter().chain(more));
        assert!(output.code == Some(2) && output.stderr.contains(words), "{output}");
        assert!(output.stdout.is_empty(), "{output}");
    }
    assert_eq!((worked(&env), experiments(&env)), (calls, 1));
}

#[test]
fn the_budget_is_kept_until_another_one_is_given() {
    let env = with_claude(3, CLAUDE);
    let judged = |output: Output, trials: u64| {
        assert_eq!(output.code, Some(4), "{output}");
        assert_eq!(shown(&env)["experiment"]["trials"], trials, "{output}");
    };
    judged(two_arms(&env, &["--max-cost", "0.9"]), 2);
    let resume = |more: &[&str]| env.run(["prove", "tasks.toml", "--resume"].iter().chain(more));
    judged(resume(&[]), 2);
    judged(resume(&["--max-cost", "1.7"]), 4);
    judged(resume(&[]), 4);
    let other = resume(&["--timeout", "5"]);
    assert!(
        other.code == Some(2) && other.stderr.contains("was begun without `--timeout`"),
        "{other}"
    );
    resume(&["--max-cost", "9"]).ok();
    // It is over: nothing is left to do, with or without an agent program.
    fs_err::remove_file(env.folder().join("agent.sh")).unwrap();
    let over = resume(&[]).ok();
    assert!(over.stderr.contains("is over; nothing is left to resume"), "{over}");
    assert!(over.stdout.contains("Every trial ended the same way."), "{over}");
}

#[test]
fn a_budget_without_room_for_a_comparison_is_said() {
    let env = with_claude(3, CLAUDE);
    let output = two_arms(&env, &["--max-cost", "0.5"]);
    assert_eq!(output.code, Some(4), "{output}");
    let words = "does not hold one trial of each of the 2 arms";
    assert!(output.stderr.contains(words), "{output}");
    assert_eq!(shown(&env)["experiment"]["trials"], 1);
    // Now it is known what an agent costs, and nothing begins.
    let output = two_arms(&env, &["--max-cost", "0.5", "--json"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert!(output.stdout.is_empty() && output.stderr.contains(words), "{output}");
    assert_eq!(experiments(&env), 1);
}

#[test]
fn nothing_is_kept_of_an_experiment_that_could_not_begin() {
    let env = oracle(2, READER);
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    env.write("tasks.toml", tasks.replacen("\"sh\", \"judge.sh\"", "\"true\"", 1));
    let output = prove(&env, &["--repeat", "1"]);
    assert!(output.code == Some(2) && output.stderr.contains("passes at the start"), "{output}");
    env.write("tasks.toml", tasks);
    let output = env.run(["prove", "tasks.toml", "--host", "command", "--agent-command", "nosuch"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(experiments(&env), 0);
    let sessions = env.run(["session", "list", "--json"]).ok().json();
    assert_eq!(sessions["sessions"], json!([]));
    let clones = env.folder().join("home/.local/state/handover/experiments");
    assert_eq!(fs_err::read_dir(clones).unwrap().count(), 0);
}

#[test]
fn slips_and_sizes_are_said_in_plain_words() {
    let env = oracle(2, READER);
    let output = env.run(["prove", "inti"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("Did you mean `handover prove init`?"), "{output}");
    let output = env.run(["prove", "taks.toml"]);
    assert!(output.stderr.contains("Did you mean `tasks.toml`?"), "{output}");
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    env.write("tasks.toml", format!("{}\n", tasks.split("\n\n").next().unwrap()));
    let args = ["prove", "tasks.toml", "--host", "command", "--agent-command", "sh", "--dry-run"];
    let output = env.run(args.iter().chain(&["--arms", "bare,brief", "--repeat", "1"])).ok();
    let size = "1 task × 2 arms (bare, brief) × 1 = 2 trials with command\n1 task × 1 cannot show any difference";
    assert!(output.stdout.starts_with(size), "{output}");
}

#[test]
fn what_nobody_reports_is_unknown_and_experiments_are_no_use() {
    let env = oracle(2, READER);
    env.run(["session", "new", "s1"]).ok();
    let before = env.run(["stats", "--json"]).ok().json()["stats"].clone();
    let document = prove(&env, &["--arms", "bare,brief", "--repeat", "1"]).ok().json();
    assert_eq!(document["experiment"]["spent_usd"], Value::Null, "{document:#}");
    assert_eq!(document["arms"][0]["trials_with_cost"], 0);
    let after = env.run(["stats", "--json"]).ok().json()["stats"].clone();
    for part in ["sessions", "receipts", "tokens"] {
        assert_eq!(after[part], before[part], "{after:#}");
    }
}
