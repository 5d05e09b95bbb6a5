//! Moving projects: between stores, to files, from BAZINGA.

use std::path::Path;
use std::process::Stdio;

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{empty, on_postgres, project};

fn filled() -> TestEnv {
    let env = project();
    env.write("a.md", "# Notes\n\nzebra stripes\n");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "a thought"]).ok();
    env.run(["error", "record", "--message", "boom"]).ok();
    env
}

fn export(env: &TestEnv) -> String {
    env.run(["export"]).ok().stdout
}

#[test]
fn copies_a_store_in_both_directions() {
    let mut env = filled();
    let before = export(&env);
    let url = handover_testkit::postgres();
    on_postgres(&mut env);
    let there = env.run(["store", "copy", ".handover/store.db", &url, "--json"]).ok().json();
    assert_eq!(there["copy"]["present"], 0);
    assert_eq!(there["copy"]["kinds"]["package"]["records"], 1);
    assert_eq!(
        export(&env).lines().skip(1).collect::<Vec<_>>(),
        before.lines().skip(1).collect::<Vec<_>>()
    );
    let found = env.run(["search", "zebra", "--json"]).ok().json();
    assert_eq!(found["results"][0]["path"], "a.md");
    let again = env.run(["store", "copy", ".handover/store.db", &url, "--json"]).ok().json();
    assert_eq!(again["copy"]["added"], 0);
    let back = env.run(["store", "copy", &url, "back.db", "--json"]).ok().json();
    assert_eq!(back["copy"]["kinds"], there["copy"]["kinds"]);
    env.set("HANDOVER_STORE", "back.db");
    assert_eq!(env.run(["session", "list", "--json"]).ok().json()["sessions"][0]["id"], "s1");
    env.run(["doctor"]).ok();
}

#[test]
fn does_not_copy_into_a_store_with_other_records() {
    let (env, other) = (filled(), filled());
    let target = other.path(".handover/store.db").display().to_string();
    let before = export(&other);
    let error =
        env.run(["store", "copy", ".handover/store.db", &target, "--json"]).fails(2).error();
    assert_eq!(error["code"], "conflict");
    assert_eq!(export(&other), before);
    for (from, to) in [(".handover/store.db", ".handover/store.db"), ("nowhere.db", "new.db")] {
        env.run(["store", "copy", from, to]).fails(2);
    }
    assert!(!env.path("new.db").exists() && !env.path("nowhere.db").exists());
}

#[test]
fn imports_an_export_once() {
    let env = filled();
    env.run(["export", "all.jsonl"]).ok();
    let text = fs_err::read_to_string(env.path("all.jsonl")).unwrap();
    assert_eq!(text, export(&env));
    assert_eq!(text, env.run(["export", "-"]).ok().stdout);
    let new = empty();
    new.run(["init"]).ok();
    let first = new.run_with(&text, ["import", "-", "--json"]).ok().json();
    assert_eq!(first["import"]["present"], 0);
    // What comes from another store is trusted least.
    assert_eq!(export(&new), text.replace("\"trust\":\"agent\"", "\"trust\":\"outside\""));
    new.write("all.jsonl", &text);
    let second = new.run(["import", "all.jsonl", "--json"]).ok().json();
    assert_eq!(second["import"]["added"], 0);
    assert_eq!(new.run(["search", "zebra", "--json"]).ok().json()["results"][0]["path"], "a.md");
    new.run(["error", "record", "--message", "boom"]).ok();
    let error = new.run(["import", "all.jsonl", "--json"]).fails(2).error();
    assert_eq!(error["code"], "conflict");
    new.write("bad.jsonl", "not an export\n");
    for args in [&["import", "bad.jsonl"][..], &["import"]] {
        new.run(args).fails(2);
    }
    new.run(["import", "nowhere.jsonl"]).fails(2);
}

pub(crate) fn database(env: &TestEnv) -> rusqlite::Connection {
    #[expect(clippy::disallowed_methods, reason = "the test looks at the file from outside")]
    let database = rusqlite::Connection::open(env.path(".handover/store.db")).unwrap();
    handover_sqlite::register_sums(&database).unwrap();
    database
}

/// Written by the release, see the commands in docs/storage.md.
const EXPORT_0_1_0: &str = include_str!("../fixtures/export-0.1.0.jsonl");

