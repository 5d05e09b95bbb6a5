//! Both generations of the protocol.

use serde_json::{Value, json};

use super::{BOTH, Client, Generation};
use crate::project;

#[test]
fn handshake_negotiates_a_version() {
    let env = project();
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut client = Client::silent(env.command().arg("mcp"), Generation::Handshake);
        let answer = client.greet(asked);
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "handover");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["capabilities"], json!({"prompts": {}, "resources": {}, "tools": {}}));
        assert!(result["instructions"].as_str().unwrap().len() < 2_000);
        client.result("ping", json!({}));
        client.call("status", json!({}));
    }
}

#[test]
fn requests_without_a_handshake_are_self_contained() {
    let env = project();
    let mut client = Client::new(&env, Generation::Inline);
    let found = client.result("server/discover", json!({}));
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2025-11-25")));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "handover");
    assert!(found["instructions"].as_str().unwrap().contains("`debrief`"));

    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let result = client.result(method, json!({}));
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["ttlMs"].is_u64(), "{method}");
        assert_eq!(result["cacheScope"], "private", "{method}");
    }
    let result = client.result("tools/call", json!({"name": "status"}));
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(false)));

    let mut with_meta = |meta: Value| {
        let request =
            json!({"jsonrpc": "2.0", "id": 77, "method": "tools/list", "params": {"_meta": meta}});
        client.send(&request);
        client.answer(77)
    };
    let answer = with_meta(Client::meta("1999-01-01"));
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().len() > 1);
    assert_eq!(with_meta(json!({}))["error"]["code"], -32602);
    // What the new generation no longer has, and what we have not.
    for method in ["ping", "resources/subscribe", "logging/setLevel", "tasks/get"] {
        let params = json!({"uri": "handover://package/1", "level": "info", "taskId": "1"});
        assert_eq!(client.error(method, params).0, -32601, "{method}");
    }
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    assert_eq!(client.error("subscriptions/listen", wanted).0, -32601);
}

#[test]
fn older_clients_see_no_new_fields() {
    let env = project();
    let mut client = Client::new(&env, Generation::Handshake);
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/call", json!({"name": "status"})),
        ("prompts/get", json!({"name": "brief", "arguments": {"role": "developer"}})),
    ] {
        let result = client.result(method, params);
        for field in ["resultType", "ttlMs", "cacheScope"] {
            assert!(result.get(field).is_none(), "{method} has {field}");
        }
    }
}

#[test]
fn tools_are_listed_in_a_fixed_order() {
    let env = project();
    let lists: Vec<Value> = [BOTH, BOTH]
        .concat()
        .into_iter()
        .map(|generation| {
            Client::new(&env, generation).result("tools/list", json!({}))["tools"].clone()
        })
        .collect();
    assert!(lists.iter().all(|list| *list == lists[0]));
    let names: Vec<&str> =
        lists[0].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
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
    for tool in lists[0].as_array().unwrap() {
        assert!(tool["outputSchema"].is_object() && tool["title"].is_string());
        assert!(tool["annotations"]["readOnlyHint"].is_boolean());
    }
}

#[test]
fn accepts_any_first_request() {
    let env = project();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let stray = json!({"jsonrpc": "2.0", "id": 9, "result": {}});
    for generation in BOTH {
        let mut client = Client::silent(env.command().arg("mcp"), generation);
        client.send(&cancelled);
        client.send(&stray);
        // Too little about itself: refused, and nothing is settled by it.
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        assert_eq!(client.answer(1)["error"]["code"], -32602);
        client.send(&cancelled);
        let meta = json!({"_meta": Client::meta("2026-07-28")});
        client
            .send(&json!({"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": meta}));
        assert!(client.answer(2)["result"].is_object());
        client.send(&cancelled);
        if generation == Generation::Handshake {
            client.greet("2025-11-25");
        }
        client.call("status", json!({}));
        client.send(&cancelled);
        client.call("status", json!({}));
        assert_eq!(client.leave(), (Some(0), String::new()));
    }
}
