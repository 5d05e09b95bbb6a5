//! The documents that scripts rely on, second part: notes, search, places, freshness, trust, coverage.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

const RETRIES: &str =
    "Payments are retried at most twice, with the idempotency key of the gateway.";

#[track_caller]
fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}

/// What a command answers.
#[track_caller]
fn json_of(env: &TestEnv, args: &[&str]) -> Value {
    env.run(args.iter().chain(&["--json"])).ok().json()
}

/// A repository with a document, a file and a commit.
fn repository() -> TestEnv {
    let env = project();
    env.git("", &["init", "-q"]);
    env.write("docs/payments.md", format!("# Payments\n\n## Retries\n\n{RETRIES}\n"));
    env.write("src/payments.rs", "pub fn retry_payment() {}\n");
    env.git("", &["add", "docs", "src"]);
    let message = "Store prices in cents\n\nFloats lost a cent per thousand orders.";
    env.git("", &["commit", "-q", "-m", message]);
    env
}

#[test]
fn learn_and_notes() {
    let env = repository();
    let learned = json_of(&env, &["learn", "docs", "git"])["learned"].clone();
    let fields =
        ["source", "found", "new", "changed", "unchanged", "skipped", "redactions"].as_slice();
    for source in learned.as_array().unwrap() {
        has(source, fields);
    }
    assert!(learned[0]["new"].as_u64() >= Some(1), "{learned}");
    let again = json_of(&env, &["learn", "docs", "git"])["learned"].clone();
    for source in again.as_array().unwrap() {
        assert_eq!((&source["new"], &source["changed"]), (&json!(0), &json!(0)), "{again}");
    }
    let dry = json_of(&env, &["learn", "docs", "--path", "docs", "--dry-run"]);
    assert_eq!(dry["learned"][0]["source"], "docs", "{dry}");
    let fields =
        ["id", "kind", "origin", "title", "text", "trust", "state", "reason", "created_at"];
    let notes = json_of(&env, &["note", "list"])["notes"].clone();
    notes.as_array().unwrap().iter().for_each(|note| has(note, &fields));
    let added = json_of(&env, &["note", "add", "Refunds go through the ledger."])["note"].clone();
    has(&added, &fields);
    let id = added["id"].as_str().unwrap();
    let short = &id[id.len() - 4..];
    for (args, state) in [
        (&["note", "show", short][..], "live"),
        (&["note", "retire", id, "--reason", "not true"][..], "retired"),
        (&["note", "restore", id][..], "live"),
    ] {
        assert_eq!(json_of(&env, args)["note"]["state"], state, "{args:?}");
    }
    let of_kind = json_of(&env, &["note", "list", "--state", "retired"]);
    assert_eq!(of_kind["notes"], json!([]));
    let purged = json_of(&env, &["note", "purge", id]);
    assert!(!purged.to_string().contains("ledger"), "{purged}");
}

#[test]
fn search_goes_through_all_sessions_and_kinds() {
    let env = repository();
    json_of(&env, &["learn", "docs"]);
    let add = ["reasoning", "add", "--role", "developer", "--phase", "decisions"];
    env.run(add.iter().chain(&["Payments are retried by the worker."])).ok();
    env.run(["session", "new", "s2"]).ok();
    let search = ["search", "payments are retried", "--limit", "5"];
    let found = json_of(&env, &search)["results"].clone();
    let types: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert!(types.contains(&"note") && types.contains(&"reasoning"), "{found}");
    let fields = ["type", "id", "session", "path", "origin", "score", "snippet"];
    found.as_array().unwrap().iter().for_each(|one| has(one, &fields));
    let only = json_of(&env, &["search", "payments are retried", "--type", "note"]);
    assert!(only["results"].as_array().unwrap().iter().all(|one| one["type"] == "note"), "{only}");
    let narrow = json_of(&env, &["search", "payments are retried", "--session", "s2"]);
    let all = narrow["results"].as_array().unwrap();
    assert!(all.iter().all(|one| one["type"] != "reasoning"), "{narrow}");
    // The variable does not narrow.
    let mut env = env;
    env.set("HANDOVER_SESSION", "s2");
    let wide = json_of(&env, &["search", "payments are retried", "--type", "reasoning"]);
    assert_eq!(wide["results"].as_array().unwrap().len(), 1, "{wide}");
}

