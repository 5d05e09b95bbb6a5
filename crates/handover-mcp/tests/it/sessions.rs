//! Which session a request belongs to.

use serde_json::json;

use crate::fixture::TestServer;

#[test]
fn without_an_active_session_tools_say_what_to_do() {
    let server = TestServer::with(|_| {});
    let error = server.fails("status", json!({}));
    assert!(error.contains("0 active sessions") && error.contains("Pass `session`"), "{error}");
    let (code, message) = server.error("resources/list", json!({}));
    assert!(code == -32602 && message.contains("0 active sessions"), "{message}");
    // Errors belong to the project.
    let reported = server.call("report_error", json!({"message": "boom", "group": "ignored"}));
    assert_eq!(reported["pattern"]["occurrences"], 1);
    let error = server.fails("report_error", json!({"message": "boom", "session": "none"}));
    assert!(error.contains("there is no session `none`"), "{error}");
}

#[test]
fn one_of_several_sessions_must_be_named() {
    let server = TestServer::new();
    assert_eq!(server.call("status", json!({}))["session"], "s1");
    server.open_session("s2");
    assert!(server.fails("status", json!({})).contains("2 active sessions"));
    assert_eq!(server.call("status", json!({"session": "s2"}))["session"], "s2");
    let error = server.fails("status", json!({"session": "none"}));
    assert!(error.contains("there is no session `none`"), "{error}");
}

#[test]
fn a_server_started_for_a_session_serves_no_other() {
    let server = TestServer::bound("s1", None);
    server.open_session("s2");
    assert_eq!(server.call("status", json!({}))["session"], "s1");
    assert_eq!(server.call("status", json!({"session": "s1"}))["session"], "s1");
    let error = server.fails("status", json!({"session": "s2"}));
    assert!(error.contains("this server is for session `s1`"), "{error}");
}

#[test]
fn packages_of_another_session_are_not_readable() {
    let server = TestServer::new();
    server.call("save_package", json!({"text": "# A\n\nb", "kind": "research"}));
    server.open_session("s2");
    let error = server.fails("read_package", json!({"id": 1, "session": "s2"}));
    assert!(error.contains("session"), "{error}");
    server.call("read_package", json!({"id": 1, "session": "s1"}));
}
