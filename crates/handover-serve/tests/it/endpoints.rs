//! Every endpoint of the API, from its own OpenAPI document: rights, unknown parameters, malformed bodies,
//! records of another project. Also the error codes for what a store or a file rejects.

use handover_model::{TokenKind, TokenScope};
use handover_store::Sessions;
use serde_json::{Value, json};

use crate::fixture::{Reply, TestService, bearer};

struct Operation {
    method: String,
    path: String,
    /// An example of the body; null for GET.
    example: Value,
    query: Vec<String>,
}

impl Operation {
    fn send(&self, service: &TestService, token: Option<&str>, query: &str, body: &str) -> Reply {
        let bearer = token.map(bearer);
        let mut headers = Vec::new();
        if let Some(bearer) = &bearer {
            headers.push(("authorization", bearer.as_str()));
        }
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        service.send(&self.method.to_uppercase(), &format!("{}{query}", self.path), &headers, body)
    }

    fn body(&self) -> String {
        if self.example.is_null() { String::new() } else { self.example.to_string() }
    }
}

/// Every operation, with the ids of records that do not exist except for session `s1`.
fn operations(service: &TestService, token: Option<&str>) -> Vec<Operation> {
    let path = "/api/v1/openapi.json";
    let document = token.map_or_else(|| service.get(path), |token| service.get_as(token, path));
    let document = document.is(200).json();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path
            .replace("{session}", "s1")
            .replace("{group}", "g")
            .replace("{package}", "1")
            .replace("{receipt}", "r_none")
            .replace("{run}", "run_none");
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let query = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| parameter["name"].as_str().unwrap().to_owned());
            operations.push(Operation {
                method: method.clone(),
                path: path.clone(),
                example: operation["requestBody"]["content"]["application/json"]["example"].clone(),
                query: query.collect(),
            });
        }
    }
    assert!(operations.len() > 20, "{}", operations.len());
    operations
}

fn save(service: &TestService, body: Value) -> Reply {
    service.post("/api/v1/sessions/s1/packages", &body)
}

#[test]
fn nothing_is_returned_without_a_token() {
    let service = TestService::requiring_tokens();
    let reader = service.token(TokenScope::Read);
    let expired = service.token_for(TokenScope::Admin, Some("shop"), TokenKind::Bearer, Some(10));
    service.contexts.advance(11);
    for operation in operations(&service, Some(&reader)) {
        let body = operation.body();
        operation.send(&service, None, "", &body).fails(401, "unauthorized");
        operation.send(&service, Some(&expired), "", &body).fails(401, "unauthorized");
    }
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning, counts.receipts), (0, 0, 0));
}

#[test]
fn a_read_token_reads_everything_and_writes_nothing() {
    let service = TestService::requiring_tokens();
    let reader = service.token(TokenScope::Read);
    for operation in operations(&service, Some(&reader)) {
        let query = if operation.query.contains(&"q".to_owned()) { "?q=x" } else { "" };
        let reply = operation.send(&service, Some(&reader), query, &operation.body());
        if operation.method == "get" {
            assert!(matches!(reply.status, 200 | 400 | 404), "{}: {}", operation.path, reply.body);
        } else {
            reply.fails(403, "forbidden");
        }
    }
}

#[test]
fn a_token_of_another_project_finds_nothing_of_this_one() {
    let service = TestService::requiring_tokens();
    let own = service.token(TokenScope::Write);
    service
        .post_as(
            &own,
            "/api/v1/sessions/s1/packages",
            &json!({"text": "# Secret plan\n\nx", "kind": "research"}),
        )
        .is(200);
    let other = service.token_for(TokenScope::Admin, Some("other"), TokenKind::Bearer, None);
    for operation in operations(&service, Some(&own)) {
        let query = if operation.query.contains(&"q".to_owned()) { "?q=plan" } else { "" };
        let reply = operation.send(&service, Some(&other), query, &operation.body());
        assert!(!reply.body.contains("Secret plan"), "{}: {}", operation.path, reply.body);
        if operation.path.contains("/s1") || operation.path.ends_with("/packages/1") {
            assert!(matches!(reply.status, 400 | 404), "{}: {}", operation.path, reply.body);
        }
    }
}

