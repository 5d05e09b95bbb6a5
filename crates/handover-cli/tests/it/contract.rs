//! The documents that scripts rely on: every command, every field.

use serde_json::{Value, json};

use crate::{empty, project};

#[track_caller]
fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}

#[test]
fn init() {
    let env = empty();
    let first = env.run(["init", "--json"]).ok().json();
    assert_eq!(first["project"]["root"], "[ROOT]/project");
    assert_eq!(first["project"]["store"], "[ROOT]/project/.handover/store.db");
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    fs_err::write(env.path(".handover/config.toml"), format!("{config}# mine\n")).unwrap();
    assert_eq!(env.run(["init", "--json"]).ok().json(), first);
    let after = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    assert!(after.ends_with("# mine\n"), "init must not overwrite");
    assert!(env.path(".handover/.gitignore").is_file());
}

#[test]
fn session() {
    let env = empty();
    env.run(["init"]).ok();
    let new = env
        .run([
            "session",
            "new",
            "s1",
            "--project-id",
            "shop",
            "--metadata",
            "{\"a\": {\"password\": \"x9y8z7\"}}",
            "--json",
        ])
        .ok()
        .json();
    has(&new["session"], &["id", "project", "status", "created_at"]);
    assert_eq!(new["session"]["id"], "s1");
    assert_eq!(new["session"]["project"], "shop");
    assert_eq!(new["session"]["status"], "active");
    assert_eq!(new["session"]["metadata"], json!({"a": {"password": "[REDACTED-1]"}}));
    assert!(env.path(".handover/artifacts/s1/context").is_dir());

    let again = env.run(["session", "new", "s1", "--json"]).ok().json();
    assert_eq!(again["session"]["created_at"], new["session"]["created_at"]);
    let generated = env.run(["session", "new", "--json"]).ok().json();
    assert_ne!(generated["session"]["id"], "s1");

    let list = env.run(["session", "list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
    let show = env.run(["session", "show", "s1", "--json"]).ok().json();
    has(
        &show["session"]["counts"],
        &["groups", "packages", "reasoning", "skill_outputs", "events", "receipts"],
    );
    let closed = env.run(["session", "close", "s1", "--status", "failed", "--json"]).ok().json();
    assert_eq!(closed["session"]["status"], "failed");
    has(&closed["session"], &["ended_at"]);

    // Nobody is there to say yes.
    let refused = env.run(["session", "purge", "s1", "--json"]).fails(2).error();
    assert!(refused["hint"].as_str().unwrap().contains("--yes"));
    env.run(["session", "show", "s1"]).ok();
    env.run(["session", "purge", "s1", "--yes", "--json"]).ok().json();
    env.run(["session", "show", "s1"]).fails(2);
    assert!(!env.path(".handover/artifacts/s1").exists());
}

#[test]
fn group() {
    let env = project();
    env.write("a.md", "text");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    let set = env
        .run([
            "group",
            "set",
            "P1",
            "--title",
            "Login",
            "--status",
            "in_progress",
            "--ref",
            "1",
            "--specialization",
            "rust",
            "--component",
            "crates/api",
            "--count",
            "qa_attempts",
            "--json",
        ])
        .ok()
        .json();
    assert_eq!(set["group"]["id"], "P1");
    assert_eq!(set["group"]["references"], json!([1]));
    assert_eq!(set["group"]["counters"], json!({"qa_attempts": 1}));
    let set = env.run(["group", "set", "P1", "--status", "completed", "--json"]).ok().json();
    assert_eq!(set["group"]["title"], "Login");
    assert_eq!(set["group"]["references"], json!([1]));
    let show = env.run(["group", "show", "P1", "--json"]).ok().json();
    assert_eq!(show, set);
    let list = env.run(["group", "list", "--json"]).ok().json();
    assert_eq!(list["groups"], json!([set["group"]]));
}

#[test]
fn package() {
    let env = project();
    env.write(
        "docs/a.md",
        "---\ntype: research\ngroup_id: P1\npriority: high\n---\n# T\n## Summary\nOne.\n",
    );
    let added = env
        .run([
            "package",
            "add",
            "docs/a.md",
            "--consumer",
            "developer",
            "--consumer",
            "qa_expert",
            "--json",
        ])
        .ok()
        .json();
    let package = &added["package"];
    has(
        package,
        &[
            "id",
            "version",
            "kind",
            "path",
            "priority",
            "summary",
            "group",
            "scope",
            "consumers",
            "size_bytes",
            "tokens",
            "created",
        ],
    );
    assert_eq!(package["id"], 1);
    assert_eq!(package["version"], 1);
    assert_eq!(package["path"], "docs/a.md");
    assert_eq!(package["summary"], "One.");
    assert_eq!((&package["group"], &package["scope"]), (&json!("P1"), &json!("group")));
    assert_eq!(package["consumers"], json!(["developer", "qa_expert"]));
    assert_eq!(package["created"], true);
    let again = env.run(["package", "add", "docs/a.md", "--json"]).ok().json();
    assert_eq!((&again["package"]["id"], &again["package"]["created"]), (&json!(1), &json!(false)));

    env.write("docs/a.md", "---\ntype: research\ngroup_id: P1\n---\nTwo.\n");
    let updated = env.run(["package", "update", "1", "docs/a.md", "--json"]).ok().json();
    let package = &updated["package"];
    assert_eq!((&package["id"], &package["version"]), (&json!(2), &json!(2)));
    assert_eq!((&package["priority"], &package["summary"]), (&json!("high"), &json!("Two.")));
    assert_eq!(package["consumers"], json!(["developer", "qa_expert"]));

    let list = env.run(["package", "list", "--json"]).ok().json();
    assert_eq!(list["packages"].as_array().unwrap().len(), 1);
    let all = env.run(["package", "list", "--all-versions", "--json"]).ok().json();
    assert_eq!(all["packages"].as_array().unwrap().len(), 2);
    let show = env.run(["package", "show", "1", "--json"]).ok().json();
    assert_eq!(show["package"]["history"].as_array().unwrap().len(), 2);
    assert_eq!(show["package"]["deliveries"], json!([]));
    assert_eq!(show["package"]["superseded_by"], 2);
}

#[test]
fn package_import() {
    let env = project();
    env.write("docs/there.md", "existing");
    let lines = concat!(
        "{\"kind\":\"research\",\"producer\":\"developer\",\"priority\":\"low\",\"summary\":\"A\",\"body\":\"# A\\ntext\",\"name\":\"a\",\"created_at\":\"2026-01-02T03:04:05Z\",\"files\":[\"src/x.rs\"]}\n",
        "\n",
        "{\"kind\":\"decisions\",\"producer\":\"tech_lead\",\"priority\":\"high\",\"summary\":\"B\",\"path\":\"docs/there.md\",\"group\":\"P1\",\"scope\":\"global\",\"consumers\":[\"developer\"]}\n",
        "{\"kind\":\"failures\",\"producer\":\"qa_expert\",\"priority\":\"high\",\"summary\":\"C\",\"body\":\"x\",\"group\":\"P1\"}\n",
    );
    env.write("in.jsonl", lines);
    let first = env.run(["package", "import", "in.jsonl", "--json"]).ok().json();
    assert_eq!(first, json!({"schema": 1, "imported": 3, "unchanged": 0, "ids": [1, 2, 3]}));
    let again = env.run_with(lines, ["package", "import", "-", "--json"]).ok().json();
    assert_eq!(again, json!({"schema": 1, "imported": 0, "unchanged": 3, "ids": [1, 2, 3]}));
    let one = env.run(["package", "show", "1", "--json"]).ok().json();
    assert_eq!(one["package"]["created_at"], "2026-01-02T03:04:05.000Z");
    assert_eq!(one["package"]["files"], json!(["src/x.rs"]));
    assert_eq!(one["package"]["path"], ".handover/artifacts/s1/context/a.md");
    let two = env.run(["package", "show", "2", "--json"]).ok().json();
    assert_eq!(
        (&two["package"]["group"], &two["package"]["scope"]),
        (&json!("P1"), &json!("global"))
    );
    let three = env.run(["package", "show", "3", "--json"]).ok().json();
    assert_eq!(three["package"]["scope"], "group");
}

#[test]
fn package_scan_and_validate() {
    let env = project();
    env.write(".handover/artifacts/s1/context/research-P1-oauth.md", "# Oauth\ntext");
    env.write("reports/qa_failures_group_P1.md", "failed");
    env.write(".handover/artifacts/s1/context/empty.md", "");
    let scan = env.run(["package", "scan", "--json"]).ok().json();
    let packages = scan["packages"].as_array().unwrap();
    assert_eq!(packages.len(), 2);
    assert_eq!((&packages[0]["kind"], &packages[0]["group"]), (&json!("research"), &json!("P1")));
    assert_eq!(
        (&packages[1]["kind"], &packages[1]["producer"]),
        (&json!("failures"), &json!("qa_expert"))
    );
    assert_eq!(scan["skipped"].as_array().unwrap().len(), 1);

    let text = "## Context Package Created\n**File:** `reports/more.md`\n**Type:** investigation\n\
        **Priority:** critical\n**Consumers:** developer\n**Summary:** Root cause\n\n\
        ## Context Package Created\n**File:** `../outside.md`\n**Type:** research\n";
    env.write("reports/more.md", "deep");
    let scan = env
        .run_with(text, ["package", "scan", "--announced", "-", "--group", "P1", "--json"])
        .ok()
        .json();
    assert_eq!(scan["packages"][0]["summary"], "Root cause");
    assert_eq!(scan["packages"][0]["group"], "P1");
    assert_eq!(scan["skipped"][0]["path"], "../outside.md");

    env.write("good.md", "---\ntype: handoff\n---\nx");
    let validated = env.run(["package", "validate", "good.md", "--json"]).ok().json();
    assert_eq!(validated["packages"][0]["ok"], true);
    let validated =
        env.run(["package", "validate", "good.md", "none.md", "--json"]).fails(2).json();
    assert_eq!(validated["packages"][1]["ok"], false);
}

#[test]
fn reasoning() {
    let env = project();
    let add = env
        .run_with(
            "token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB works\n",
            [
                "reasoning",
                "add",
                "--role",
                "developer",
                "--phase",
                "approach",
                "--confidence",
                "high",
                "--iteration",
                "2",
                "--agent-id",
                "a1",
                "--group",
                "P1",
                "--json",
            ],
        )
        .ok()
        .json();
    has(&add["reasoning"], &["id", "role", "phase", "redactions"]);
    assert_eq!(add["reasoning"]["redactions"], 1);
    env.run(["reasoning", "add", "--role", "qa_expert", "--phase", "completion", "done"]).ok();
    let list = env.run(["reasoning", "list", "--json"]).ok().json();
    has(&list["reasoning"][0], &["id", "role", "phase", "confidence", "content", "created_at"]);
    assert_eq!(list["reasoning"][0]["content"], "done");
    assert_eq!(list["reasoning"][1]["content"], "token [REDACTED-1] works");
    let timeline = env.run(["reasoning", "timeline", "--json"]).ok().json();
    assert_eq!(timeline["reasoning"][0]["role"], "developer");
    let some = env.run([
        "reasoning",
        "list",
        "--role",
        "developer",
        "--phase",
        "approach",
        "--limit",
        "1",
        "--group",
        "P1",
        "--json",
    ]);
    assert_eq!(some.ok().json()["reasoning"].as_array().unwrap().len(), 1);
}

#[test]
fn skill_output() {
    let env = project();
    let save = |args: &[&str]| {
        let mut all = vec!["skill-output", "save", "lint"];
        all.extend(args);
        all.push("--json");
        env.run_with("{\"issues\": 3, \"api_key\": \"abc\"}", all).ok().json()["skill_output"]
            .clone()
    };
    has(&save(&[]), &["id", "iteration"]);
    assert_eq!(save(&[])["iteration"], 2);
    assert_eq!(save(&["--role", "developer", "--group", "P1"])["iteration"], 1);
    let latest = env.run(["skill-output", "latest", "lint", "--json"]).ok().json();
    assert_eq!(latest["skill_output"]["output"], json!({"issues": 3, "api_key": "[REDACTED-1]"}));
    assert_eq!(latest["skill_output"]["role"], "developer");
    let list =
        env.run(["skill-output", "list", "lint", "--role", "developer", "--json"]).ok().json();
    assert_eq!(list["skill_outputs"].as_array().unwrap().len(), 1);
    env.run(["skill-output", "latest", "none", "--json"]).fails(2).error();
}

#[test]
fn event() {
    let env = project();
    let log = |stdin: &str, args: &[&str]| {
        let mut all = vec!["event", "log", "verdict", "--json"];
        all.extend(args);
        env.run_with(stdin, all).ok().json()["event"].clone()
    };
    let first = log("{\"note\": \"password=hunter2hunter2\", \"x\": 1}", &["--key", "k"]);
    assert_eq!(first["duplicate"], false);
    let second = log("{}", &["--key", "k"]);
    assert_eq!((&second["id"], &second["duplicate"]), (&first["id"], &json!(true)));
    log("", &[]);
    let list = env.run(["event", "list", "--type", "verdict", "--json"]).ok().json();
    assert_eq!(list["events"].as_array().unwrap().len(), 2);
    assert_eq!(list["events"][1]["payload"], json!({"note": "password=[REDACTED-1]", "x": 1}));
    has(&list["events"][0], &["id", "type", "payload", "created_at"]);
}

#[test]
fn search() {
    let env = project();
    env.write("a.md", "# Sessions\nHow getUserById reads the session.");
    env.write("b.md", "# Colours\nNothing of the kind.");
    for file in ["a.md", "b.md"] {
        env.run(["package", "add", file, "--kind", "research"]).ok();
    }
    let found = env.run(["search", "user by id", "--limit", "5", "--json"]).ok().json();
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    has(&results[0], &["id", "path", "score", "snippet"]);
    assert_eq!(results[0]["path"], "a.md");
    assert!(results[0]["snippet"].as_str().unwrap().contains("getUserById"));
    assert_eq!(env.run(["search", "zebra", "--json"]).ok().json()["results"], json!([]));
}

#[test]
fn doctor() {
    let env = project();
    let checks = env.run(["doctor", "--json"]).ok().json();
    for check in checks["checks"].as_array().unwrap() {
        has(check, &["name", "ok", "detail", "fix"]);
        assert_eq!(check["ok"], true);
    }
    env.write("a.md", "one");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.write("a.md", "two");
    let checks = env.run(["doctor", "--json"]).fails(1).json();
    let bad: Vec<&Value> =
        checks["checks"].as_array().unwrap().iter().filter(|c| c["ok"] == false).collect();
    assert_eq!(bad.len(), 1);
    assert_eq!(bad[0]["name"], "package files");
    empty().run(["doctor", "--json"]).fails(1).json();
}

#[test]
fn session_precedence_is_flag_variable_then_only_active() {
    let mut env = project();
    let session = |env: &handover_testkit::TestEnv, args: &[&str]| {
        let mut all = vec!["session", "show", "--json"];
        all.extend(args);
        env.run(all)
    };
    assert_eq!(session(&env, &[]).ok().json()["session"]["id"], "s1");
    env.run(["session", "new", "s2"]).ok();
    assert!(session(&env, &[]).fails(2).error()["message"].as_str().unwrap().contains("s1"));
    assert_eq!(session(&env, &["--session", "s2"]).ok().json()["session"]["id"], "s2");
    env.set("HANDOVER_SESSION", "s1");
    assert_eq!(session(&env, &[]).ok().json()["session"]["id"], "s1");
    assert_eq!(session(&env, &["--session", "s2"]).ok().json()["session"]["id"], "s2");
    env.set("HANDOVER_SESSION", "");
    session(&env, &[]).fails(2);
    env.run(["session", "close", "s1"]).ok();
    assert_eq!(session(&env, &[]).ok().json()["session"]["id"], "s2");
}

#[test]
fn group_falls_back_to_the_variable() {
    let mut env = project();
    env.set("HANDOVER_GROUP", "P1");
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "x"]).ok();
    env.write("a.md", "x");
    let package = env.run(["package", "add", "a.md", "--kind", "research", "--json"]).ok().json();
    assert_eq!(package["package"]["group"], "P1");
    env.write("b.md", "x");
    let package =
        env.run(["package", "add", "b.md", "--kind", "research", "--global", "--json"]).ok().json();
    assert_eq!(
        (&package["package"]["group"], &package["package"]["scope"]),
        (&Value::Null, &json!("global"))
    );
    let list = env.run(["reasoning", "list", "--group", "P2", "--json"]).ok().json();
    assert_eq!(list["reasoning"], json!([]));
}
