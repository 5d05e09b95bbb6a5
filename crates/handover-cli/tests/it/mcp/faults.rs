//! Faults that the server survives.

use std::process::Command;

use handover_testkit::Lock;
use serde_json::json;

use super::{BOTH, Client, Generation};
use crate::{empty, project};

#[test]
fn survives_malformed_messages() {
    let env = project();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        for line in ["", "not json", "{\"jsonrpc\":", "\u{0}\u{1}", "\"text\""] {
            client.send_raw(line);
        }
        // A batch is no message of either generation.
        client.send_raw("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
        loop {
            let line = client.line();
            assert!(line["id"].is_null(), "{line}");
            if line["error"]["code"] == -32600 {
                break;
            }
        }
        assert_eq!(client.error("no/such", json!({})).0, -32601);
        let params = json!({"name": "status", "arguments": "text"});
        assert_eq!(client.error("tools/call", params).0, -32602);
        assert_eq!(client.error("tools/call", json!({})).0, -32602);
        client.call("status", json!({}));
        assert_eq!(client.leave().0, Some(0));
    }
}

#[test]
fn rejects_oversized_input() {
    let env = project();
    let mut client = Client::new(&env, Generation::Inline);
    let text = "many words ".repeat(500_000);
    let message = client.refused("save_package", json!({"text": text, "kind": "research"}));
    assert!(message.contains("the limit is 5000000"), "{message}");
    let message = client.refused(
        "record_reasoning",
        json!({"role": "developer", "phase": "risks", "content": text}),
    );
    assert!(message.contains("the limit is 100000") && message.contains("package"), "{message}");
    // A line that no memory should hold is dropped.
    client.send_raw(&format!("{{\"text\":\"{}\"}}", "x".repeat(17 << 20)));
    client.call("status", json!({}));
    let (code, stderr) = client.leave();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("maximum line length"), "{stderr}");
}

#[test]
fn recovers_when_a_broken_store_is_repaired() {
    let env = project();
    let store = env.path(".handover/store.db");
    let parts =
        ["store.db", "store.db-wal", "store.db-shm"].map(|name| env.path(".handover").join(name));
    let aside = env.folder().join("aside");
    fs_err::create_dir(&aside).unwrap();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        client.call("status", json!({}));
        for part in parts.iter().filter(|part| part.exists()) {
            fs_err::rename(part, aside.join(part.file_name().unwrap())).unwrap();
        }
        fs_err::write(&store, "This is no database, and long enough to be looked at.".repeat(100))
            .unwrap();
        for tool in ["status", "search", "brief", "save_package"] {
            let arguments = match tool {
                "search" => json!({"query": "x"}),
                "brief" => json!({"role": "developer"}),
                "save_package" => json!({"text": "x", "kind": "research"}),
                _ => json!({}),
            };
            let message = client.refused(tool, arguments);
            assert!(message.contains("is not a Handover store"), "{message}");
        }
        assert_eq!(client.error("resources/list", json!({})).0, -32602);
        client.result("tools/list", json!({}));
        for part in &parts {
            let _ = fs_err::remove_file(part);
            let _ = fs_err::rename(aside.join(part.file_name().unwrap()), part);
        }
        client.call("status", json!({}));
    }
}

#[test]
fn a_brief_does_not_wait_for_a_locked_store() {
    let env = project();
    let add = ["reasoning", "add", "--role", "developer", "--phase", "decisions", "Tokens rotate."];
    env.run(add).ok();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        let arguments = json!({"role": "qa_expert", "task": "Check the tokens"});
        let lock = Lock::take(&env);
        let brief = client.call("brief", arguments.clone());
        let asked = json!({"name": "brief", "arguments": arguments});
        let prompt = client.result("prompts/get", asked)["messages"].to_string();
        lock.release();
        for text in [brief["text"].as_str().unwrap(), &prompt] {
            assert!(text.contains("Tokens rotate.") && text.contains("Check the tokens"), "{text}");
        }
        let waiting = env.path(".handover/spool");
        assert_eq!(fs_err::read_dir(&waiting).unwrap().count(), 2);
        // The next one takes them in.
        client.call("brief", json!({"role": "qa_expert"}));
        assert_eq!(fs_err::read_dir(&waiting).unwrap().count(), 0);
        let receipt = brief["receipt"].as_str().unwrap();
        let kept = env.run(["receipt", "show", receipt, "--json"]).ok().json();
        assert_eq!(kept["receipt"]["state"], "delivered", "{kept}");
    }
}

#[test]
fn names_the_next_step_outside_a_project() {
    let env = empty();
    let mut client = Client::new(&env, Generation::Handshake);
    let message = client.refused("status", json!({}));
    assert!(message.contains("handover init"), "{message}");
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    client.call("status", json!({}));
}

#[test]
fn answers_many_concurrent_requests() {
    let env = project();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        client.call("status", json!({}));
        let ids: Vec<u64> = (0..60)
            .map(|n| {
                let thought =
                    json!({"role": "developer", "phase": "risks", "content": format!("{n}")});
                client.ask("tools/call", json!({"name": "record_reasoning", "arguments": thought}))
            })
            .collect();
        let mut answered: Vec<u64> =
            (0..60).map(|_| client.line()["id"].as_u64().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, ids);
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!(counts["reasoning"], 120);
}

#[test]
fn exits_when_the_client_disconnects() {
    let env = project();
    let silent = Client::silent(env.command().arg("mcp"), Generation::Handshake);
    assert_eq!(silent.leave(), (Some(0), String::new()));
    // What was asked before is still done and answered.
    let mut client = Client::new(&env, Generation::Inline);
    let thought = json!({"role": "developer", "phase": "risks", "content": "last words"});
    let id = client.ask("tools/call", json!({"name": "record_reasoning", "arguments": thought}));
    drop(client.stdin.take());
    assert_eq!(client.answer(id)["result"]["isError"], false);
    assert_eq!(client.wait(), (Some(0), String::new()));
}

#[test]
fn exits_on_a_signal() {
    let env = project();
    for generation in BOTH {
        for signal in ["-TERM", "-INT"] {
            let mut client = Client::new(&env, generation);
            client.call("status", json!({}));
            let pid = client.child.id().to_string();
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
            assert_eq!(client.wait(), (Some(0), String::new()), "{signal}");
        }
    }
}