#[test]
fn unknown_query_parameters_are_named() {
    let service = TestService::start();
    for operation in operations(&service, None) {
        let reply = operation.send(&service, None, "?colour=red", &operation.body());
        assert_eq!(reply.status, 400, "{} {}: {}", operation.method, operation.path, reply.body);
        let error = reply.json()["error"].clone();
        assert_eq!(error["code"], "invalid_input");
        assert!(error["message"].as_str().unwrap().contains("`colour`"), "{error}");
        // The hint lists the valid ones.
        let hint = error["hint"].as_str().unwrap();
        assert!(operation.query.iter().all(|name| hint.contains(name)), "{hint}");
    }
}

#[test]
fn mistyped_parameters_are_rejected() {
    let service = TestService::start();
    for operation in operations(&service, None) {
        for name in operation.query.iter().filter(|name| {
            [
                "limit",
                "status",
                "all_versions",
                "body",
                "expired",
                "from",
                "oldest_first",
                "phase",
                "role",
                "kind",
            ]
            .contains(&name.as_str())
        }) {
            let query = if operation.query.contains(&"q".to_owned()) { "?q=x&" } else { "?" };
            let reply = operation.send(&service, None, &format!("{query}{name}=%00%20no"), "");
            assert!(matches!(reply.status, 400 | 404), "{} {name}: {}", operation.path, reply.body);
        }
    }
    for limit in ["-1", "4294967296", "1.5", ""] {
        service
            .get(&format!("/api/v1/sessions/s1/packages?limit={limit}"))
            .fails(400, "invalid_input");
    }
    let none = service.get("/api/v1/sessions/s1/packages?limit=0").is(200).json();
    assert_eq!(none["packages"], json!([]));
}

#[test]
fn malformed_bodies_are_rejected_and_change_nothing() {
    let service = TestService::start();
    for operation in
        operations(&service, None).iter().filter(|operation| operation.method == "post")
    {
        let mut unknown = operation.example.clone();
        unknown["colour"] = json!("red");
        let bodies = ["{", "[]", "null", "\"text\"", "7", "{\"role\": \"developer\", \"role\": 7}"];
        for body in bodies.iter().map(|body| (*body).to_owned()).chain([unknown.to_string()]) {
            let reply = operation.send(&service, None, "", &body);
            assert_eq!(reply.status, 400, "{} {body}: {}", operation.path, reply.body);
            assert_eq!(reply.json()["error"]["code"], "invalid_input", "{body}");
        }
        // A body without a content type.
        let plain = service.send("POST", &operation.path, &[("content-type", "text/plain")], "{}");
        plain.fails(400, "invalid_input");
        let empty =
            service.send("POST", &operation.path, &[("content-type", "application/json")], "");
        assert_eq!(empty.status, 400, "{}", operation.path);
    }
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning, counts.receipts), (0, 0, 0));
}

#[test]
fn every_field_of_a_body_rejects_wrong_types() {
    let service = TestService::start();
    for operation in
        operations(&service, None).iter().filter(|operation| operation.method == "post")
    {
        for field in
            operation.example.as_object().unwrap().keys().filter(|field| *field != "payload")
        {
            let mut body = operation.example.clone();
            body[field] = json!([[{"a": 1}]]);
            let reply = operation.send(&service, None, "", &body.to_string());
            assert_eq!(reply.status, 400, "{} {field}: {}", operation.path, reply.body);
        }
    }
}

