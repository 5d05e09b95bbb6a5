//! Starting, health, pages, ending.

use std::io::Write;
use std::net::TcpListener;

use handover_testkit::Service;
use serde_json::{Value, json};

use crate::project;

#[test]
fn serves_health_and_a_page() {
    let env = project();
    let service = Service::start(&env, &[]);
    assert!(service.url.starts_with("http://127.0.0.1:"), "{}", service.url);
    let health = service.get("/health").is(200).json();
    assert_eq!(health["health"]["status"], "ok");
    let page = service.get("/").is(200);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.body.contains("Handover"), "{}", page.body);
    service.get("/no/such/page").is(404);
    service.send("DELETE", "/", &[], "").is(405);
}

#[test]
fn shuts_down_gracefully() {
    let env = project();
    let service = Service::start(&env, &[]);
    let note = env.path(".handover/service.json");
    let contents: Value = serde_json::from_str(&fs_err::read_to_string(&note).unwrap()).unwrap();
    assert_eq!(contents["url"], format!("{}/", service.url));
    assert_eq!(contents["pid"], service.pid());
    let output = service.stop(&env).ok();
    assert_eq!(output.stderr, "");
    assert!(!note.exists());
}

#[test]
fn reports_a_port_that_is_taken() {
    let env = project();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = env.run(["serve", "--port", &port, "--json"]).fails(5).error();
    assert_eq!(error["code"], "cannot_listen");
    assert_eq!(error["message"], format!("port {port} of 127.0.0.1 is already in use"));
}

/// A store that is broken, removed, or repaired while the service runs.
#[test]
fn health_reflects_the_store() {
    let env = project();
    let service = Service::start(&env, &[]);
    service.get("/health").is(200);
    let store = env.path(".handover/store.db");
    let good = fs_err::read(&store).unwrap();
    let mut file = fs_err::OpenOptions::new().write(true).open(&store).unwrap();
    file.write_all(&[b'x'; 8_192]).unwrap();
    drop(file);
    let health = service.get("/health").is(503).json();
    assert_eq!(health["health"]["status"], "broken");
    assert_eq!(health["health"]["code"], "store_foreign");
    fs_err::remove_file(&store).unwrap();
    let health = service.get("/health").is(503).json();
    assert_eq!(health["health"]["code"], "no_store");
    assert!(!store.exists(), "a service makes no store");
    fs_err::write(&store, good).unwrap();
    assert_eq!(service.get("/health").is(200).json()["health"]["status"], json!("ok"));
}
