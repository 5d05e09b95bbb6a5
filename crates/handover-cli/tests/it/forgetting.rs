//! Retiring and restoring on every surface, undoing, and closed sessions.

use handover_testkit::{Service, TestEnv};
use serde_json::{Value, json};

use crate::mcp::{Client, Generation};
use crate::{on_postgres, project};

const SAY: &str = "Orders are sent to the queue dragonfly";

/// A project with a package, a note, a strategy and an error that all answer the same task.
fn filled(env: &TestEnv) -> Filled {
    let text = format!("# Orders\n\n{SAY}, says the package.\n");
    env.write("docs/orders.md", text);
    let package = env.run(["package", "add", "docs/orders.md", "--kind", "decisions", "--json"]);
    let package = package.ok().json()["package"]["id"].to_string();
    let note = env.run(["note", "add", &format!("{SAY}, says the note."), "--json"]).ok().json();
    let note = note["note"]["id"].as_str().unwrap().to_owned();
    let add = ["reasoning", "add", "--role", "developer", "--phase", "decisions", "--group", "g"];
    let reason = format!("{SAY}, so the shop stays fast, says the strategy.");
    env.run(add.iter().copied().chain([reason.as_str()])).ok();
    let strategies = env.run(["strategy", "extract", "--group", "g", "--json"]).ok().json();
    let strategy = strategies["strategies"][0]["id"].as_str().unwrap().to_owned();
    let message = "QueueError: dragonfly is not reachable";
    let error = env.run([
        "error",
        "resolve",
        "--message",
        message,
        "--solution",
        "start dragonfly",
        "--json",
    ]);
    let error = error.ok().json()["error"]["hash"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        env.run(["error", "confirm", &error]).ok();
    }
    Filled { package, note, strategy, error }
}

struct Filled {
    package: String,
    note: String,
    strategy: String,
    error: String,
}