#[test]
fn a_package_that_cannot_be_registered_is_the_callers_mistake() {
    let service = TestService::start();
    let root = service.contexts.root(None);
    fs_err::create_dir_all(root.join("docs")).unwrap();
    fs_err::write(root.join("docs/binary.md"), [0xff, 0xfe, 0x00]).unwrap();
    fs_err::write(root.join("docs/empty.md"), "").unwrap();
    for (body, code) in [
        (json!({"path": "docs/none.md", "kind": "research"}), "invalid_package"),
        (json!({"path": "docs/binary.md", "kind": "research"}), "invalid_package"),
        (json!({"path": "docs/empty.md", "kind": "research"}), "invalid_package"),
        (json!({"path": "docs", "kind": "research"}), "invalid_package"),
        (json!({"path": "../outside.md", "kind": "research"}), "invalid_package"),
        (json!({"path": "/etc/passwd", "kind": "research"}), "invalid_package"),
        (json!({"text": "x", "kind": "research", "summary": " "}), "invalid_input"),
        (json!({"kind": "research"}), "invalid_input"),
        (json!({"text": "# A\n\nb"}), "invalid_input"),
    ] {
        save(&service, body).fails(400, code);
    }
    let listed = service.get("/api/v1/sessions/s1/packages").is(200).json();
    assert_eq!(listed["packages"], json!([]));
}

#[test]
fn conflicts_are_409() {
    let service = TestService::start();
    save(&service, json!({"text": "# A\n\none", "kind": "research"})).is(200);
    save(&service, json!({"text": "# A\n\ntwo", "supersedes": 1})).is(200);
    save(&service, json!({"text": "# A\n\nthree", "supersedes": 1})).fails(409, "conflict");
    save(&service, json!({"text": "# A\n\nfour", "supersedes": 99, "kind": "research"}))
        .fails(404, "not_found");
    service.open_session(None, "s2");
    let other = json!({"text": "# A\n\nfive", "supersedes": 2, "kind": "research"});
    service.post("/api/v1/sessions/s2/packages", &other).fails(409, "conflict");

    let brief =
        service.post("/api/v1/sessions/s1/brief", &json!({"role": "developer"})).is(200).json();
    let path = format!("/api/v1/receipts/{}", brief["receipt"].as_str().unwrap());
    service.post(&path, &json!({"state": "confirmed"})).fails(409, "conflict");
    service.post(&path, &json!({"state": "delivered"})).is(200);
    service.post(&path, &json!({"state": "delivered"})).is(200);
    service.post(&path, &json!({"state": "failed", "reason": "lost"})).is(200);
    service.post(&path, &json!({"state": "confirmed"})).fails(409, "conflict");
    assert_eq!(service.get(&path).is(200).json()["receipt"]["state"], "failed");
}

#[test]
fn a_store_that_cannot_be_read_is_503_and_recovers() {
    let service = TestService::start();
    let file = service.contexts.file(None);
    let folder = file.parent().unwrap();
    let files: Vec<_> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (fs_err::read(&path).unwrap(), path))
        .collect();
    for (_, path) in &files {
        fs_err::remove_file(path).unwrap();
    }
    fs_err::write(&file, vec![b'x'; 8_192]).unwrap();
    for operation in operations(&service, None) {
        let query = if operation.query.contains(&"q".to_owned()) { "?q=x" } else { "" };
        let reply = operation.send(&service, None, query, &operation.body());
        assert_eq!(reply.status, 503, "{} {}: {}", operation.method, operation.path, reply.body);
    }
    for (bytes, path) in &files {
        fs_err::write(path, bytes).unwrap();
    }
    service.get("/api/v1/sessions/s1").is(200);
}

#[test]
fn errors_never_repeat_a_secret_of_the_request() {
    let service = TestService::start();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for reply in [
        service.get(&format!("/api/v1/sessions/{secret}")),
        service.get(&format!("/api/v1/receipts/{secret}")),
        service.post(
            "/api/v1/sessions/s1/reasoning",
            &json!({"role": secret, "phase": "risks", "content": "x"}),
        ),
        service.post("/api/v1/sessions/s1/brief", &json!({"role": "developer", "group": secret})),
    ] {
        assert!((400..500).contains(&reply.status), "{}", reply.body);
    }
    let logged = json!({"type": "verdict", "payload": {"text": format!("token {secret}")}});
    service.post("/api/v1/sessions/s1/events", &logged).is(200);
    let events = service.get("/api/v1/sessions/s1/events").is(200);
    assert!(!events.body.contains(secret), "{}", events.body);
}
