//! `handover prove`: the oracle. Scripted agents succeed exactly when a certain text was in their prompt, so it is
//! known what an experiment must find; and whatever could spoil one is tried.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use handover_testkit::{Output, TestEnv};
use serde_json::{Value, json};

use crate::empty;

/// Subjects with a decision each. The first ones have tasks; all have documents, so that a brief must choose.
pub(crate) const SUBJECTS: [&str; 26] = [
    "falcon", "otter", "maple", "quartz", "violin", "harbor", "cinder", "walnut", "meadow",
    "copper", "lantern", "pepper", "glacier", "saddle", "thimble", "velvet", "anchor", "bramble",
    "cobalt", "drizzle", "ember", "fjord", "gadget", "hazel", "indigo", "jasmine",
];

/// When the documents were written and the tasks began: long before the test.
pub(crate) const PAST: &str = "2021-03-04T05:06:07Z";

/// An agent that knows only what its prompt says: `SUBJECT retries exactly N times`.
pub(crate) const READER: &str = r#"#!/bin/sh
prompt=$(cat)
subject=$(printf '%s\n' "$prompt" | sed -n 's/^Configure \([a-z]*\) for production.*/\1/p' | tail -n 1)
printf '%s\n' "$prompt" | sed -n "s/.*$subject retries exactly \([0-9]*\) times.*/\1/p" | head -n 1 > answer.txt
"#;

/// The number of retries that was decided for a subject.
pub(crate) fn decided(subject: &str) -> u32 {
    subject.bytes().map(u32::from).sum()
}

/// A repository with decisions in documents, and a file with one task for each of the first subjects.
pub(crate) fn oracle(tasks: usize, agent: &str) -> TestEnv {
    let mut env = empty();
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        env.set(name, PAST);
    }
    env.git("", &["init", "--quiet"]);
    env.run(["init"]).ok();
    for subject in SUBJECTS {
        let number = decided(subject);
        let text =
            format!("# {subject}\n\nWe decided that {subject} retries exactly {number} times.\n");
        env.write(&format!("docs/decisions/{subject}.md"), text);
    }
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", "Decide on retry limits"]);
    write_tasks(&env, tasks, agent);
    env
}

/// Commits the judge, and writes a file with one task for each of the first subjects, and the agent.
pub(crate) fn write_tasks(env: &TestEnv, tasks: usize, agent: &str) {
    env.write("judge.sh", "test \"$(cat answer.txt)\" = \"$1\"\n");
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", "Judge"]);
    let mut file = String::new();
    for subject in &SUBJECTS[..tasks] {
        let number = decided(subject);
        let _ = write!(
            file,
            "[[task]]\nid = \"{subject}\"\nstart = \"main\"\nprompt = \"Configure {subject} for production\"\n\
             judge = [\"sh\", \"judge.sh\", \"{number}\"]\n\n"
        );
    }
    fs_err::write(env.folder().join("agent.sh"), agent).unwrap();
    env.write("tasks.toml", file);
}

pub(crate) fn prove(env: &TestEnv, more: &[&str]) -> Output {
    let agent = format!("sh {}", env.folder().join("agent.sh").display());
    let mut args =
        vec!["prove", "tasks.toml", "--json", "--host", "command", "--agent-command", &agent];
    args.extend(more);
    env.run(args)
}

pub(crate) fn arm<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["arms"].as_array().unwrap().iter().find(|arm| arm["name"] == name).unwrap()
}

pub(crate) fn difference<'a>(document: &'a Value, a: &str, b: &str) -> &'a Value {
    let all = document["differences"].as_array().unwrap();
    all.iter().find(|one| one["a"] == a && one["b"] == b).unwrap()
}

/// The receipts of the experiment.
fn receipts(env: &TestEnv, document: &Value) -> Vec<Value> {
    let session = format!("prove-{}", document["experiment"]["id"].as_str().unwrap());
    let listed = env.run(["receipt", "list", "--session", &session, "--json"]).ok().json();
    let ids = listed["receipts"].as_array().unwrap().iter();
    let show = |receipt: &Value| {
        let id = receipt["id"].as_str().unwrap();
        env.run(["receipt", "show", id, "--json"]).ok().json()["receipt"].clone()
    };
    ids.map(show).collect()
}