#[test]
fn places_best_first() {
    let env = repository();
    let places = json_of(&env, &["where", "retry a payment", "--limit", "3"])["places"].clone();
    has(&places[0], &["path", "score", "why"]);
    let scores: Vec<f64> =
        places.as_array().unwrap().iter().map(|one| one["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.len() <= 3, "{places}");
    let piped = env.run_with("retry a payment", ["where", "--json"]).ok().json();
    assert_eq!(piped["places"][0]["path"], places[0]["path"]);
}

#[test]
fn context_has_notes_places_and_what_became_of_each_item() {
    let env = repository();
    json_of(&env, &["learn", "docs", "git"]);
    env.write("docs/tax.md", "# Tax\n\nTax rules are in `src/payments.rs`.\n");
    env.run(["package", "add", "docs/tax.md", "--kind", "research", "--global"]).ok();
    let task = "Retry payments with the idempotency key of the gateway, and fix tax rules";
    for command in ["assemble", "brief"] {
        let made = json_of(&env, &[command, "--role", "developer", "--task", task]);
        let note = &made["notes"][0];
        has(note, &["id", "kind", "origin", "text", "tokens", "score", "trust", "state"]);
        has(&made["places"][0], &["path", "score", "why"]);
        let receipt = made["receipt"].as_str().unwrap();
        let items = json_of(&env, &["receipt", "show", receipt])["receipt"]["items"].clone();
        for item in items.as_array().unwrap() {
            has(item, &["trust"]);
            assert_eq!(item["alive"], "ok", "{item}");
        }
    }
    env.git("", &["mv", "src/payments.rs", "src/charges.rs"]);
    env.git("", &["commit", "-q", "-m", "Rename"]);
    json_of(&env, &["learn", "docs", "git"]);
    let made = json_of(&env, &["assemble", "--role", "developer", "--task", task]);
    let receipt = made["receipt"].as_str().unwrap();
    let items = json_of(&env, &["receipt", "show", receipt])["receipt"]["items"].clone();
    let package = items.as_array().unwrap().iter().find(|item| item["kind"] == "package").unwrap();
    assert_eq!(package["alive"], "renamed", "{package}");
}

#[test]
fn records_are_retired_and_restored() {
    let env = project();
    env.write("docs/a.md", "# A\n\nText.\n");
    let added = json_of(&env, &["package", "add", "docs/a.md", "--kind", "research", "--global"]);
    let package = added["package"]["id"].to_string();
    env.run(["error", "resolve", "--message", "E1: no lock", "--solution", "Take the lock."]).ok();
    let error = json_of(&env, &["error", "list"])["errors"][0]["hash"].clone();
    let add = ["reasoning", "add", "--group", "P1", "--role", "developer", "--phase", "decisions"];
    env.run(add.iter().chain(&["Lock both rows in the order of their ids."])).ok();
    let learned = json_of(&env, &["strategy", "extract", "--group", "P1"]);
    let strategy = learned["strategies"][0]["id"].clone();
    for (what, id) in [
        ("package", package.as_str()),
        ("error", error.as_str().unwrap()),
        ("strategy", strategy.as_str().unwrap()),
    ] {
        let retired = json_of(&env, &[what, "retire", id, "--reason", "wrong"]);
        assert_eq!(retired[what]["state"], "retired", "{retired}");
        let restored = json_of(&env, &[what, "restore", id]);
        assert_eq!(restored[what]["state"], "live", "{restored}");
    }
}

#[test]
fn trust_shows_what_a_checkout_wants() {
    let mut env = TestEnv::empty(crate::handover());
    env.trust_nothing();
    env.write(".handover/config.toml", "[runs]\ncommand = \"./agent.sh\"\n");
    env.git("", &["init", "-q"]);
    let shown = json_of(&env, &["trust", "--yes"])["trust"].clone();
    has(&shown, &["root", "trusted", "wants"]);
    has(&shown["wants"][0], &["key", "value", "why"]);
    assert_eq!(shown["trusted"], true);
    json_of(&env, &["trust", "--list"]);
    assert_eq!(json_of(&env, &["untrust"])["trust"]["trusted"], false);
}

#[test]
fn coverage_without_a_conversation_is_empty() {
    let env = project();
    let coverage = json_of(&env, &["coverage"]);
    assert_eq!(coverage["spawns"], json!([]));
    has(&coverage["counts"], &["briefed", "exempt", "refused", "missed"]);
}

#[test]
fn housekeeping_answers_with_one_document_each() {
    let env = project();
    env.run(["note", "add", "Prices are cents."]).ok();
    for args in [
        &["gc", "--dry-run"][..],
        &["undo"],
        &["store", "reindex"],
        &["config", "get", "guard.mode"],
        &["config", "set", "assembly.safety_margin", "0.2"],
    ] {
        let document = json_of(&env, args);
        assert_eq!(document["schema"], 1, "{args:?}: {document}");
    }
}
