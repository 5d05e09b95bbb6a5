//! Packages and receipts as resources, briefs as prompts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{BOTH, Client, Generation};
use crate::project;

#[test]
fn lists_every_resource_once_in_pages() {
    let env = project();
    let lines: String = (0..120)
        .map(|n| {
            let line = json!({"kind": "research", "producer": "developer", "priority": "low",
                              "summary": format!("Finding {n}"), "body": format!("# Finding {n}\ntext {n}")});
            format!("{line}\n")
        })
        .collect();
    env.write("import.jsonl", lines);
    env.run(["package", "import", "import.jsonl"]).ok();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        for role in ["developer", "qa_expert"] {
            client.call("brief", json!({"role": role}));
        }
        let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let page = client.result("resources/list", params);
            let resources = page["resources"].as_array().unwrap();
            assert!((1..=50).contains(&resources.len()));
            seen.extend(resources.iter().map(|r| r["uri"].as_str().unwrap().to_owned()));
            pages += 1;
            // Somebody writes while somebody reads: nothing comes twice, nothing is missed.
            if pages == 1 {
                client.call(
                    "save_package",
                    json!({"text": format!("{generation:?}"), "kind": "research"}),
                );
            }
            cursor = page.get("nextCursor").cloned().unwrap_or_default();
            if cursor.is_null() {
                break;
            }
        }
        let unique: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(unique.len(), seen.len());
        let packages = seen.iter().filter(|uri| uri.starts_with("handover://package/")).count();
        let receipts = seen.iter().filter(|uri| uri.starts_with("handover://receipt/")).count();
        let earlier = usize::from(generation == Generation::Inline);
        assert_eq!((packages, receipts), (120 + earlier, 2 + 2 * earlier));
        // Every address can be read.
        for uri in [&seen[0], seen.last().unwrap()] {
            let read = client.result("resources/read", json!({"uri": uri}));
            assert_eq!(read["contents"][0]["uri"], **uri);
            assert!(!read["contents"][0]["text"].as_str().unwrap().is_empty());
        }
    }
}

#[test]
fn resources_belong_to_a_session_and_have_no_secrets() {
    let env = project();
    env.write("docs/a.md", "# Key\npassword=hunter2sEcret\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    env.run(["session", "new", "other"]).ok();
    env.run(["package", "add", "docs/a.md", "--kind", "research", "--session", "other"]).ok();
    for generation in BOTH {
        let mut client = Client::with(&env, generation, &["--session", "s1"]);
        let read = client.result("resources/read", json!({"uri": "handover://package/1"}));
        let contents = &read["contents"][0];
        assert_eq!(contents["mimeType"], "text/markdown");
        assert!(contents["text"].as_str().unwrap().contains("password=[REDACTED-1]"));
        let receipt = client.call("brief", json!({"role": "developer"}))["receipt"].clone();
        let uri = format!("handover://receipt/{}", receipt.as_str().unwrap());
        let read = client.result("resources/read", json!({"uri": uri}));
        let text: Value =
            serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&text["id"], &text["state"]), (&receipt, &json!("delivered")));

        let code = if generation == Generation::Inline { -32602 } else { -32002 };
        for uri in [
            "handover://package/2",
            "handover://package/99",
            "handover://package/x",
            "handover://package/",
            "handover://receipt/nope",
            "handover://other/1",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(client.error("resources/read", json!({"uri": uri})).0, code, "{uri}");
        }
        for cursor in ["x", "package:x", "receipt:a b"] {
            assert_eq!(client.error("resources/list", json!({"cursor": cursor})).0, -32602);
        }
        let templates = client.result("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "handover://package/{id}");
        assert_eq!(templates["resourceTemplates"][1]["uriTemplate"], "handover://receipt/{id}");
    }
}

#[test]
fn prompts_require_a_role() {
    let env = project();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        let prompts = client.result("prompts/list", json!({}));
        assert_eq!(prompts["prompts"][0]["name"], "brief");
        assert_eq!(
            prompts["prompts"][0]["arguments"][0],
            json!({
                "name": "role", "required": true,
                "description": "Who will work, such as developer or qa_expert",
            })
        );
        for (params, expected) in [
            (json!({"name": "brief"}), "`role` is missing"),
            (json!({"name": "brief", "arguments": {"role": "Q A"}}), "not a valid role"),
            (
                json!({"name": "brief", "arguments": {"role": "developer", "mood": "x"}}),
                "no argument `mood`",
            ),
            (json!({"name": "nope"}), "there is no prompt `nope`"),
        ] {
            let (code, message) = client.error("prompts/get", params);
            assert!(code == -32602 && message.contains(expected), "{message}");
        }
        for method in ["tools/list", "prompts/list", "resources/templates/list"] {
            assert_eq!(client.error(method, json!({"cursor": "2"})).0, -32602, "{method}");
        }
    }
}
