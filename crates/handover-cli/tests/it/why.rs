//! `handover why`: what became of a package, a note or a file for one agent, and what would change it.

use handover_testkit::TestEnv;
use serde_json::Value;

use crate::project;

/// Three packages for developers of group `login`, one for testers, one of another group.
fn shop() -> TestEnv {
    let env = project();
    for (name, front, text) in [
        ("oauth", "consumers: [developer]\npriority: high", "Refresh tokens rotate on every use"),
        ("tests", "consumers: [qa_expert]", "Refresh tokens are tested with a fake clock"),
        ("cart", "group_id: cart", "The cart keeps refresh tokens away"),
    ] {
        let text = format!(
            "---\ntype: research\n{front}\nfiles: [src/{name}.rs]\n---\n# {name}\n\n{text}.\n"
        );
        env.write(&format!("docs/{name}.md"), text);
        env.run(["package", "add", &format!("docs/{name}.md")]).ok();
    }
    env
}

fn brief(env: &TestEnv) {
    let brief = ["brief", "--role", "developer", "--group", "login", "--task", "Refresh tokens"];
    env.run(brief.into_iter().chain(["--deliver"])).ok();
}

#[track_caller]
fn finding(env: &TestEnv, args: &[&str]) -> Value {
    let why = env.run(["why"].iter().chain(args).chain(&["--json"])).ok().json()["why"].clone();
    assert_eq!(why["found"], true, "{why}");
    assert_eq!(why["findings"].as_array().unwrap().len(), 1, "{why}");
    why["findings"][0].clone()
}

#[test]
fn a_receipt_says_what_was_included_and_what_was_not() {
    let env = shop();
    brief(&env);
    let told = finding(&env, &["docs/oauth.md"]);
    assert_eq!((&told["included"], &told["candidate"]), (&true.into(), &true.into()), "{told}");
    let other = finding(&env, &["2", "--receipt", "latest"]);
    assert_eq!(other["included"], false, "{other}");
    assert!(other["fixes"][0].as_str().unwrap().contains("--consumer developer"), "{other}");
    let other = finding(&env, &["docs/cart.md"]);
    assert!(other["explanation"].as_str().unwrap().contains("another group"), "{other}");
    // A file leads to what is about it.
    assert_eq!(finding(&env, &["src/oauth.rs"])["id"], "1");
    assert_eq!(finding(&env, &["fake", "clock"])["id"], "2");
}

#[test]
fn what_is_not_there_is_said_to_be_unknown() {
    let env = shop();
    let none = env.run(["why", "docs/nowhere.md"]).fails(2);
    assert!(none.stderr.contains("no receipts yet"), "{none}");
    brief(&env);
    let unknown = env.run(["why", "zeppelin", "--json"]).fails(1).json();
    assert_eq!(unknown["why"]["found"], false);
}

#[test]
fn what_was_delivered_already_is_explained_and_can_be_had_again() {
    let env = shop();
    brief(&env);
    let again = [
        "brief",
        "--role",
        "developer",
        "--group",
        "login",
        "--task",
        "Refresh tokens",
        "--iteration",
        "0",
    ];
    let second = env.run(again).ok();
    assert!(second.stderr.contains("--iteration 1` gives everything again"), "{second}");
    let gone = finding(&env, &["1"]);
    assert_eq!(gone["reason"], "delivered already", "{gone}");
    assert_eq!(gone["included"], false);
}

#[test]
fn packages_of_other_sessions_and_retired_ones_say_so() {
    let env = shop();
    env.run(["session", "new", "two"]).ok();
    let other = ["--session", "two", "why", "docs/oauth.md", "--role", "developer"];
    let why = env.run(other).ok();
    assert!(why.stdout.contains("belongs to session s1"), "{why}");
    assert!(why.stdout.contains("`handover package add docs/oauth.md --session two`"), "{why}");
    env.run(["package", "retire", "1"]).ok();
    let retired =
        env.run(["--session", "s1", "why", "1", "--role", "developer", "--group", "login"]).ok();
    assert!(retired.stdout.contains("`handover package restore 1` uses it again"), "{retired}");
    // Nothing was recorded by asking.
    assert_eq!(
        env.run(["receipt", "list", "--json"]).ok().json()["receipts"],
        serde_json::json!([])
    );
}

#[test]
fn a_note_is_explained_for_an_agent_that_has_no_receipt_yet() {
    let env = project();
    let note =
        env.run(["note", "add", "Refresh tokens are kept in the keychain", "--json"]).ok().json();
    let id = note["note"]["id"].as_str().unwrap().to_owned();
    let agent = ["--role", "developer", "--task", "Where are refresh tokens kept"];
    let shown = finding(&env, &[&[&id[id.len() - 6..]][..], &agent].concat());
    assert_eq!((&shown["kind"], &shown["included"]), (&"note".into(), &true.into()), "{shown}");
    env.run(["note", "retire", "latest"]).ok();
    let retired = finding(&env, &[&["latest"][..], &agent].concat());
    assert!(retired["explanation"].as_str().unwrap().contains("retired"), "{retired}");
}