#[test]
fn a_store_of_0_1_0_is_refused_and_its_export_imported() {
    let env = project();
    let old = database(&env);
    old.pragma_update(None, "application_id", 0x484E_4456).unwrap();
    old.pragma_update(None, "user_version", 12).unwrap();
    let path = env.path(".handover/store.db");
    for args in
        [&["session", "list"][..], &["init"], &["export", "x.jsonl"], &["import", "x.jsonl"]]
    {
        let error = env.run(args.iter().chain(&["--json"])).fails(5).error();
        assert_eq!(error["code"], "store_outdated", "{args:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("has format 12 of Handover 0.1.0"), "{message}");
        let hint = error["hint"].as_str().unwrap();
        for command in [
            "`handover export project.jsonl`".to_owned(),
            // The harness hides where the test runs.
            "`mv [ROOT]/project/.handover/store.db [ROOT]/project/.handover/store.db.0.1.0`"
                .to_owned(),
            "`handover data import project.jsonl`".to_owned(),
        ] {
            assert!(hint.contains(&command), "{hint}");
        }
    }
    // What the hint says, while the log of the old file still lies there.
    fs_err::rename(&path, env.path(".handover/store.db.0.1.0")).unwrap();
    assert!(env.path(".handover/store.db-wal").exists());
    drop(old);
    env.write("project.jsonl", EXPORT_0_1_0);
    let imported = env.run(["import", "project.jsonl", "--json"]).ok().json();
    assert_eq!(
        imported["import"],
        json!({"added": EXPORT_0_1_0.matches("\n{\"kind\":").count()
        - EXPORT_0_1_0.matches("\n{\"kind\":\"sequence\"").count(), "present": 0})
    );
    // 0.1.0 knew no classes and retired nothing; what comes from another store is trusted least.
    let live = ",\"trust\":\"outside\",\"state\":\"live\"";
    let classes = [live, ",\"trust\":\"outside\"", ",\"flags\":[]", ",\"stale\":[]"];
    let exported = classes.iter().fold(export(&env), |text, class| text.replace(class, ""));
    assert_eq!(
        exported.lines().skip(1).collect::<Vec<_>>(),
        EXPORT_0_1_0.lines().skip(1).collect::<Vec<_>>()
    );
    let found = env.run(["search", "rotation", "--session", "demo", "--json"]).ok().json();
    assert_eq!(found["results"][0]["id"], 2);
    let shown = env.run(["package", "show", "2", "--json"]).ok().json();
    assert_eq!(shown["package"]["history"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_damaged_index_is_reported_and_rebuilt() {
    let env = filled();
    env.run(["session", "new", "other"]).ok();
    let rebuilt = env.run(["store", "reindex", "--json"]).ok().json();
    assert_eq!(rebuilt["reindexed"], json!({"sessions": 2, "packages": 1}));
    database(&env).execute("UPDATE package_terms SET terms = x'0900'", []).unwrap();
    let error = env.run(["search", "zebra", "--session", "s1", "--json"]).fails(5).error();
    assert_eq!(error["code"], "index_damaged");
    assert!(error["message"].as_str().unwrap().contains("version 9"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("`handover data reindex`"), "{error}");
    let checks = env.run(["doctor", "--json"]).fails(1).json();
    let index =
        checks["checks"].as_array().unwrap().iter().find(|c| c["name"] == "store text index");
    assert_eq!(index.unwrap()["fix"], "Run `handover data reindex`.");
    // Only the flag narrows.
    let other = env.run(["store", "reindex", "--session", "other", "--json"]).ok().json();
    assert_eq!(other["reindexed"], json!({"sessions": 1, "packages": 0}));
    env.run(["search", "zebra", "--session", "s1"]).fails(5);
    let rebuilt = env.run(["store", "reindex"]).ok().stdout;
    assert_eq!(rebuilt, "Rebuilt the index of 1 package in 2 sessions\n");
    let found = env.run(["search", "zebra", "--session", "s1", "--json"]).ok().json();
    assert_eq!(found["results"][0]["path"], "a.md");
    env.run(["doctor"]).ok();
    env.run(["store", "reindex", "--session", "nobody"]).fails(2);
}

/// A BAZINGA project of a format: the newest, or one from before there were summaries and events.
fn bazinga(env: &TestEnv, newest: bool) -> String {
    fs_err::create_dir_all(env.path("old/bazinga/artifacts/bz_1")).unwrap();
    env.write(
        "old/bazinga/artifacts/bz_1/research.md",
        "# Research\n\nLlamas spit; password=correct-horse\n",
    );
    let path = env.path("old/bazinga/bazinga.db");
    fill_bazinga(&path, newest);
    "old/bazinga/bazinga.db".to_owned()
}

fn fill_bazinga(path: &Path, newest: bool) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the other program")]
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE sessions (session_id TEXT PRIMARY KEY, start_time TIMESTAMP, end_time TIMESTAMP, mode TEXT,
            original_requirements TEXT, status TEXT, created_at TIMESTAMP);
         INSERT INTO sessions VALUES
            ('bz_1', '2026-01-02 03:04:05', '2026-01-02T04:00:00.123456', 'simple', 'Build it', 'completed', NULL),
            ('bad id!', '2026-01-02 03:04:05', NULL, 'simple', 'x', 'active', NULL);
         CREATE TABLE task_groups (id TEXT, session_id TEXT, name TEXT NOT NULL, status TEXT,
            revision_count INTEGER DEFAULT 0, context_references TEXT, created_at TIMESTAMP, PRIMARY KEY (id, session_id));
         INSERT INTO task_groups VALUES ('A', 'bz_1', 'Auth', 'completed', 2, '[1]', '2026-01-02 03:05:00');
         CREATE TABLE context_packages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, group_id TEXT,
            package_type TEXT, file_path TEXT, producer_agent TEXT, created_at TIMESTAMP);
         CREATE TABLE context_package_consumers (id INTEGER PRIMARY KEY, package_id INTEGER, agent_type TEXT);
         INSERT INTO context_package_consumers (package_id, agent_type) VALUES (1, 'developer'), (1, 'QA_Expert');
         INSERT INTO context_packages VALUES
            (1, 'bz_1', 'A', 'research', 'bazinga/artifacts/bz_1/research.md', 'requirements_engineer', '2026-01-02 03:06:00'),
            (2, 'bz_1', NULL, 'decisions', 'bazinga/artifacts/bz_1/gone.md', 'tech_lead', '2026-01-02 03:07:00'),
            (3, 'bz_1', NULL, 'riddles', 'x.md', 'tech_lead', '2026-01-02 03:07:00'),
            (4, 'bz_9', NULL, 'research', 'x.md', 'tech_lead', '2026-01-02 03:07:00');
         CREATE TABLE token_usage (id INTEGER PRIMARY KEY, session_id TEXT, tokens_estimated INTEGER);
         INSERT INTO token_usage VALUES (1, 'bz_1', 500), (2, 'bz_1', 600);",
    )
    .unwrap();
    if !newest {
        return;
    }
    db.execute_batch(
        "ALTER TABLE context_packages ADD COLUMN priority TEXT;
         ALTER TABLE context_packages ADD COLUMN summary TEXT;
         ALTER TABLE context_packages ADD COLUMN scope TEXT;
         UPDATE context_packages SET priority = 'high', summary = 'About llamas', scope = 'group' WHERE id = 1;
         CREATE TABLE orchestration_logs (id INTEGER PRIMARY KEY, session_id TEXT, timestamp TIMESTAMP, iteration INTEGER,
            agent_type TEXT, agent_id TEXT, content TEXT, log_type TEXT, reasoning_phase TEXT, confidence_level TEXT,
            references_json TEXT, group_id TEXT, event_subtype TEXT, event_payload TEXT, idempotency_key TEXT);
         INSERT INTO orchestration_logs VALUES
            (1, 'bz_1', '2026-01-02 03:08:00', 1, 'developer', 'dev_1', 'said hello', 'interaction', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            (2, 'bz_1', '2026-01-02 03:08:00', 1, 'developer', 'dev 1', 'I think', 'reasoning', 'approach', 'high', '[\"a.rs\"]', 'A', NULL, NULL, NULL),
            (3, 'bz_1', '2026-01-02 03:08:00', 1, 'developer', 'dev 1', 'I think', 'reasoning', 'approach', 'high', '[\"a.rs\"]', 'A', NULL, NULL, NULL),
            (4, 'bz_1', '2026-01-02 03:08:00', 1, 'developer', NULL, 'x', 'reasoning', 'daydream', NULL, NULL, 'A', NULL, NULL, NULL),
            (5, 'bz_1', '2026-01-02 03:08:00', 1, 'system', NULL, '', 'event', NULL, NULL, NULL, 'global', 'delivery', '{\"n\":1}', 'k1'),
            (6, 'bz_1', '2026-01-02 03:08:00', 1, 'system', NULL, '', 'event', NULL, NULL, NULL, 'global', 'delivery', '{broken', NULL);
         CREATE TABLE skill_outputs (id INTEGER PRIMARY KEY, session_id TEXT, timestamp TIMESTAMP, skill_name TEXT,
            output_data TEXT, agent_type TEXT, group_id TEXT, iteration INTEGER);
         INSERT INTO skill_outputs VALUES
            (1, 'bz_1', '2026-01-02 03:09:00', 'lint-check', '{\"ok\":true}', 'developer', 'A', 1),
            (2, 'bz_1', '2026-01-02 03:09:00', 'lint-check', '{\"ok\":true}', 'developer', 'A', 2),
            (3, 'bz_1', '2026-01-02 03:09:00', 'lint-check', x'00ff', 'developer', 'A', 3);
         CREATE TABLE error_patterns (pattern_hash TEXT, project_id TEXT, signature_json TEXT, solution TEXT, confidence REAL,
            occurrences INTEGER, lang TEXT, last_seen TEXT, created_at TEXT, ttl_days INTEGER);
         INSERT INTO error_patterns VALUES
            ('h1', 'shop', '{\"error_type\":\"TypeError\",\"message_pattern\":\"x is undefined\",\"context_hints\":[\"react\"]}',
                'define x', 0.8, 4, 'typescript', '2026-01-03 00:00:00', '2026-01-01 00:00:00', 9000),
            ('h2', 'shop', '{broken', 'y', 0.5, 1, NULL, NULL, NULL, 90);
         CREATE TABLE strategies (strategy_id TEXT, project_id TEXT, topic TEXT, insight TEXT, helpfulness INTEGER, lang TEXT,
            framework TEXT, last_seen TEXT, created_at TEXT);
         INSERT INTO strategies VALUES ('s', 'shop', 'general', 'Write tests first', 3, NULL, NULL, '2026-01-03 00:00:00', NULL);",
    )
    .unwrap();
}

fn import(env: &TestEnv, path: &str) -> Value {
    env.run(["import", "bazinga", path, "--json"]).ok().json()["import"].clone()
}

fn new_and_old(report: &Value, kind: &str) -> (u64, u64) {
    (report[kind]["added"].as_u64().unwrap(), report[kind]["present"].as_u64().unwrap())
}

const KINDS: [&str; 8] = [
    "sessions",
    "groups",
    "packages",
    "reasoning",
    "skill_outputs",
    "events",
    "errors",
    "strategies",
];

#[test]
fn imports_a_bazinga_database_once() {
    comes_over(&project());
}

#[test]
fn imports_a_bazinga_database_into_a_shared_store() {
    comes_over(&crate::shared_project());
}

fn comes_over(env: &TestEnv) {
    let path = bazinga(env, true);
    let before: Vec<u8> = fs_err::read(env.path(&path)).unwrap();
    let report = import(env, &path);
    let counts = KINDS.map(|kind| new_and_old(&report, kind));
    assert_eq!(
        counts,
        [(1, 0), (1, 0), (2, 0), (2, 0), (2, 0), (2, 0), (1, 0), (1, 0)],
        "{report:#}"
    );
    assert_eq!(report["without_file"], 1);
    assert_eq!(
        report["left_out"],
        json!({"orchestration_logs (interaction)": 1, "token_usage": 2})
    );
    let damaged: Vec<(String, String)> = report["damaged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| (d["table"].as_str().unwrap().to_owned(), d["row"].as_str().unwrap().to_owned()))
        .collect();
    let d = |table: &str, row: &str| (table.to_owned(), row.to_owned());
    assert_eq!(
        damaged,
        [
            d("sessions", "bad id!"),
            d("context_packages", "3"),
            d("context_packages", "4"),
            d("orchestration_logs", "4"),
            d("skill_outputs", "3"),
            d("error_patterns", "h2"),
        ]
    );
    let again = import(env, &path);
    for (kind, (added, _)) in KINDS.iter().zip(counts) {
        assert_eq!(new_and_old(&again, kind), (0, added), "{kind}");
    }
    assert_eq!(fs_err::read(env.path(&path)).unwrap(), before);

    let session = env.run(["session", "show", "bz_1", "--json"]).ok().json()["session"].clone();
    assert_eq!(session["status"], "completed");
    assert_eq!(session["created_at"], "2026-01-02T03:04:05.000Z");
    assert_eq!(session["ended_at"], "2026-01-02T04:00:00.123Z");
    assert_eq!(session["metadata"]["requirements"], "Build it");
    let group = env.run(["group", "show", "A", "--session", "bz_1", "--json"]).ok().json();
    assert_eq!(group["group"]["counters"]["revision_count"], 2, "{group}");
    assert_eq!(group["group"]["title"], "Auth");
    let found = env.run(["search", "llama spit", "--session", "bz_1", "--json"]).ok().json();
    let id = found["results"][0]["id"].to_string();
    assert_eq!(group["group"]["references"], json!([found["results"][0]["id"]]));
    let package =
        env.run(["package", "show", &id, "--body", "--json"]).ok().json()["package"].clone();
    assert_eq!(package["consumers"], json!(["developer", "qa_expert"]));
    assert!(package["body"].as_str().unwrap().contains("Llamas spit"));
    assert!(!package["body"].as_str().unwrap().contains("horse"));
    let errors = env.run(["error", "list", "--json"]).ok().json();
    assert_eq!(errors["errors"][0]["occurrences"], 4, "{errors}");
    assert_eq!(errors["errors"][0]["solution"], "define x");
    let checks = env.run(["doctor", "--json"]).json()["checks"].clone();
    let index = checks.as_array().unwrap().iter().find(|check| check["name"] == "store text index");
    assert_eq!(index.unwrap()["ok"], true, "{checks}");
}

#[test]
fn imports_only_new_rows_of_a_grown_bazinga_database() {
    let env = project();
    let path = bazinga(&env, false);
    let report = import(&env, &path);
    assert_eq!(new_and_old(&report, "packages"), (2, 0), "{report:#}");
    assert_eq!(new_and_old(&report, "events"), (0, 0));
    fs_err::remove_file(env.path(&path)).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(env.path(&format!("{path}{end}")));
    }
    fill_bazinga(&env.path(&path), true);
    let report = import(&env, &path);
    assert_eq!(new_and_old(&report, "sessions"), (0, 1));
    assert_eq!(new_and_old(&report, "reasoning"), (2, 0));
}

#[test]
fn rejects_files_that_are_not_bazinga_databases() {
    let env = project();
    env.write("text.db", "not a database ".repeat(100));
    for path in ["text.db", "nowhere.db", ".handover/store.db"] {
        let error = env.run(["import", "bazinga", path, "--json"]).fails(2).error();
        assert_eq!(error["code"], "invalid_input", "{path}");
    }
}

#[test]
fn a_bad_archive_is_the_archives_fault() {
    let env = project();
    env.write("docs/a.md", "# A\n## Summary\nIt is.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "decisions", "one"]).ok();
    env.run(["export", "good.jsonl"]).ok();
    let good = fs_err::read_to_string(env.path("good.jsonl")).unwrap();
    let without = |what: &str| -> String {
        good.lines().filter(|line| !line.contains(what)).map(|line| format!("{line}\n")).collect()
    };
    let tokens = good.split("\"tokens\":").nth(1).unwrap().split(',').next().unwrap();
    for bad in [
        good.replace("\"session\":1,\"scope\"", "\"session\":9,\"scope\""),
        good.replace("\"package\":1,\"body\"", "\"package\":7,\"body\""),
        good.replace(&format!("\"tokens\":{tokens}"), "\"tokens\":-11"),
        good.replace("\"version\":1,\"size", "\"version\":99999999999999,\"size"),
        without("package_body"),
        without("\"kind\":\"session\""),
    ] {
        assert_ne!(bad, good);
        let new = empty();
        new.run(["init"]).ok();
        new.write("bad.jsonl", &bad);
        let error = new.run(["import", "bad.jsonl", "--json"]).fails(2).error();
        assert_eq!(error["code"], "invalid_import", "{error}");
        assert!(error["message"].as_str().unwrap().starts_with("line "), "{error}");
        assert!(!error.to_string().contains("move it away"), "{error}");
        let sessions = new.run(["session", "list", "--json"]).ok().json();
        assert_eq!(sessions["sessions"], json!([]), "nothing was imported");
    }
    let made = env.tool("mkfifo").arg(env.path("pipe")).status().unwrap();
    assert!(made.success());
    for file in ["pipe", "/dev/zero", "docs"] {
        let mut command = env.tool("timeout");
        command.arg("20").arg(env.binary()).args(["import", file]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        env.output(child).fails(2);
    }
}
