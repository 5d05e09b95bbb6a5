//! The protocol itself: lists, prompts, unknown names, broken stores.

use serde_json::json;

use crate::fixture::TestServer;

#[test]
fn tools_are_listed_with_schemas_and_annotations() {
    let server = TestServer::new();
    let listed = server.result("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "status",
            "brief",
            "search",
            "where_to_look",
            "read_package",
            "save_package",
            "record_reasoning",
            "report_error",
            "retire",
            "judge_replacement",
            "debrief"
        ]
    );
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{tool}");
    }
    let read_only = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"]["readOnlyHint"] == true
    };
    assert!(
        read_only("where_to_look")
            && read_only("search")
            && read_only("status")
            && read_only("read_package")
    );
    assert!(!read_only("brief") && !read_only("save_package"));
}

#[test]
fn unknown_tools_prompts_and_methods_are_protocol_errors() {
    let server = TestServer::new();
    let (code, message) = server.error("tools/call", json!({"name": "nope"}));
    assert!(code == -32602 && message.contains("there is no tool `nope`"), "{message}");
    let (code, message) = server.error("prompts/get", json!({"name": "nope"}));
    assert!(code == -32602 && message.contains("there is no prompt `nope`"), "{message}");
    assert_eq!(server.error("nothing/here", json!({})).0, -32601);
    let (code, message) = server.error("tools/call", json!({"name": 7}));
    assert!(code == -32602 && message.contains("tools/call"), "{message}");
}

#[test]
fn prompts_check_their_arguments() {
    let server = TestServer::new();
    let prompts = server.result("prompts/list", json!({}));
    assert_eq!(prompts["prompts"][0]["name"], "brief");
    assert_eq!(prompts["prompts"][0]["arguments"][0]["required"], true);
    for (arguments, expected) in [
        (json!({}), "`role` is missing"),
        (json!({"role": ""}), "`role` is missing"),
        (json!({"role": 7}), "`role` is not a string"),
        (json!({"role": "Q A"}), "not a valid role"),
        (json!({"role": "developer", "mood": "x"}), "no argument `mood`"),
        (json!({"role": "developer", "group": "a b"}), "not a valid group"),
    ] {
        let params = json!({"name": "brief", "arguments": arguments});
        let (code, message) = server.error("prompts/get", params);
        assert!(code == -32602 && message.contains(expected), "{message}");
    }
}

#[test]
fn a_broken_store_is_an_error_until_it_is_repaired() {
    let server = TestServer::new();
    let file = server.path(".handover/store.db");
    // The write-ahead log may hold what the file does not.
    let entries = fs_err::read_dir(server.path(".handover")).unwrap();
    let good: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (fs_err::read(&path).unwrap(), path))
        .collect();
    for (_, path) in &good {
        fs_err::remove_file(path).unwrap();
    }
    fs_err::write(&file, vec![b'x'; 8_192]).unwrap();
    let error = server.fails("status", json!({}));
    assert!(error.contains("handover doctor"), "{error}");
    for (bytes, path) in &good {
        fs_err::write(path, bytes).unwrap();
    }
    assert_eq!(server.call("status", json!({}))["session"], "s1");
}