impl Filled {
    fn all(&self) -> [(&'static str, &str); 4] {
        [
            ("package", &self.package),
            ("note", &self.note),
            ("strategy", &self.strategy),
            ("error", &self.error),
        ]
    }
}

const TASK: &str =
    "Why does sending orders to the queue dragonfly say QueueError: dragonfly is not reachable?";

/// The id of a package as JSON has it.
fn number(id: &str) -> Value {
    id.parse::<i64>().unwrap().into()
}

fn assembled(env: &TestEnv) -> Value {
    let args = ["assemble", "--role", "qa_expert", "--task", TASK, "--explain", "--json"];
    env.run(args).ok().json()
}

fn is_included(document: &Value, kind: &str, id: &str) -> Option<bool> {
    let candidates = document["candidates"].as_array().unwrap();
    let is_it = |one: &&Value| one["kind"] == kind && one["id"].to_string().trim_matches('"') == id;
    candidates.iter().find(is_it).map(|one| one["included"].as_bool().unwrap())
}

fn why(document: &Value, kind: &str, id: &str) -> String {
    let candidates = document["candidates"].as_array().unwrap();
    let is_it = |one: &&Value| one["kind"] == kind && one["id"].to_string().trim_matches('"') == id;
    let found =
        candidates.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {id}: {document:#}"));
    found["reason"].as_str().unwrap().to_owned()
}

fn retired_is_out_and_restored_is_in(env: &TestEnv) {
    let filled = filled(env);
    let before = assembled(env);
    for (kind, id) in filled.all() {
        // The strategy may say too much the same as the others.
        assert!(is_included(&before, kind, id).is_some(), "{kind}: {before:#}");
    }
    let package_in = is_included(&before, "package", &filled.package);
    assert_eq!(package_in, Some(true), "{before:#}");
    for (kind, id) in filled.all() {
        let record = env.run([kind, "retire", id, "--reason", "we moved to Kafka", "--json"]).ok();
        let record = record.json()[kind].clone();
        assert_eq!(
            (&record["state"], &record["reason"]),
            (&json!("retired"), &json!("we moved to Kafka"))
        );
    }
    let without = assembled(env);
    for (kind, id) in filled.all() {
        assert_eq!(why(&without, kind, id), "retired: we moved to Kafka");
        assert_eq!(is_included(&without, kind, id), Some(false));
    }
    let text = without["markdown"].as_str().unwrap();
    for said in ["says the package", "says the note", "start dragonfly"] {
        assert!(!text.contains(said), "{text}");
    }
    let found = env.run(["search", "dragonfly", "--json"]).ok().json();
    let types: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
    assert_eq!(types, ["reasoning"], "only what cannot be retired");
    for (kind, id) in filled.all() {
        let record = env.run([kind, "restore", id, "--json"]).ok().json()[kind].clone();
        assert_eq!((&record["state"], &record["reason"]), (&json!("live"), &Value::Null));
    }
    let again = assembled(env);
    for (kind, id) in filled.all() {
        assert_eq!(is_included(&again, kind, id), is_included(&before, kind, id), "{kind}");
    }
}

#[test]
fn what_is_retired_goes_into_no_brief() {
    retired_is_out_and_restored_is_in(&project());
}

#[test]
fn what_is_retired_goes_into_no_brief_of_a_shared_store() {
    let mut env = TestEnv::empty(crate::handover());
    on_postgres(&mut env);
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    retired_is_out_and_restored_is_in(&env);
}

#[test]
fn a_receipt_shows_what_was_retired_or_deleted_since() {
    let env = project();
    env.write("docs/orders.md", format!("# Orders\n\n{SAY}.\n"));
    env.run(["package", "add", "docs/orders.md", "--kind", "decisions"]).ok();
    let args = ["assemble", "--role", "developer", "--task", TASK, "--deliver", "--json"];
    let receipt = env.run(args).ok().json()["receipt"].as_str().unwrap().to_owned();
    let shown = || env.run(["receipt", "show", &receipt]).ok().stdout;
    let before = shown();
    assert!(before.contains("package 1"), "{before}");
    env.run(["package", "retire", "1"]).ok();
    assert_eq!(shown(), before);
    fs_err::remove_file(env.path("docs/orders.md")).unwrap();
    let gc = env.run(["gc", "--older-than", "0", "--json"]).ok().json()["gc"].clone();
    assert_eq!(gc["records"], json!([]), "the receipt needs it");
    assert_eq!(shown(), before);
    // One that no receipt names goes as soon as its file is gone and nothing can be undone.
    env.write("docs/other.md", "# Other\n\nOther.\n");
    env.run(["package", "add", "docs/other.md", "--kind", "decisions"]).ok();
    env.run(["package", "retire", "2"]).ok();
    let records = |args: &[&str]| env.run(args).ok().json()["gc"]["records"].clone();
    assert_eq!(
        records(&["gc", "--older-than", "0", "--json", "-n"]),
        json!([]),
        "the file is there"
    );
    fs_err::remove_file(env.path("docs/other.md")).unwrap();
    assert_eq!(records(&["gc", "--json", "-n"]), json!([]), "it is young, and can be undone");
    let gone = json!([{"subject": "package 2 (docs/other.md)", "bytes": 16}]);
    assert_eq!(records(&["gc", "--older-than", "0", "--json", "-n"]), gone);
    env.run(["package", "show", "2"]).ok();
    assert_eq!(records(&["gc", "--older-than", "0", "--json"]), gone);
    env.run(["package", "show", "2"]).fails(2);
    env.run(["doctor"]).ok();
}

#[test]
fn changes_are_undone_one_by_one() {
    let env = project();
    let filled = filled(&env);
    let export = || {
        let lines = env.run(["export"]).ok().stdout;
        let is_kept = |line: &&str| !line.contains(r#""kind":"operation""#);
        lines.lines().filter(is_kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = export();
    for (kind, id) in filled.all() {
        env.run([kind, "retire", id, "--reason", "wrong"]).ok();
    }
    env.run(["session", "close", "s1", "--status", "failed"]).ok();
    let after = export();
    assert_ne!(after, before);
    let mut undoings = Vec::new();
    for action in ["close", "retire", "retire", "retire", "retire"] {
        let undone = env.run(["undo", "--json"]).ok().json();
        assert_eq!(undone["undone"]["action"], action);
        undoings.push(undone["operation"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(export(), before);
    for undoing in undoings.iter().rev() {
        env.run(["undo", undoing]).ok();
    }
    assert_eq!(export(), after);
    let list = env.run(["undo", "--list", "--limit", "3", "--json"]).ok().json();
    let list = list["operations"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    assert!(list.iter().all(|one| one["action"] == "undo" && one["undone_by"].is_null()));
    let error = env.run(["undo", undoings[0].as_str(), "--json"]).fails(2).error();
    assert_eq!(error["code"], "conflict");
    assert!(error["hint"].as_str().unwrap().starts_with("To redo: `handover undo op_"), "{error}");
}

#[test]
fn a_version_is_undone_by_another_one() {
    let env = project();
    env.write("docs/a.md", "# A\n\nFirst dragons.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    env.run(["package", "update", "1", "docs/a.md", "--priority", "critical"]).ok();
    let latest = || env.run(["package", "list", "--json"]).ok().json()["packages"][0].clone();
    assert_eq!((&latest()["version"], &latest()["priority"]), (&json!(2), &json!("critical")));
    env.run(["undo"]).ok();
    assert_eq!((&latest()["version"], &latest()["priority"]), (&json!(3), &json!("medium")));
    env.run(["package", "update", "3", "docs/a.md", "--summary", "Dragons, first"]).ok();
    env.run(["undo"]).ok();
    assert_eq!((&latest()["version"], &latest()["summary"]), (&json!(5), &json!("First dragons.")));
    // The first registration is what is left, and later versions depend on it.
    let error = env.run(["undo", "--json"]).fails(2).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("package 1 was changed again after op_"), "{message}");
    assert!(env.path("docs/a.md").exists());
}

#[test]
fn a_closed_session_gives_no_briefs() {
    let env = project();
    env.run(["session", "close", "s1"]).ok();
    for args in [
        vec!["brief", "--role", "developer", "--task", "x"],
        vec!["brief", "--role", "developer", "--task", "x", "--deliver"],
        vec!["assemble", "--role", "developer", "--task", "x"],
        vec![
            "spawn",
            "--host",
            "command",
            "--agent-command",
            "cat",
            "--role",
            "developer",
            "--task",
            "x",
        ],
    ] {
        let all = ["--session", "s1", "--json"].into_iter().chain(args.iter().copied());
        let error = env.run(all).fails(2).error();
        assert_eq!(error["message"], "session `s1` is completed", "{args:?}");
        assert_eq!(error["hint"], "`handover session reopen s1` reopens it.");
    }
    assert_eq!(
        env.run(["--session", "s1", "receipt", "list", "--json"]).ok().json()["receipts"],
        json!([])
    );
    env.run(["session", "reopen", "s1"]).ok();
    env.run(["brief", "--role", "developer", "--task", "x"]).ok();
}

#[test]
fn what_is_unused_expires_when_a_session_is_opened() {
    let mut env = project();
    let filled = filled(&env);
    env.run(["session", "new", "s2"]).ok();
    let state = |kind: &str, id: &str| {
        let list = env.run([kind, "list", "--session", "s1", "--json"]).ok().json();
        let plural = if kind == "strategy" { "strategies".to_owned() } else { format!("{kind}s") };
        let list = list[plural.as_str()].as_array().unwrap().clone();
        let is_it = |one: &&Value| one["id"].to_string().trim_matches('"') == id;
        list.iter().find(is_it).unwrap()["state"].clone()
    };
    assert_eq!(state("package", &filled.package), "live", "off by default");
    // An import keeps the times of its packages.
    let line = r#"{"kind": "decisions", "producer": "developer", "priority": "low", "summary": "Old", "body": "Old", "created_at": "2020-01-01T00:00:00Z"}"#;
    let imported = env.run_with(line, ["--session", "s1", "package", "import", "-", "--json"]).ok();
    let old = imported.json()["ids"][0].to_string();
    env.set("HANDOVER_FORGET_AFTER_DAYS", "365");
    env.run(["session", "new", "s3"]).ok();
    let state = |id: &str| {
        let list = env.run(["package", "list", "--session", "s1", "--json"]).ok().json();
        let list = list["packages"].as_array().unwrap().clone();
        let found = list.iter().find(|one| one["id"] == number(id)).unwrap().clone();
        (found["state"].clone(), found["reason"].clone())
    };
    assert_eq!(state(&old), (json!("retired"), json!("expired: older than 365 days")));
    assert_eq!(state(&filled.package).0, "live");
    env.run(["--session", "s1", "undo"]).ok();
    assert_eq!(state(&old), (json!("live"), Value::Null));
}

#[test]
fn the_service_retires_and_undoes() {
    let env = project();
    let filled = filled(&env);
    let service = Service::start(&env, &[]);
    let post = |path: &str, body: Value| service.post(path, &body).is(200).json();
    let paths = [
        ("package", format!("/api/v1/packages/{}", filled.package)),
        ("note", format!("/api/v1/notes/{}", filled.note)),
        ("strategy", format!("/api/v1/strategies/{}", filled.strategy)),
        ("error", format!("/api/v1/errors/{}", filled.error)),
    ];
    for (kind, path) in &paths {
        let record = post(path, json!({"decision": "retire", "reason": "wrong"}))[*kind].clone();
        assert_eq!(
            (&record["state"], &record["reason"]),
            (&json!("retired"), &json!("wrong")),
            "{kind}"
        );
    }
    let operations = service.get("/api/v1/operations").is(200).json();
    let operations = operations["operations"].as_array().unwrap().clone();
    assert_eq!(operations[0]["changes"][0]["of"], "error");
    assert_eq!(operations[0]["trust"], "agent", "nothing proves that a person sent it");
    let id = operations[0]["id"].as_str().unwrap();
    let undone = post(&format!("/api/v1/operations/{id}"), json!({"decision": "undo"}));
    assert_eq!(undone["undone"]["id"], id);
    let (kind, path) = &paths[0];
    let record = post(path, json!({"decision": "restore"}))[*kind].clone();
    assert_eq!(record["state"], "live");
}

#[test]
fn an_agent_retires_what_agents_said() {
    let env = project();
    env.git("", &["init", "--quiet"]);
    env.write(
        "docs/payments.md",
        "# Payments\n\n## Retries\n\nPayments are retried at most twice, with the idempotency key of the gateway.\n",
    );
    env.git("", &["add", "docs"]);
    env.git("", &["commit", "--quiet", "--message", "rules"]);
    env.run(["learn", "docs"]).ok();
    let filled = filled(&env);
    let notes = env.run(["note", "list", "--kind", "doc", "--json"]).ok().json();
    let document = notes["notes"][0]["id"].as_str().unwrap().to_owned();
    let mut client = Client::new(&env, Generation::Inline);
    for (kind, id) in filled.all() {
        let retired = client.call("retire", json!({"kind": kind, "id": id, "reason": "wrong"}));
        assert_eq!((&retired["state"], &retired["reason"]), (&json!("retired"), &json!("wrong")));
        assert!(retired["operation"].as_str().unwrap().starts_with("op_"));
    }
    let restored =
        client.call("retire", json!({"kind": "note", "id": filled.note, "state": "live"}));
    assert_eq!(restored["state"], "live");
    let refused = client.refused("retire", json!({"kind": "note", "id": document}));
    assert!(refused.contains("only a person can retire it"), "{refused}");
    let shown = env.run(["note", "show", &document, "--json"]).ok().json();
    assert_eq!(shown["note"]["state"], "live");
    let list = env.run(["undo", "--list", "--json"]).ok().json();
    assert_eq!(list["operations"][0]["action"], "restore");
}
