//! The API: the same JSON as the command line, and clear errors.

use std::io::{Read, Write};
use std::net::TcpStream;

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
        ("/sessions/s1/search?q=oauth+tokens", &["search", "oauth", "tokens"]),
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
        assert_eq!(response, printed, "{path}");
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
        assert_eq!(response.json(), printed, "{path}");
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
fn stores_what_agents_write() {
    let env = project();
    let service = Service::start(&env, &[]);
    let post = |path: &str, body: Value| {
        service.post(&format!("/api/v1/sessions/s1/{path}"), &body).is(200).json()
    };
    let text = "# Gateway\n\nIt times out. password=hunter2sEcret\n";
    let package = json!({"text": text, "kind": "research", "producer": "developer"});
    let saved = post("packages", package);
    assert_eq!(
        (&saved["package"]["created"], &saved["package"]["redactions"]),
        (&json!(true), &json!(1))
    );
    let shown = env.run(["package", "show", "1", "--body", "--json"]).ok().json();
    assert!(shown["package"]["body"].as_str().unwrap().contains("password=[REDACTED-1]"));
    assert_eq!(shown["package"]["file"], "current");
    let thought = json!({"role": "developer", "phase": "risks", "content": "It may hang."});
    assert_eq!(post("reasoning", thought)["reasoning"]["phase"], "risks");
    let event = json!({"type": "verdict", "payload": {"ok": true}, "key": "once"});
    assert_eq!(post("events", event.clone())["event"]["duplicate"], false);
    assert_eq!(post("events", event)["event"]["duplicate"], true);
    let wanted = json!({"role": "qa_expert", "task": "Test the gateway", "deliver": true});
    let assembled = post("assemble", wanted);
    assert!(assembled["markdown"].as_str().unwrap().contains("It times out"), "{assembled}");
    let brief = post("brief", json!({"role": "tech_lead", "task": "Review the gateway"}));
    let receipt = brief["receipt"].as_str().unwrap();
    assert_eq!(brief["state"], "assembled");
    let path = format!("/api/v1/receipts/{receipt}");
    let step = json!({"state": "delivered", "host": "claude"});
    assert_eq!(service.post(&path, &step).is(200).json()["receipt"]["state"], "delivered");
    let last =
        format!("Done.\n```handover\nreceipt: {receipt}\nverdict: complete\nsummary: done\n```\n");
    let kept = post("debrief", json!({"receipt": receipt, "text": last}));
    assert_eq!(kept["debrief"]["verdict"], "complete", "{kept}");
    let shown = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    assert_eq!(shown["receipt"]["state"], "confirmed");
}

#[test]
fn reports_invalid_requests() {
    let env = project();
    let service = Service::start(&env, &[]);
    let json_kind = [("content-type", "application/json")];
    let post = |path: &str, headers: &[(&str, &str)], body: &str| {
        service.send("POST", path, headers, body)
    };
    let reasoning = "/api/v1/sessions/s1/reasoning";
    let cases = [
        (service.get("/api/v1/sessions/nobody"), 404, "not_found"),
        (service.get("/api/v1/sessions/a%2F..%2Fb"), 400, "invalid_input"),
        (service.get("/api/v1/packages/x"), 400, "invalid_input"),
        (service.get("/api/v1/sessions?stauts=active"), 400, "invalid_input"),
        (service.get("/api/v1/sessions?status=nice"), 400, "invalid_input"),
        (service.get("/api/v1/sessions/s1/search?q="), 400, "invalid_input"),
        (service.get("/api/v1/nothing"), 404, "not_found"),
        (post(reasoning, &[("content-type", "text/plain")], "{}"), 400, "invalid_input"),
        (post(reasoning, &json_kind, "{"), 400, "invalid_input"),
        (post(reasoning, &json_kind, "[]"), 400, "invalid_input"),
        (post(reasoning, &json_kind, "{\"role\": \"developer\"}"), 400, "invalid_input"),
        (
            post("/api/v1/sessions/s1/events", &json_kind, "{\"type\": \"v\", \"x\": 1}"),
            400,
            "invalid_input",
        ),
        (post("/api/v1/receipts/r_1", &json_kind, "{\"state\": \"confirmed\"}"), 404, "not_found"),
        (post("/api/v1/store", &json_kind, "{\"call\": 1}"), 400, "invalid_input"),
    ];
    for (n, (reply, status, code)) in cases.into_iter().enumerate() {
        let error = reply.clone().is(status).json();
        assert_eq!(error["error"]["code"], code, "case {n}: {}", reply.body);
        assert!(error["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    }
    // A body that announces too much is not read.
    let head = format!("POST {reasoning} HTTP/1.1\r\nContent-Type: application/json\r\n");
    let large = raw(&service, &format!("{head}Content-Length: 5000000\r\n"));
    assert!(large.starts_with("HTTP/1.1 413 ") && large.contains("too_large"), "{large}");
    let long = format!("GET /health HTTP/1.1\r\nX-Long: {}\r\n", "x".repeat(1_000_000));
    // The connection may be cut before the answer is read.
    let answer = raw(&service, &long);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    service.get("/health").is(200);
}

/// The response to a request head without a body.
fn raw(service: &Service, head: &str) -> String {
    let address = service.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("{head}Host: {address}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}
