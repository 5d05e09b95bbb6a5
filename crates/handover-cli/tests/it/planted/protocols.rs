//! Hooks, MCP and HTTP.

use handover_testkit::Service;
use serde_json::{Map, Value, json};

use super::commands::debrief;
use super::{Planted, list_everything};
use crate::mcp::{Client, Generation};
use crate::project;

#[test]
fn hooks() {
    let env = project();
    let mut planted = Planted::default();
    for host in ["claude", "codex"] {
        let p = &mut planted;
        let mut field = |name: &str| p.token(&format!("{host} hook, {name}"));
        let base = json!({
            "session_id": field("session"), "cwd": env.path(""), "model": field("model"),
            "transcript_path": format!("{}/{}.jsonl", env.folder().display(), field("transcript")),
        });
        let kind = field("type");
        let mut events = vec![
            json!({"hook_event_name": "SessionStart", "source": field("source")}),
            json!({"hook_event_name": "SessionStart", "source": "startup"}),
            json!({"hook_event_name": "UserPromptSubmit", "prompt": field("prompt")}),
            json!({"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_use_id": field("tool use"),
                   "tool_input": {"prompt": "work", "description": "d", "subagent_type": kind.clone()}}),
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
                   "tool_input": {"command": field("command")},
                   "tool_response": {"stdout": field("output"), "stderr": format!("Error: {}", field("error")), "exit_code": 1}}),
            json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "t2",
                   "tool_input": {"command": field("command 2")}, "error": format!("Error: {}", field("error 2"))}),
            json!({"hook_event_name": "SubagentStart", "agent_id": field("agent"), "agent_type": field("agent type")}),
            json!({"hook_event_name": "PreCompact", "trigger": field("trigger"), "custom_instructions": field("instructions")}),
            json!({"hook_event_name": field("event")}),
            json!({"hook_event_name": "SessionEnd", "reason": field("reason")}),
        ];
        let broken = format!("{{\"broken {}", field("broken"));
        let message = debrief(p, &format!("{host} hook, last message"));
        events.push(json!({"hook_event_name": "SubagentStop", "agent_id": p.token(&format!("{host} hook, agent 2")),
                           "agent_type": "developer", "last_assistant_message": message}));
        for event in events {
            let mut whole = base.clone();
            whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
            let mut output = env.run_with(whole.to_string(), ["hook", host]);
            if whole["hook_event_name"] == "PreToolUse" {
                // The program gets its own input back, with another prompt.
                output.stdout = output.stdout.replace(kind.as_str(), "");
            }
            p.output("hook", &output);
        }
        let output = env.run_with(broken, ["hook", host]);
        p.output("hook", &output);
    }
    list_everything(&mut planted, &env);
    planted.nowhere(&env);
}

/// An argument of each tool for every text that it takes, by its schema.
fn filled(p: &mut Planted, tool: &str, schema: &Value, path: &str) -> Value {
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default();
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match kind {
        "object" => {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            let fields = fields.iter().map(|(name, inner)| {
                (name.clone(), filled(p, tool, inner, &format!("{path}.{name}")))
            });
            Value::Object(fields.collect::<Map<_, _>>())
        }
        "array" => json!([filled(p, tool, &schema["items"], &format!("{path}[]"))]),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        _ => p.token(&format!("{tool}{path}")).into(),
    }
}

#[test]
fn mcp() {
    let env = project();
    let mut planted = Planted::default();
    let mut client = Client::new(&env, Generation::Inline);
    let tools = client.result("tools/list", json!({}))["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let fields = tool["inputSchema"]["properties"].as_object().unwrap().clone();
        // One field after the other, beside good values, and all of them at once.
        let good = json!({
            "role": "developer", "task": "work", "text": "# Text\n", "kind": "research", "query": "text",
            "phase": "decisions", "message": "boom", "verdict": "complete", "summary": "done", "id": 1,
        });
        let good = |key: &String| (key.clone(), good[key].clone());
        let wanted: Vec<String> =
            serde_json::from_value(tool["inputSchema"]["required"].clone()).unwrap_or_default();
        for (field, schema) in &fields {
            let mut arguments: Map<String, Value> = wanted.iter().map(good).collect();
            arguments
                .insert(field.clone(), filled(&mut planted, name, schema, &format!(".{field}")));
            let answer =
                client.request("tools/call", json!({"name": name, "arguments": arguments}));
            // The prompt that was asked for has the task in it.
            let is_prompt = name == "brief" && field == "task";
            if is_prompt {
                planted.secrets.pop();
            }
            planted.printed(&format!("tool {name} with {field}"), answer.to_string());
        }
    }
    for (method, params) in [
        ("tools/call", json!({"name": planted.token("tool"), "arguments": {}})),
        ("prompts/get", json!({"name": planted.token("prompt")})),
        ("resources/read", json!({"uri": format!("handover://{}", planted.token("resource"))})),
        ("tools/call", json!({"name": "search", "arguments": {planted.token("argument"): 1}})),
    ] {
        let answer = client.request(method, params);
        planted.printed(method, answer.to_string());
    }
    let (_, stderr) = client.leave();
    planted.printed("mcp", stderr);
    list_everything(&mut planted, &env);
    planted.nowhere(&env);
}