#[test]
fn a_planted_effect_is_found_and_the_placebo_has_none() {
    let env = oracle(8, READER);
    // What was learned after the tasks began must not help.
    env.write("late.md", "falcon retries exactly 0 times. otter retries exactly 0 times.\n");
    env.run(["session", "new", "s1"]).ok();
    let add = [
        "package",
        "add",
        "late.md",
        "--kind",
        "research",
        "--producer",
        "developer",
        "--consumer",
        "developer",
    ];
    env.run(add.into_iter().chain([
        "--priority",
        "critical",
        "--summary",
        "falcon retries exactly 0 times",
    ]))
    .ok();
    let page = env.folder().join("result.html");
    let document = prove(&env, &["--repeat", "1", "--html", page.to_str().unwrap()]).ok().json();
    assert_eq!(document["experiment"]["trials"], 24);
    assert_eq!(
        (&arm(&document, "bare")["passed"], &arm(&document, "placebo")["passed"]),
        (&json!(0), &json!(0)),
        "{document:#}"
    );
    assert_eq!(arm(&document, "brief")["passed"], 8, "{document:#}");
    let helps = difference(&document, "brief", "bare");
    assert_eq!(
        (&helps["verdict"], &helps["effect"]),
        (&json!("better"), &json!(1.0)),
        "{document:#}"
    );
    assert_eq!(difference(&document, "brief", "placebo")["verdict"], "better");
    let placebo = difference(&document, "placebo", "bare")["verdict"].as_str().unwrap();
    assert!(!["better", "worse"].contains(&placebo), "{placebo}");
    // The checkout and the user's session are as they were.
    assert!(!env.path("answer.txt").exists());
    assert_eq!(
        env.run(["receipt", "list", "--session", "s1", "--json"]).ok().json()["receipts"],
        json!([])
    );
    let html = fs_err::read_to_string(page).unwrap();
    assert!(html.contains("It helps") && !html.contains("<script"));
    // Every agent had a receipt, and that of a bare one says why it has nothing.
    let receipts = receipts(&env, &document);
    assert_eq!(receipts.len(), 24);
    let by = format!("experiment {}", document["experiment"]["id"].as_str().unwrap());
    let bare = receipts
        .iter()
        .filter(|one| one["provided"]["context"] == json!({"state": "disabled", "by": by}));
    assert_eq!(bare.count(), 8);
    assert!(receipts.iter().all(|one| one["state"] == "delivered" && one["items"] == json!([])));
    // Nothing is left behind.
    assert!(
        !env.folder()
            .join("home/.local/state/handover/experiments")
            .join(document["experiment"]["id"].as_str().unwrap())
            .exists()
    );
}

#[test]
fn a_section_that_carries_the_effect_is_named() {
    let env = oracle(6, READER);
    let document =
        prove(&env, &["--arms", "brief,brief-without-notes", "--repeat", "1"]).ok().json();
    assert_eq!(arm(&document, "brief-without-notes")["passed"], 0, "{document:#}");
    assert_eq!(
        difference(&document, "brief", "brief-without-notes")["verdict"],
        "better",
        "{document:#}"
    );
}

