//! Resources in both generations of the protocol. Lists and prompts are tested in handover-mcp.

use handover_testkit::FakeAgent;
use serde_json::{Value, json};

use super::{BOTH, Client, Generation};
use crate::project;

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
fn a_receipt_says_what_became_of_its_items() {
    let env = project();
    for name in ["a", "b"] {
        let path = format!("docs/{name}.md");
        env.write(&path, format!("# Title\n## Summary\nWhat {name} is about.\n"));
        env.run(["package", "add", &path, "--kind", "research", "--priority", "high"]).ok();
    }
    let command = format!("{} print \"docs/a.md tells how\"", FakeAgent::program().display());
    let spawn = ["spawn", "--host", "command", "--agent-command", &command, "--role", "developer"];
    let spawned = env.run([&spawn[..], &["--task", "Refresh tokens", "--json"]].concat()).ok();
    let uri = format!("handover://receipt/{}", spawned.json()["receipt"].as_str().unwrap());
    for generation in BOTH {
        let mut client = Client::with(&env, generation, &["--session", "s1"]);
        let read = client.result("resources/read", json!({"uri": uri}));
        let text = read["contents"][0]["text"].as_str().unwrap();
        let receipt: Value = serde_json::from_str(text).unwrap();
        let items = receipt["items"].as_array().unwrap();
        let mut uses: Vec<&str> = items.iter().map(|item| item["use"].as_str().unwrap()).collect();
        uses.sort_unstable();
        assert_eq!(uses, ["named", "unused"], "{receipt}");
    }
}