#[test]
fn http() {
    let env = project();
    let mut planted = Planted::default();
    let service = Service::start(&env, &[]);
    let p = &mut planted;
    let message = debrief(p, "API debrief");
    let mut field = |name: &str| p.token(&format!("API, {name}"));
    let bodies = [
        ("/sessions", json!({"id": field("session")})),
        ("/sessions", json!({"id": "s9", "metadata": {field("metadata key"): field("metadata")}})),
        ("/sessions/s1/groups", json!({"id": field("group")})),
        ("/sessions/s1/groups", json!({"id": "g1", "title": field("title")})),
        ("/sessions/s1/events", json!({"type": field("type"), "payload": {}})),
        (
            "/sessions/s1/events",
            json!({"type": "note", "key": field("key"), "payload": {field("payload key"): field("payload")}}),
        ),
        (
            "/sessions/s1/reasoning",
            json!({"role": "developer", "phase": "decisions", "text": field("reasoning")}),
        ),
        (
            "/sessions/s1/reasoning",
            json!({"role": field("role"), "phase": "decisions", "text": "x"}),
        ),
        (
            "/sessions/s1/reasoning",
            json!({"role": "developer", "phase": field("phase"), "text": "x"}),
        ),
        (
            "/sessions/s1/reasoning",
            json!({"role": "developer", "phase": "decisions", "agent_id": field("agent"), "text": "x"}),
        ),
        ("/sessions/s1/packages", json!({"path": field("path")})),
        ("/sessions/s1/debrief", json!({"role": "developer", "text": message})),
        (
            "/sessions/s1/debrief",
            json!({"role": "developer", "agent_id": field("agent 2"), "text": "x"}),
        ),
        ("/sessions/s1/assemble", json!({"role": "developer", "task": field("task")})),
        ("/sessions/s1/brief", json!({"role": field("role 2"), "task": "x"})),
    ];
    let listed = service.get("/api/v1/openapi.json").is(200).json();
    for (path, body) in bodies {
        let reply = service.post(&format!("/api/v1{path}"), &body);
        p.printed(&format!("POST {path}"), format!("{:?} {}", reply.headers, reply.body));
    }
    // Every address that takes an id gets one.
    for (path, _) in listed["paths"].as_object().unwrap() {
        let token = p.token(&format!("address {path}"));
        let mut address = path.clone();
        while let (Some(from), Some(to)) = (address.find('{'), address.find('}')) {
            address.replace_range(from..=to, &token);
        }
        let address = format!("{address}?q={token}&type={token}&role={token}");
        for method in ["GET", "POST"] {
            let body = json!({token.clone(): 1}).to_string();
            let reply =
                service.send(method, &address, &[("content-type", "application/json")], &body);
            p.printed(&format!("{method} {path}"), reply.body);
        }
    }
    pages(p, &service);
    let output = service.stop(&env);
    p.output("serve", &output);
    list_everything(p, &env);
    planted.nowhere(&env);
}

/// Every page of the dashboard, with a secret for each id in its address and for everything that it can be asked. Its
/// own address is in the links of a page, so only what it shows is looked at.
fn pages(p: &mut Planted, service: &Service) {
    const ASKED: [&str; 14] = [
        "q", "kind", "role", "state", "sort", "order", "since", "page", "trust", "group", "about",
        "path", "by", "zoom",
    ];
    let table = include_str!("../../../../../docs/dashboard.md").lines();
    let cells = table.filter_map(|line| line.strip_prefix("| `/")?.split(" |").next());
    let paths: Vec<String> = cells
        .flat_map(|cell| cell.split(", "))
        .map(|path| format!("/{}", path.trim_matches(['`', '/'])))
        .collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        let token = p.token(&format!("page {path}"));
        let asked = ASKED.map(|name| format!("{name}={token}")).join("&");
        let with_id = path.replace("ID", &token);
        let below = format!("{with_id}/{token}");
        for address in [&path, &with_id, &below] {
            for address in [address.clone(), format!("{address}?{asked}")] {
                let reply = service.get(&address);
                p.printed(&format!("page {path}"), without_tags(&reply.body));
            }
        }
    }
}

fn without_tags(page: &str) -> String {
    let shown = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, shown)| shown));
    shown.collect::<Vec<_>>().join(" ")
}