#[test]
fn a_trial_sees_neither_the_future_nor_this_project() {
    let agent = "#!/bin/sh\ncat > /dev/null\ngit log --all --format=%s >> \"$HOME/log.txt\"\nenv | grep ^HANDOVER >> \"$HOME/env.txt\"\npwd >> \"$HOME/pwd.txt\"\n";
    let mut env = oracle(2, agent);
    env.set("HANDOVER_SESSION", "s1");
    env.run(["session", "new", "s1"]).ok();
    let start = fs_err::read_to_string(env.path(".git/refs/heads/main")).unwrap();
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    env.write("tasks.toml", tasks.replace("\"main\"", &format!("\"{}\"", start.trim())));
    env.write("later.md", "later\n");
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", "The future"]);
    env.git("", &["tag", "future"]);
    prove(&env, &["--arms", "bare,brief", "--repeat", "1"]).ok();
    let home = env.folder().join("home");
    let read = |name: &str| fs_err::read_to_string(home.join(name)).unwrap();
    assert!(
        read("log.txt").lines().all(|line| ["Judge", "Decide on retry limits"].contains(&line)),
        "{}",
        read("log.txt")
    );
    let seen = read("env.txt");
    assert!(seen.contains("HANDOVER_OFF=1") && !seen.contains("HANDOVER_SESSION"), "{seen}");
    let project = env.path("").display().to_string();
    assert!(read("pwd.txt").lines().all(|line| !line.starts_with(project.trim_end_matches('/'))));
}

