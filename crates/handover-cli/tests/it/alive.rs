//! Files that were renamed or deleted, commits that were reverted and sections that changed: what briefs say.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

const TASK: &str = "Change how the payment gateway retries after a timeout";

fn git(env: &TestEnv, args: &[&str]) {
    env.git("", args);
}

fn commit(env: &TestEnv, message: &str) {
    git(env, &["add", "-A"]);
    git(env, &["commit", "-q", "-m", message]);
}

fn code(name: &str) -> String {
    format!("pub fn {name}() {{\n    let value = {name:?};\n    println!(\"{{value}}\");\n}}\n")
}

/// A repository in which the gateway has a file for retries and one for timeouts.
fn repository() -> TestEnv {
    let env = project();
    git(&env, &["init", "-q"]);
    env.write(".gitignore", ".handover/\n");
    env.write("src/retry.rs", code("retry_payment"));
    env.write("src/timeout.rs", code("gateway_timeout"));
    env.write("src/main.rs", code("start_shop"));
    commit(&env, "Start");
    env
}

fn add_package(env: &TestEnv, name: &str, text: &str) {
    let path = format!("docs/{name}.md");
    env.write(&path, format!("# {name}\n\n{text}\n"));
    env.run([
        "package",
        "add",
        &path,
        "--summary",
        text,
        "--producer",
        "architect",
        "--kind",
        "research",
    ])
    .ok();
}

fn assemble(env: &TestEnv) -> Value {
    env.run(["assemble", "--role", "developer", "--task", TASK, "--explain", "--json"]).ok().json()
}

/// The items of the receipt of a context.
fn items(env: &TestEnv, made: &Value) -> Vec<Value> {
    let receipt = made["receipt"].as_str().unwrap();
    let kept = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    kept["receipt"]["items"].as_array().unwrap().clone()
}

#[test]
fn a_brief_says_what_became_of_the_files_that_it_names() {
    let env = repository();
    add_package(&env, "retries", "The payment gateway retries in src/retry.rs, at most twice.");
    add_package(&env, "timeouts", "The timeout of the payment gateway is in src/timeout.rs.");
    env.run(["learn", "docs", "git"]).ok();
    assert_eq!(assemble(&env)["packages"][0].get("stale"), None);
    git(&env, &["mv", "src/retry.rs", "src/backoff.rs"]);
    git(&env, &["rm", "-q", "src/timeout.rs"]);
    commit(&env, "Move retries, drop timeouts");
    env.run(["learn", "docs", "git"]).ok();
    let made = assemble(&env);
    let markdown = made["markdown"].as_str().unwrap();
    assert!(markdown.contains("src/retry.rs (renamed to src/backoff.rs), at most"), "{markdown}");
    assert!(markdown.contains("src/timeout.rs (no longer exists)"), "{markdown}");
    // What is about a file that is gone comes last.
    let paths: Vec<&Value> =
        made["packages"].as_array().unwrap().iter().map(|package| &package["path"]).collect();
    assert_eq!(paths, ["docs/retries.md", "docs/timeouts.md"]);
    let shown = items(&env, &made);
    let shown = || shown.iter().filter(|item| item["kind"] == "package");
    assert_eq!(shown().map(|item| &item["alive"]).collect::<Vec<_>>(), ["renamed", "gone"]);
    let stale: Vec<Value> = shown().map(|item| item["stale"].clone()).collect();
    assert_eq!(
        stale,
        [
            json!([{"state": "renamed", "name": "src/retry.rs", "to": "src/backoff.rs"}]),
            json!([{"state": "gone", "name": "src/timeout.rs"}]),
        ]
    );
    let explained = made["candidates"].as_array().unwrap();
    let timeouts = explained.iter().find(|one| one["stale"][0]["state"] == "gone").unwrap();
    assert!(timeouts["terms"]["stale"].as_f64().unwrap() < 0.0, "{timeouts}");
    let shown = env.run(["receipt", "show", made["receipt"].as_str().unwrap()]).ok().stdout;
    assert!(shown.contains("src/retry.rs renamed to src/backoff.rs"), "{shown}");
    let table = env.run(["assemble", "--role", "developer", "--task", TASK, "--explain"]).ok();
    assert!(table.stderr.contains("src/timeout.rs no longer exists"), "{}", table.stderr);
}

