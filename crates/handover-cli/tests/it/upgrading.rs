//! Stores that older versions wrote: every format is opened, read and exported, and who may upgrade one.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use handover_testkit::TestEnv;
use serde_json::json;

use crate::empty;
use crate::hooks::event;

/// The formats that versions write. A store of each is kept; `HANDOVER_RECORD=1` makes that of the newest again, for as long
/// as it is in no release.
const FORMATS: RangeInclusive<i64> = 1..=1;

fn kept(format: i64) -> PathBuf {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stores"));
    folder.join(format!("format-{format}.db.gz"))
}

fn shop() -> TestEnv {
    let mut env = empty();
    env.set("HANDOVER_PROJECT_ID", "shop");
    env.run(["init"]).ok();
    env
}

/// A record of most kinds, in a store of the newest format.
fn record(format: i64) {
    let env = shop();
    env.run(["session", "new", "s1"]).ok();
    env.run(["group", "set", "P1", "--title", "Tokens"]).ok();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nRefresh tokens rotate on every use.\n");
    let package = ["package", "add", "docs/oauth.md", "--kind", "research", "--group", "P1"];
    env.run(package).ok();
    let thought = ["--role", "developer", "--group", "P1", "--phase", "decisions"];
    env.run(["reasoning", "add"].into_iter().chain(thought).chain(["One lock per token"])).ok();
    let message = "Cannot find module '@app/db'";
    env.run(["error", "record", "--message", message]).ok();
    env.run(["error", "resolve", "--message", message, "--solution", "npm run build first"]).ok();
    env.run(["note", "add", "Prices are stored in cents; never use floats"]).ok();
    env.run_with(r#"{"verdict": "approved"}"#, ["event", "log", "verdict", "--group", "P1"]).ok();
    env.run_with(r#"{"warnings": 3}"#, ["skill-output", "save", "lint-check"]).ok();
    let task = ["brief", "--role", "developer", "--group", "P1", "--task", "Rotate refresh tokens"];
    env.run(task).ok();
    // What `backup` copies is one file, without a log.
    env.run(["data", "backup"]).ok();
    let packed = env.tool("gzip").args(["-9nc", ".handover/backup/store.db"]).output().unwrap();
    assert!(packed.status.success());
    fs_err::create_dir_all(kept(format).parent().unwrap()).unwrap();
    fs_err::write(kept(format), packed.stdout).unwrap();
}

/// A project whose store is the one that was kept.
fn with_kept(format: i64) -> TestEnv {
    let env = shop();
    let unpacked = env.tool("gzip").arg("-dc").arg(kept(format)).output().unwrap();
    assert!(unpacked.status.success(), "format {format} is not kept: see `FORMATS`");
    for end in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(env.path(&format!(".handover/store.db{end}")));
    }
    env.write(".handover/store.db", unpacked.stdout);
    env
}

#[test]
fn stores_of_every_format_are_opened_read_and_exported() {
    if std::env::var_os("HANDOVER_RECORD").is_some() {
        record(*FORMATS.end());
    }
    for format in FORMATS {
        let env = with_kept(format);
        let listed = env.run(["session", "list", "--json"]).ok();
        assert_eq!(listed.json()["sessions"][0]["id"], "s1");
        // The copy and the warning come with the upgrade, and only then.
        let is_older = format < *FORMATS.end();
        let copy = env.path(&format!(".handover/store.db.format-{format}"));
        assert_eq!((listed.stderr.contains("cannot open it"), copy.exists()), (is_older, is_older));
        // The newest format is kept, too.
        let upgraded = env.run(["data", "upgrade", "--json"]).ok().json()["upgrade"].clone();
        assert_eq!(
            (&upgraded["from"], &upgraded["to"]),
            (&json!(FORMATS.end()), &json!(FORMATS.end()))
        );

        let found = env.run(["search", "refresh rotate", "--json"]).ok().json();
        assert_eq!(found["results"][0]["path"], "docs/oauth.md", "{found}");
        let thought = env.run(["reasoning", "list", "--json"]).ok().stdout;
        assert!(thought.contains("One lock per token"), "{thought}");
        let error = env.run(["error", "list", "--json"]).ok().json()["errors"][0].clone();
        assert_eq!(error["solution"], "npm run build first", "{error}");
        let receipts = env.run(["receipt", "list", "--json"]).ok().json()["receipts"].clone();
        assert_eq!(receipts[0]["role"], "developer", "{receipts}");
        let doctor = env.run(["doctor", "--json"]).json()["checks"].clone();
        let store = doctor.as_array().unwrap().iter().filter(|check| check["group"] == "store");
        assert!(
            store.clone().count() > 5 && store.clone().all(|check| check["ok"] == true),
            "{doctor:#}"
        );

        // An export of it is imported whole, and new records can be added to both.
        env.run(["data", "export", "all.jsonl"]).ok();
        let export = fs_err::read_to_string(env.path("all.jsonl")).unwrap();
        for text in
            ["Prices are stored in cents", "\"warnings\":3", "\"verdict\":\"approved\"", "Tokens"]
        {
            assert!(export.contains(text), "{text}: {export}");
        }
        let other = shop();
        other.write("all.jsonl", &export);
        other.run(["data", "import", "all.jsonl"]).ok();
        // What an agent wrote comes from outside of the project that imports it.
        let lowered = |export: &str| export.replace("\"trust\":\"agent\"", "\"trust\":\"outside\"");
        let again = other.run(["data", "export"]).ok().stdout;
        assert!(lowered(&again) == lowered(&export), "{again}\n{export}");
        for env in [&env, &other] {
            env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "one more"])
                .ok();
        }
    }
}