#[test]
fn an_agent_cannot_change_its_judge() {
    let env = oracle(2, "#!/bin/sh\ncat > /dev/null\necho 'exit 0' > judge.sh\n");
    let document = prove(&env, &["--arms", "bare,brief", "--repeat", "1"]).ok().json();
    assert_eq!(
        (&arm(&document, "bare")["passed"], &arm(&document, "brief")["passed"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn killed_at_any_point_nothing_is_lost_and_nothing_paid_twice() {
    // Every second agent kills the experiment after it has worked, and says in a file that it was there.
    let agent = READER.to_owned()
        + "echo \"$subject\" >> \"$HOME/worked.txt\"\n[ $(($(wc -l < \"$HOME/worked.txt\") % 2)) = 0 ] && [ ! -e \"$HOME/spare\" ] && kill -9 $PPID\nexit 0\n";
    let env = oracle(3, &agent);
    let mut output = prove(&env, &["--arms", "bare,brief", "--repeat", "1"]);
    let mut kills = 0;
    while output.code != Some(0) {
        kills += 1;
        assert!(kills < 12, "{output:?}");
        output = prove(&env, &["--resume"]);
    }
    let document = output.json();
    assert!(kills >= 2, "{kills}");
    assert_eq!(
        (&document["experiment"]["trials"], &document["experiment"]["planned"]),
        (&json!(6), &json!(6))
    );
    assert_eq!(
        (&arm(&document, "brief")["passed"], &arm(&document, "bare")["passed"]),
        (&json!(3), &json!(0)),
        "{document:#}"
    );
    // An agent ran once for each trial, and once more for each that was killed before it had ended.
    let worked =
        fs_err::read_to_string(env.folder().join("home/worked.txt")).unwrap().lines().count();
    assert_eq!(worked, 6 + kills);
    // It is over: there is nothing left to resume, and the result can be shown again.
    let again = prove(&env, &["--show"]).ok().json();
    assert_eq!(again["arms"], document["arms"]);
    prove(&env, &["--resume"]).ok();
    assert_eq!(
        fs_err::read_to_string(env.folder().join("home/worked.txt")).unwrap().lines().count(),
        worked
    );
}

/// A program that answers like Claude Code and costs 40 cents.
pub(crate) const CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null
echo '{"type":"system","subtype":"init","session_id":"c-9","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"c-9","num_turns":3,"total_cost_usd":0.4,"usage":{"input_tokens":100,"output_tokens":20}}'
"#;

#[test]
fn the_budget_ends_an_experiment_with_what_there_is() {
    let env = oracle(3, CLAUDE);
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    let program = env.folder().join("agent.sh");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    env.write(
        ".handover/config.toml",
        format!("{config}\n[agents.programs]\nclaude = \"{program}\"\n"),
    );
    let args = [
        "prove",
        "tasks.toml",
        "--json",
        "--host",
        "claude",
        "--arms",
        "bare,brief",
        "--repeat",
        "1",
        "--max-cost",
        "1.3",
    ];
    let output = env.run(args);
    assert_eq!(output.code, Some(4), "{output:?}");
    let document = output.json();
    assert_eq!(document["experiment"]["trials"], 3, "{document:#}");
    let spent = document["experiment"]["spent_usd"].as_f64().unwrap();
    assert!((spent - 1.2).abs() < 1e-9, "{spent}");
    let bare = arm(&document, "bare");
    let trials = bare["trials"].as_f64().unwrap();
    assert!((bare["cost_usd"].as_f64().unwrap() - 0.4 * trials).abs() < 1e-9);
    assert_eq!(
        (bare["tokens"].as_f64(), bare["turns"].as_f64()),
        (Some(120.0 * trials), Some(3.0 * trials))
    );
    // What agents cost is known now.
    let args = ["prove", "tasks.toml", "--json", "--host", "claude", "--dry-run"];
    let plan = env.run(args).ok().json()["plan"].clone();
    assert!((plan["expected_cost_usd"].as_f64().unwrap() - 0.4 * 27.0).abs() < 1e-9, "{plan:#}");
    // More money, and it continues.
    let document =
        env.run(["prove", "tasks.toml", "--json", "--resume", "--max-cost", "9"]).ok().json();
    assert_eq!(document["experiment"]["trials"], 6);
    // Its conversations are known as those of an experiment.
    let lines = [
        json!({"type": "user", "uuid": "u", "sessionId": "c-9", "cwd": env.path(""), "version": "2.1.325", "message": {"role": "user", "content": "x"}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "p", "subagent_type": "general-purpose"}}]}}),
    ];
    env.write("c-9.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let child =
        json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": "p"}});
    env.write("c-9/subagents/agent-a1.jsonl", format!("{child}\n"));
    env.write(
        "c-9/subagents/agent-a1.meta.json",
        json!({"agentType": "general-purpose", "toolUseId": "t1"}).to_string(),
    );
    let path = env.path("c-9.jsonl");
    let coverage = env.run(["coverage", "--json", "--path", path.to_str().unwrap()]).ok().json();
    assert_eq!(coverage["spawns"][0]["state"], "exempt", "{coverage:#}");
    assert!(
        coverage["spawns"][0]["reason"].as_str().unwrap().contains("experiment x_"),
        "{coverage:#}"
    );
}

#[test]
fn what_cannot_be_an_experiment_is_refused_before_it_costs_anything() {
    let mut env = oracle(2, READER);
    let refused = |env: &TestEnv, more: &[&str], words: &str| {
        let output = prove(env, more);
        assert!(output.code != Some(0) && output.stderr.contains(words), "{output:?}");
        output.code
    };
    assert_eq!(refused(&env, &["--arms", "bare,best"], "`best` is no arm"), Some(2));
    assert_eq!(refused(&env, &["--resume"], "no experiment"), Some(2));
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    env.write("tasks.toml", tasks.replace("start = \"main\"", "start = \"nosuch\""));
    assert_eq!(refused(&env, &[], "`start` names `nosuch`"), Some(2));
    env.write("tasks.toml", tasks.replace("\"sh\", \"judge.sh\"", "\"true\""));
    assert_eq!(refused(&env, &[], "passes at the start"), Some(2));
    env.write("tasks.toml", tasks.replace("prompt", "promt"));
    assert_eq!(refused(&env, &[], "promt"), Some(2));
    let one = tasks.split("\n\n").next().unwrap();
    env.write("tasks.toml", format!("{one}\n"));
    assert_eq!(refused(&env, &[], "one task only"), Some(2));
    env.write("tasks.toml", tasks);
    env.trust_nothing();
    env.write(".handover/config.toml", "[runs]\ncommand = \"sh evil.sh\"\n");
    let code = refused(&env, &[], "trust");
    assert!(code == Some(3) || code == Some(5), "{code:?}");
}

/// An empty crate in a repository.
#[expect(clippy::disallowed_methods, reason = "the developer's own toolchain")]
pub(crate) fn new_crate() -> TestEnv {
    let mut env = empty();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let usual = || format!("{}/{folder}", std::env::var("HOME").unwrap());
        env.set(name, &std::env::var(name).unwrap_or_else(|_| usual()));
    }
    env.git("", &["init", "--quiet"]);
    env.run(["init"]).ok();
    env.write(
        "Cargo.toml",
        "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    env.write(".gitignore", "target\nCargo.lock\n");
    env
}

pub(crate) fn commit(env: &TestEnv, message: &str) {
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", message]);
}

/// A crate with a bug, and the commit that fixed it with a test.
fn history() -> TestEnv {
    let env = new_crate();
    env.write(
        "src/lib.rs",
        "pub fn mean(all: &[u32]) -> u32 {\n    all.iter().sum::<u32>() / all.len() as u32\n}\n",
    );
    env.write(
        "tests/mean.rs",
        "#[test]\nfn of_two() {\n    assert_eq!(sums::mean(&[2, 4]), 3);\n}\n",
    );
    commit(&env, "Add means");
    env.write("src/lib.rs", "pub fn mean(all: &[u32]) -> u32 {\n    all.iter().sum::<u32>().checked_div(all.len() as u32).unwrap_or(0)\n}\n");
    env.write(
        "tests/mean.rs",
        "#[test]\nfn of_two() {\n    assert_eq!(sums::mean(&[2, 4]), 3);\n}\n\n#[test]\nfn of_nothing() {\n    assert_eq!(sums::mean(&[]), 0);\n}\n",
    );
    commit(
        &env,
        "Fix panic for the mean of nothing\n\nAn empty list panics. Use checked_div and return 0.",
    );
    env.write("src/lib.rs", "pub fn mean(all: &[u32]) -> u32 {\n    let count = all.len() as u32;\n    all.iter().sum::<u32>().checked_div(count).unwrap_or(0)\n}\n");
    env.write(
        "tests/other.rs",
        "#[test]\nfn of_one() {\n    assert_eq!(sums::mean(&[5]), 5);\n}\n",
    );
    commit(&env, "Fix wrong name of a variable");
    env
}

#[test]
fn tasks_are_found_in_the_history_and_tried() {
    let env = history();
    let found = env.run(["prove", "init", "found.toml", "--json"]).ok().json();
    assert_eq!(found["found"]["candidates"], 2, "{found:#}");
    assert_eq!(found["found"]["tasks"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!(found["found"]["rejected"]["its test passes without the fix"], 1, "{found:#}");
    let text = fs_err::read_to_string(env.path("found.toml")).unwrap();
    assert!(
        text.contains("panic for the mean of nothing") && text.contains("An empty list panics."),
        "{text}"
    );
    let prompt = text.split("'''").nth(1).unwrap();
    assert!(!prompt.contains("checked_div"), "the decision is given away: {text}");
    assert!(text.contains("\"of_nothing\"") && text.contains("\"tests/mean.rs\" = "), "{text}");
    let output = env.run(["prove", "init", "found.toml"]);
    assert!(output.code == Some(2) && output.stderr.contains("exists"), "{output:?}");
    // An agent that fixes it passes, one that does nothing fails.
    let agent = "#!/bin/sh\nprompt=$(cat)\ncase \"$prompt\" in *receipt*) sed -i 's|/ all.len() as u32|.checked_div(all.len() as u32).unwrap_or(0)|; s|() .checked|().checked|' src/lib.rs;; esac\n";
    fs_err::write(env.folder().join("agent.sh"), agent).unwrap();
    let command = format!("sh {}", env.folder().join("agent.sh").display());
    let args = [
        "prove",
        "found.toml",
        "--json",
        "--host",
        "command",
        "--agent-command",
        &command,
        "--arms",
        "bare,brief",
        "--repeat",
        "1",
    ];
    let document = env.run(args).ok().json();
    assert_eq!(
        (&arm(&document, "bare")["passed"], &arm(&document, "brief")["passed"]),
        (&json!(0), &json!(1)),
        "{document:#}"
    );
}

#[test]
fn merges_and_data_of_tests_make_tasks_and_names_that_nobody_can_guess_do_not() {
    let env = new_crate();
    let lib = |sum: &str, more: &str| {
        env.write(
            "src/lib.rs",
            format!("pub fn sum(all: &[u32]) -> u32 {{\n    {sum}\n}}\n{more}"),
        );
    };
    let count = "pub fn count(text: &str) -> usize {\n    text.split(' ').count()\n}\n";
    lib("all.iter().skip(1).sum()", count);
    env.write("tests/sum.rs", "#[test]\nfn of_none() {\n    assert_eq!(sums::sum(&[]), 0);\n}\n");
    env.write("tests/data/lines.txt", "1 2 3");
    env.write(
        "tests/count.rs",
        "#[test]\nfn of_a_file() {\n    let text = std::fs::read_to_string(\"tests/data/lines.txt\").unwrap();\n    assert_eq!(sums::count(&text), 3);\n}\n",
    );
    commit(&env, "Add sums");
    let base = fs_err::read_to_string(env.path(".git/refs/heads/main")).unwrap();
    // Code and test in two commits of a branch.
    env.git("", &["checkout", "--quiet", "-b", "branch"]);
    lib("all.iter().sum()", count);
    commit(&env, "Take all of them");
    env.write(
        "tests/sum.rs",
        "#[test]\nfn of_two() {\n    assert_eq!(sums::sum(&[1, 2]), 3);\n}\n",
    );
    commit(&env, "More tests");
    env.git("", &["checkout", "--quiet", "main"]);
    let message = "Merge pull request #7 from a/branch\n\nFix sums that leave out the first number";
    env.git("", &["merge", "--quiet", "--no-ff", "--message", message, "branch"]);
    // Only the data of a test changed.
    let count = count.replace("split(' ')", "split_whitespace()");
    lib("all.iter().sum()", &count);
    env.write("tests/data/lines.txt", "1  2  3");
    commit(&env, "Fix numbers that are counted wrong if there are two blanks");
    // Nobody can guess what the new function is called.
    lib(
        "all.iter().sum()",
        &format!(
            "{count}pub fn rounded_mean(all: &[u32]) -> u32 {{\n    sum(all) / all.len() as u32\n}}\n"
        ),
    );
    env.write(
        "tests/mean.rs",
        "#[test]\nfn mean() {\n    assert_eq!(sums::rounded_mean(&[1, 4]), 2);\n}\n",
    );
    commit(&env, "Fix means that are rounded wrong");
    let found = env.run(["prove", "init", "found.toml", "--json"]).ok().json()["found"].clone();
    let tasks = found["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2, "{found:#}");
    assert_eq!(tasks[1]["start"], base.trim(), "{found:#}");
    assert_eq!(found["rejected"]["its test has a name that only the fix brought"], 1, "{found:#}");
    let text = fs_err::read_to_string(env.path("found.toml")).unwrap();
    assert!(
        text.contains("\"tests/data/lines.txt\" = ") && text.contains("\"of_a_file\""),
        "{text}"
    );
    assert!(text.contains("Fix this bug: sums that leave out the first number"), "{text}");
}

#[test]
fn a_dry_run_says_what_could_be_seen_and_starts_nothing() {
    let env = oracle(3, CLAUDE);
    let plan = prove(&env, &["--dry-run"]).ok().json()["plan"].clone();
    assert_eq!((&plan["trials"], &plan["expected_cost_usd"]), (&json!(27), &json!(null)));
    assert!(plan["smallest_visible"].is_null(), "three tasks cannot show anything: {plan:#}");
    assert!(!env.path(".handover/experiments").exists());
}

/// The folder of the only experiment, everything in it made old.
fn aged(env: &TestEnv, document: &Value) -> std::path::PathBuf {
    let id = document["experiment"]["id"].as_str().unwrap();
    let folder = env.path(&format!(".handover/experiments/{id}"));
    for entry in fs_err::read_dir(&folder).unwrap() {
        crate::garbage::age(&entry.unwrap().path(), 100);
    }
    crate::garbage::age(&folder, 100);
    folder
}

#[test]
fn gc_leaves_the_result_of_an_experiment_and_deletes_the_rest() {
    let env = oracle(2, READER);
    let document = prove(&env, &["--repeat", "1"]).ok().json();
    let gc = |more: &[&str]| crate::garbage::gc(&env, more);
    assert!(crate::garbage::paths(&gc(&["-n"])).is_empty(), "it is too young");
    let folder = aged(&env, &document);
    let id = document["experiment"]["id"].as_str().unwrap();
    let both = [format!("experiments/{id}/logs"), format!("experiments/{id}/prompts")];
    let listed = gc(&["-n"]);
    assert_eq!(crate::garbage::paths(&listed), both);
    assert!(folder.join("logs").exists(), "nothing is deleted yet");
    assert_eq!(gc(&[])["files"], listed["files"]);
    assert!(!folder.join("logs").exists() && !folder.join("prompts").exists());
    assert_eq!(prove(&env, &["--show"]).ok().json()["arms"], document["arms"]);
    assert!(crate::garbage::paths(&gc(&["-n", "--older-than", "0"])).is_empty());
}

#[test]
fn gc_leaves_an_experiment_that_is_under_way_or_can_be_resumed() {
    let agent = READER.to_owned() + "[ -e \"$HOME/spare\" ] || kill -9 $PPID\n";
    let env = oracle(2, &agent);
    let killed = prove(&env, &["--arms", "bare,brief", "--repeat", "1"]);
    assert_ne!(killed.code, Some(0), "{killed:?}");
    let document = prove(&env, &["--show"]).ok().json();
    assert_eq!(document["answer"], "No trial has been judged yet.");
    let folder = aged(&env, &document);
    let id = document["experiment"]["id"].as_str().unwrap();
    let path = format!("experiments/{id}");
    let reason_of = |more: &[&str]| {
        let found = crate::garbage::gc(&env, more);
        assert!(crate::garbage::paths(&found).is_empty(), "{found:#}");
        let kept = crate::garbage::kept(&found);
        assert_eq!(kept.len(), 1, "{found:#}");
        assert_eq!(kept[0].0, path);
        kept[0].1.to_owned()
    };
    assert_eq!(reason_of(&[]), "0 of 4 trials are done, and it can be resumed");
    // A journal that somebody else wrote must not lead a deletion anywhere else.
    let precious = env.folder().join("precious");
    fs_err::create_dir(&precious).unwrap();
    fs_err::write(precious.join("file"), "mine").unwrap();
    let journal = folder.join("journal.jsonl");
    let text = fs_err::read_to_string(&journal).unwrap();
    let lines = text.lines().map(|line| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        if entry.get("clone").is_some() {
            entry["clone"] = json!(precious);
        }
        format!("{entry}\n")
    });
    let led = lines.collect::<String>();
    assert_ne!(led, text);
    fs_err::write(&journal, led).unwrap();
    fs_err::write(env.folder().join("home/spare"), "").unwrap();
    {
        let lock = fs_err::File::open(folder.join("lock")).unwrap().into_parts().0;
        lock.lock().unwrap();
        aged(&env, &document);
        assert_eq!(reason_of(&[]), "the experiment is under way");
    }
    prove(&env, &["--resume"]).ok();
    assert_eq!(fs_err::read_to_string(precious.join("file")).unwrap(), "mine");
    // Given up: its file has other tasks now, so nobody can continue it.
    let mut text = fs_err::read_to_string(&journal).unwrap();
    text.truncate(text.find("\"judged\"").unwrap());
    text.truncate(text.rfind('\n').unwrap() + 1);
    fs_err::write(&journal, text).unwrap();
    let tasks = fs_err::read_to_string(env.path("tasks.toml")).unwrap();
    env.write("tasks.toml", format!("{tasks}# changed\n"));
    aged(&env, &document);
    assert_eq!(crate::garbage::paths(&crate::garbage::gc(&env, &[])), [path]);
    assert!(!folder.exists());
}
