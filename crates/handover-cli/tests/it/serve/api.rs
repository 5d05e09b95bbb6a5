//! The API matches the JSON of the command line. Everything else about it is tested in handover-serve.

use handover_testkit::{Service, TestEnv};
use serde_json::{Value, json};

use crate::project;
use crate::runs::Epic;

/// A project with one of every kind of record.
fn filled() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nTokens live ten minutes.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--group", "P1"]).ok();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nTokens live five minutes.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--group", "P1"]).ok();
    let thought = ["reasoning", "add", "--role", "developer", "--phase", "decisions", "Rotate."];
    env.run(thought).ok();
    env.run_with("{\"verdict\": \"approved\"}", ["event", "log", "verdict", "--key", "k"]).ok();
    env.run(["error", "resolve", "--message", "boom 7", "--solution", "wait"]).ok();
    let assemble = ["assemble", "--role", "developer", "--group", "P1", "--deliver"];
    env.run(assemble).ok();
    env.run(assemble).ok();
    env
}

/// Without when the periods of `stats` begin and end, which depends on when it is asked.
fn timeless(mut answer: Value) -> Value {
    for period in answer["stats"]["use_over_time"].as_array_mut().into_iter().flatten() {
        period["from"] = Value::Null;
        period["until"] = Value::Null;
    }
    answer
}

#[test]
fn reads_match_the_json_of_the_command_line() {
    let env = filled();
    let service = Service::start(&env, &[]);
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    let id = receipts["receipts"][0]["id"].as_str().unwrap().to_owned();
    let (show, diff) = (format!("/receipts/{id}"), format!("/receipts/{id}/diff"));
    let pairs: &[(&str, &[&str])] = &[
        ("/sessions", &["session", "list"]),
        ("/sessions?status=active", &["session", "list", "--status", "active"]),
        ("/sessions/s1", &["session", "show", "s1"]),
        ("/sessions/s1/groups", &["group", "list"]),
        ("/sessions/s1/groups/P1", &["group", "show", "P1"]),
        ("/sessions/s1/packages", &["package", "list"]),
        ("/sessions/s1/packages?all_versions=true", &["package", "list", "--all-versions"]),
        ("/packages/2?body", &["package", "show", "2", "--body"]),
        ("/sessions/s1/search?q=oauth+tokens", &["search", "oauth", "tokens", "--session", "s1"]),
        ("/sessions/s1/reasoning?role=developer", &["reasoning", "list", "--role", "developer"]),
        ("/sessions/s1/events?type=verdict", &["event", "list", "--type", "verdict"]),
        ("/receipts", &["receipt", "list"]),
        (&show, &["receipt", "show", &id]),
        (&diff, &["receipt", "diff", &id]),
        ("/errors", &["error", "list"]),
        ("/strategies", &["strategy", "list"]),
        ("/stats", &["stats"]),
    ];
    for (path, args) in pairs {
        let response = service.get(&format!("/api/v1{path}")).is(200).json();
        let printed = env.run(args.iter().chain(&["--json"])).ok().json();
        assert_eq!(timeless(response), timeless(printed), "{path}");
    }
    let openapi = service.get("/api/v1/openapi.json").is(200).json();
    assert_eq!(openapi["openapi"], "3.1.0");
}

#[test]
fn runs_match_the_json_of_the_command_line() {
    let epic = Epic::new(&["1-1-cart"]);
    epic.run(&[]).ok();
    let service = Service::start(&epic.env, &[]);
    let same = |path: &str, args: &[&str]| {
        let mut response = service.get(&format!("/api/v1{path}")).is(200);
        response.body = response.body.replace(&epic.env.folder().display().to_string(), "[ROOT]");
        let printed = epic.env.run(args.iter().chain(&["--json"])).ok().json();
        assert_eq!(timeless(response.json()), timeless(printed), "{path}");
        response.json()
    };
    let status = same("/status", &["status"]);
    let run = status["run"]["id"].as_str().unwrap();
    same(&format!("/runs/{run}"), &["status", run]);
    same(&format!("/runs/{run}/journal"), &["journal", run]);
    let runs = service.get("/api/v1/runs?epic=1").is(200).json();
    assert_eq!(runs["runs"][0]["id"], run);
    let stats = same("/stats", &["stats"]);
    let roles = stats["stats"]["cost"]["by_role"].as_object().unwrap();
    assert!(roles.contains_key("developer") && roles.contains_key("tech_lead"), "{stats}");
}

#[test]
fn callers_register_documents_only() {
    let env = project();
    env.write(".env", "PASSWORD=hunter2hunter2\n");
    env.write("deploy/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    env.write("src/main.rs", "fn main() {}\n");
    env.write("docs/a.md", "# A\n## Summary\nIt is.\n");
    std::os::unix::fs::symlink(env.path(".env"), env.path("docs/b.md")).unwrap();
    let service = Service::start(&env, &[]);
    let register = |path: &str| {
        let body = json!({"path": path, "kind": "research", "summary": "s"});
        service.post("/api/v1/sessions/s1/packages", &body)
    };
    for path in [".env", "deploy/id_ed25519", "src/main.rs", "docs/b.md", ".git/config"] {
        let reply = register(path);
        assert!((400..500).contains(&reply.status), "{path}: {}", reply.status);
    }
    assert_eq!(register(".env").is(400).json()["error"]["code"], "invalid_package");
    assert!((200..300).contains(&register("docs/a.md").status));
    let listed = env.run(["package", "list", "--json"]).ok().json();
    assert_eq!(listed["packages"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn half_a_character_is_read_and_long_input_is_not_repeated() {
    let env = project();
    let service = Service::start(&env, &[]);
    let body = r##"{"text": "# A\n\ud83d half", "kind": "research", "summary": "s"}"##;
    let json = [("Content-Type", "application/json")];
    let saved = service.send("POST", "/api/v1/sessions/s1/packages", &json, body);
    assert!((200..300).contains(&saved.status), "{}", saved.body);
    let long = json!({"text": "# A", "kind": "x".repeat(1_000_000), "summary": "s"});
    let reply = service.post("/api/v1/sessions/s1/packages", &long).is(400);
    assert!(reply.body.len() < 2_000, "{} bytes", reply.body.len());
}

/// A file that cannot be registered is a mistake of the request, not a failure of the service.
#[test]
fn a_package_that_cannot_be_registered_is_400() {
    let env = project();
    let service = Service::start(&env, &[]);
    for path in ["docs/none.md", "../outside.md", "docs"] {
        let body = serde_json::json!({"path": path, "kind": "research"});
        let error = service.post("/api/v1/sessions/s1/packages", &body).is(400).json();
        assert_eq!(error["error"]["code"], "invalid_package", "{path}: {error}");
    }
}