#[test]
fn nothing_is_claimed_without_history_or_index() {
    let env = repository();
    add_package(&env, "retries", "The payment gateway retries in src/retry.rs and lib/never.rs.");
    git(&env, &["rm", "-q", "src/retry.rs"]);
    commit(&env, "Drop retries");
    // Nobody has learned anything yet.
    assert!(
        assemble(&env)["markdown"].as_str().unwrap().contains("src/retry.rs and lib/never.rs.")
    );
    env.run(["learn", "docs", "git"]).ok();
    let made = assemble(&env);
    let markdown = made["markdown"].as_str().unwrap();
    assert!(markdown.contains("src/retry.rs (no longer exists) and lib/never.rs."), "{markdown}");
}

#[test]
fn a_reverted_commit_is_no_knowledge() {
    let env = repository();
    env.write("src/retry.rs", code("retry_forever"));
    commit(
        &env,
        "Retry payments for ever\n\nThe payment gateway loses requests after a timeout, so it retries for ever.",
    );
    env.run(["learn", "docs", "git"]).ok();
    assert!(assemble(&env)["markdown"].as_str().unwrap().contains("retries for ever"));
    git(&env, &["revert", "--no-edit", "HEAD"]);
    // The index knows it at once, even if the notes were not learned again.
    env.run(["where", "payment gateway"]).ok();
    let made = assemble(&env);
    assert!(!made["markdown"].as_str().unwrap().contains("so it retries for ever"), "{made}");
    env.run(["learn", "docs", "git"]).ok();
    let made = assemble(&env);
    assert!(!made["markdown"].as_str().unwrap().contains("so it retries for ever"), "{made}");
}

#[test]
fn a_note_names_a_commit_that_was_reverted() {
    let env = repository();
    env.write("src/retry.rs", code("retry_forever"));
    commit(&env, "Retry for ever");
    let head = fs_err::read_to_string(env.path(".git/refs/heads/master"))
        .or_else(|_| fs_err::read_to_string(env.path(".git/refs/heads/main")))
        .unwrap();
    // Ten digits of it may have no letter, and then they are a number.
    let id = head.trim();
    let text = format!("The payment gateway retries for ever since {id}, after a timeout.");
    env.run(["note", "add", &text]).ok();
    git(&env, &["revert", "--no-edit", "HEAD"]);
    env.run(["learn", "docs", "git"]).ok();
    let made = assemble(&env);
    let markdown = made["markdown"].as_str().unwrap();
    assert!(markdown.contains(&format!("{id} (reverted by commit ")), "{markdown}");
}

#[test]
fn a_section_that_changed_is_read_anew() {
    let env = repository();
    let section = |text: &str| format!("# Payments\n\n## Retries\n\n{text}\n");
    env.write(
        "docs/payments.md",
        section("After a timeout the payment gateway retries at most twice, with the same key."),
    );
    commit(&env, "x");
    env.run(["learn", "docs", "git"]).ok();
    assert!(assemble(&env)["markdown"].as_str().unwrap().contains("at most twice"));
    env.write(
        "docs/payments.md",
        section("After a timeout the payment gateway retries five times, with the same key."),
    );
    let made = assemble(&env);
    let markdown = made["markdown"].as_str().unwrap();
    assert!(
        markdown.contains("retries five times") && !markdown.contains("at most twice"),
        "{markdown}"
    );
    fs_err::remove_file(env.path("docs/payments.md")).unwrap();
    let made = assemble(&env);
    let markdown = made["markdown"].as_str().unwrap();
    assert!(!markdown.contains("five times") && !markdown.contains("at most twice"), "{markdown}");
}
