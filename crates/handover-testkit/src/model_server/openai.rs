//! Responses in the format of OpenAI's response stream.

use serde_json::{Value, json};

/// The events of one response.
pub(super) fn events(text: &str, tools: &[(String, Value)]) -> String {
    let id = format!("resp_{}", super::server::unique());
    let mut events = created(&id);
    if !text.is_empty() || tools.is_empty() {
        events += &done(&json!({
            "type": "message", "role": "assistant", "id": format!("msg_{}", super::server::unique()),
            "content": [{"type": "output_text", "text": text}],
        }));
    }
    for (name, input) in tools {
        let mut call = json!({
            "type": "function_call", "call_id": format!("call_{}", super::server::unique()),
            "name": name, "arguments": input.to_string(),
        });
        // Tools of servers and other agents are in namespaces: `multi_agent_v1.spawn_agent`.
        if let Some((namespace, name)) = name.split_once(['.', '/']) {
            (call["namespace"], call["name"]) = (namespace.into(), name.into());
        }
        events += &done(&call);
    }
    events
        + &event(&json!({
            "type": "response.completed",
            "response": {
                "id": id,
                "usage": {
                    "input_tokens": 11, "input_tokens_details": {"cached_tokens": 3},
                    "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 2},
                    "total_tokens": 18,
                },
            },
        }))
}

/// A response that ends in the middle of its text.
pub(super) fn broken(text: &str) -> String {
    created("resp_broken") + &event(&json!({"type": "response.output_text.delta", "delta": text}))
}

/// The body of an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    json!({"error": {"type": kind, "code": kind, "message": message}})
}

fn created(id: &str) -> String {
    event(&json!({"type": "response.created", "response": {"id": id}}))
}

fn done(item: &Value) -> String {
    event(&json!({"type": "response.output_item.done", "item": item}))
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}
