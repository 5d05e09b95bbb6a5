//! Notes: learned from a repository, written by hand, searched, and told to agents.

use std::path::{Path, PathBuf};

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

const DECISION: &str =
    "Payments are retried at most twice, with the idempotency key of the gateway.";

fn git(env: &TestEnv, args: &[&str]) {
    env.git("", args);
}

/// A repository with a document and a commit that say something.
fn repository() -> TestEnv {
    let env = project();
    git(&env, &["init", "-q"]);
    env.write(
        "docs/payments.md",
        format!(
            "# Payments\n\n## Retries\n\n{DECISION}\n\n## Colors\n\nButtons of the shop are blue.\n"
        ),
    );
    git(&env, &["add", "docs"]);
    git(
        &env,
        &[
            "commit",
            "-q",
            "-m",
            "Store prices in cents\n\nFloats lost a cent per thousand orders, so every price is an integer now.",
        ],
    );
    env
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn learned(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["learn"].iter().chain(args).chain(&["--json"]).copied().collect();
    env.run(all).ok().json()["learned"].as_array().unwrap().clone()
}

fn notes(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["note", "list"].iter().chain(args).chain(&["--json"]).copied().collect();
    env.run(all).ok().json()["notes"].as_array().unwrap().clone()
}

#[test]
fn a_repository_is_learned_once() {
    let env = repository();
    let first = learned(&env, &["docs", "git"]);
    assert_eq!((&first[0]["source"], &first[0]["new"]), (&json!("docs"), &json!(1)));
    assert_eq!((&first[1]["source"], &first[1]["found"]), (&json!("git"), &json!(1)));
    for tally in &first {
        for key in ["found", "new", "changed", "unchanged", "skipped", "redactions"] {
            assert!(tally[key].is_u64(), "{key} of {tally}");
        }
    }
    for tally in learned(&env, &["docs", "git"]) {
        assert_eq!((&tally["new"], &tally["changed"]), (&json!(0), &json!(0)), "{tally}");
        assert_eq!(tally["unchanged"], tally["found"]);
    }
    let docs = notes(&env, &["--kind", "doc"]);
    assert!(docs.iter().any(|note| note["text"].as_str().unwrap().contains(DECISION)));
    let commits = notes(&env, &["--kind", "commit"]);
    assert_eq!(commits.len(), 1);
    for key in ["id", "kind", "origin", "title", "text", "trust", "state", "created_at"] {
        assert!(commits[0][key].is_string(), "{key} of {}", commits[0]);
    }
    // A changed document is read anew.
    env.write("docs/payments.md", "# Payments\n\n## Retries\n\nPayments are never retried.\n");
    git(&env, &["commit", "-q", "-am", "x"]);
    assert_eq!(learned(&env, &["docs"])[0]["changed"], 1);
    let docs = notes(&env, &["--kind", "doc"]);
    assert!(docs.iter().all(|note| !note["text"].as_str().unwrap().contains(DECISION)));
}

#[test]
fn a_preview_stores_nothing() {
    let env = repository();
    let shown = learned(&env, &["docs", "--dry-run"]);
    let texts: Vec<&str> = shown[0]["preview"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["text"].as_str().unwrap())
        .collect();
    assert!(texts.iter().any(|text| text.contains(DECISION)), "{texts:?}");
    assert!(notes(&env, &[]).is_empty());
    assert_eq!(learned(&env, &["docs"])[0]["new"], 1);
}

#[test]
fn secrets_never_reach_a_note() {
    let env = repository();
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    env.write(
        "docs/setup.md",
        format!("# Setup\n\nThe token of the test account is {secret} for now.\n"),
    );
    git(&env, &["add", "docs"]);
    git(&env, &["commit", "-q", "-m", "x"]);
    let docs = learned(&env, &["docs"]);
    assert!(docs[0]["redactions"].as_u64().unwrap() > 0, "{docs:?}");
    let all = serde_json::to_string(&notes(&env, &[])).unwrap();
    assert!(all.contains("test account") && !all.contains(secret), "{all}");
}

#[test]
fn what_is_known_is_in_the_brief() {
    let env = repository();
    learned(&env, &["docs", "git"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task, "--json"]).ok().json();
    assert!(brief["text"].as_str().unwrap().contains(DECISION), "{}", brief["text"]);
    let note = &brief["notes"][0];
    for key in ["id", "kind", "origin", "text", "trust", "state"] {
        assert!(note[key].is_string(), "{key} of {note}");
    }
    assert!(note["tokens"].is_u64() && note["score"].is_f64());
    let receipt = brief["receipt"].as_str().unwrap();
    let kept = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    let items = kept["receipt"]["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["kind"] == "note" && item["id"] == note["id"]));
    let context = env
        .run(["assemble", "--role", "developer", "--task", task, "--explain", "--json"])
        .ok()
        .json();
    assert!(context["markdown"].as_str().unwrap().contains("### What is already known ("));
    let explained = context["candidates"].as_array().unwrap();
    assert!(explained.iter().any(|c| c["kind"] == "note" && c["included"] == true));
    let off =
        ["brief", "--role", "developer", "--task", task, "--config", "brief.notes=false", "--json"];
    assert_eq!(env.run(off).ok().json()["notes"], json!([]));
}

#[test]
fn notes_are_written_retired_and_restored() {
    let env = project();
    let added = env.run(["note", "add", "Prices are cents", "--json"]).ok().json()["note"].clone();
    assert_eq!((&added["kind"], &added["state"]), (&json!("manual"), &json!("live")));
    // Nobody sits at a terminal here.
    assert_eq!(added["trust"], "agent");
    let id = added["id"].as_str().unwrap();
    let end = &id[id.len() - 6..];
    let retired =
        env.run(["note", "retire", end, "--reason", "wrong", "--json"]).ok().json()["note"].clone();
    assert_eq!((&retired["state"], &retired["reason"]), (&json!("retired"), &json!("wrong")));
    assert_eq!(notes(&env, &["--state", "retired"]).len(), 1);
    assert!(notes(&env, &["--state", "live"]).is_empty());
    let found = env.run(["search", "cents", "--json"]).ok().json();
    assert_eq!(found["results"], json!([]));
    assert_eq!(env.run(["note", "restore", id, "--json"]).ok().json()["note"]["state"], "live");
    assert_eq!(
        env.run(["note", "show", end, "--json"]).ok().json()["note"]["text"],
        "Prices are cents"
    );
    env.run(["note", "confirm", end, "--json"]).fails(2).error();
    env.run(["note", "show", "abc", "--json"]).fails(1).error();
    env.run(["note", "show", "nosuchnote", "--json"]).fails(1).error();
    env.run(["note", "add", &"x ".repeat(900), "--json"]).fails(2).error();
}

#[test]
fn purging_and_forgetting_erase_the_text() {
    let env = repository();
    learned(&env, &["docs"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task, "--json"]).ok().json();
    let (id, receipt) =
        (brief["notes"][0]["id"].as_str().unwrap(), brief["receipt"].as_str().unwrap());
    env.run(["doctor"]).ok();
    let purged = env.run(["note", "purge", id, "--json"]).ok().json()["note"].clone();
    assert_eq!((&purged["text"], &purged["state"]), (&json!(""), &json!("retired")));
    assert!(purged["hash"].as_str().unwrap().len() > 20);
    let kept = env.run(["receipt", "show", receipt, "--json"]).ok().stdout;
    assert!(!kept.contains(DECISION));
    // Neither the store nor its last good copy has a trace of it.
    for file in files(&env.path(".handover")) {
        let bytes = fs_err::read(&file).unwrap();
        let traces = bytes.windows(DECISION.len()).any(|part| part == DECISION.as_bytes());
        assert!(!traces, "{}", file.display());
    }
    env.run(["note", "restore", id, "--json"]).fails(2).error();
    // It is not learned again, even if everything is read anew.
    env.write("docs/payments.md", format!("# Payments\n\n## Retries\n\n{DECISION}\n"));
    git(&env, &["commit", "-q", "-am", "x"]);
    learned(&env, &["docs"]);
    assert!(notes(&env, &["--state", "live"]).iter().all(|note| note["text"] != DECISION));
    let forgotten = env.run(["learn", "--forget", "docs", "--json"]).ok().json();
    assert_eq!(forgotten["forgotten"]["source"], "docs");
    assert!(notes(&env, &[]).is_empty());
    env.run(["learn", "--forget", "nothing.md", "--json"]).fails(1).error();
}

#[test]
fn search_covers_everything() {
    let env = repository();
    learned(&env, &["docs", "git"]);
    env.run(["note", "add", "The café of the office opens at nine"]).ok();
    env.write(
        "a.md",
        "---\ntype: research\n---\n# Gateway\n\n## Summary\nThe gateway answers slowly.\n",
    );
    env.run(["package", "add", "a.md"]).ok();
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "decisions",
        "The gateway gets a queue",
    ])
    .ok();
    env.run(["error", "resolve", "--message", "gateway closed", "--solution", "open it"]).ok();
    let search = |args: &[&str]| {
        let all: Vec<&str> = ["search"].iter().chain(args).chain(&["--json"]).copied().collect();
        env.run(all).ok().json()["results"].as_array().unwrap().clone()
    };
    let types = |found: &[Value]| {
        let mut types: Vec<String> =
            found.iter().map(|hit| hit["type"].as_str().unwrap().to_owned()).collect();
        types.sort();
        types.dedup();
        types
    };
    let all = search(&["gateway"]);
    assert_eq!(types(&all), ["error", "note", "package", "reasoning"]);
    for hit in &all {
        for key in ["type", "id", "session", "path", "origin", "score", "snippet"] {
            assert!(hit.get(key).is_some(), "{key} of {hit}");
        }
    }
    assert_eq!(search(&["cafe"])[0]["snippet"], "The café of the office opens at nine");
    assert_eq!(types(&search(&["gateway", "--type", "note"])), ["note"]);
    assert_eq!(types(&search(&["gateway", "--kind", "research"])), ["package"]);
    assert_eq!(search(&["gateway", "--since", "2999-01-01"]), [Value::Null; 0]);
    // Another session finds it, too; the variable does not narrow, the flag does.
    env.run(["session", "new", "other"]).ok();
    assert_eq!(types(&search(&["gateway"])).len(), 4);
    assert!(search(&["gateway", "--session", "other"]).is_empty());
    env.run(["search", "x", "--type", "verdict"]).fails(2);
    env.run(["search", "x", "--since", "yesterday"]).fails(2);
}

#[test]
fn sources_can_be_switched_off() {
    let env = repository();
    let named: Vec<Value> =
        learned(&env, &["--config", "learn.git=false", "--config", "learn.transcripts=false"])
            .iter()
            .map(|tally| tally["source"].clone())
            .collect();
    assert_eq!(named, [json!("docs"), json!("memories")]);
    env.run(["learn", "--path", "docs"]).fails(2);
    env.run(["learn", "docs", "--path", "nowhere"]).fails(2);
    let only = learned(&env, &["docs", "--path", "docs/payments.md"]);
    assert_eq!(only[0]["found"], 1);
}