#[test]
fn there_is_nothing_to_upgrade_in_a_service_or_without_a_store() {
    let mut env = empty();
    env.run(["init"]).ok();
    fs_err::remove_file(env.path(".handover/store.db")).unwrap();
    let error = env.run(["data", "upgrade", "--json"]).fails(5).error();
    assert_eq!(error["code"], "no_store", "{error}");
    assert!(!env.path(".handover/store.db").exists());
    env.set("HANDOVER_STORE", "https://127.0.0.1:9");
    let error = env.run(["data", "upgrade", "--json"]).fails(2).error();
    assert_eq!(error["code"], "not_here", "{error}");
}

fn psql(sql: &str) -> String {
    let url = handover_testkit::postgres();
    let output = std::process::Command::new("psql")
        .args(["-v", "ON_ERROR_STOP=1", "-qAt", &url, "-c", sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Others use it, too: no command but one takes it from those who have the version before.
#[test]
fn a_shared_store_is_upgraded_only_on_request() {
    let mut env = empty();
    let project = format!("t{}", uuid::Uuid::now_v7().simple());
    env.set("HANDOVER_STORE", &handover_testkit::postgres());
    env.set("HANDOVER_PROJECT_ID", &project);
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    let upgraded = env.run(["data", "upgrade", "--json"]).ok().json()["upgrade"].clone();
    assert_eq!(upgraded["from"], upgraded["to"], "{upgraded}");
    let schema = psql(&format!(
        "SELECT schemaname FROM pg_tables WHERE tablename = 'handover_format' AND schemaname LIKE 'handover\\_{}\\_%'",
        &project[..32]
    ));
    // No release wrote this format, so nothing leads from it; who is refused is the same for those that one did.
    psql(&format!("UPDATE {schema}.handover_format SET format = 0"));
    for command in [vec!["session", "list"], vec!["session", "new", "s2"], vec!["init"]] {
        let error = env.run(command.into_iter().chain(["--json"])).fails(5).error();
        assert_eq!(error["code"], "store_older", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("`handover data upgrade`"), "{error}");
    }
    let doctor = env.run(["doctor"]).fails(1).stdout;
    assert!(
        doctor.contains("FAIL  store:") && doctor.contains("handover data upgrade"),
        "{doctor}"
    );
    let input = json!({"description": "d", "prompt": "Look around", "subagent_type": "worker"});
    let spawn = event(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
    let answer = env.run_with(spawn.to_string(), ["hook", "claude"]).ok().stdout;
    assert!(answer.contains("has format 0 and has to be upgraded to 1"), "{answer}");
    assert_eq!(psql(&format!("SELECT format FROM {schema}.handover_format")), "0");
    psql(&format!("UPDATE {schema}.handover_format SET format = 1"));
    let listed = env.run(["session", "list", "--json"]).ok().json();
    assert_eq!(listed["sessions"][0]["id"], "s1");
}
