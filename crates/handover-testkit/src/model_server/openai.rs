//! Responses in the format of OpenAI's response stream.

use serde_json::{Value, json};

use super::{Spoken, Tokens};

/// The events of one response.
pub(super) fn events(said: Spoken<'_>) -> String {
    let Spoken { text, tools, tokens } = said;
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
                    "input_tokens": tokens.input,
                    "input_tokens_details": {"cached_tokens": tokens.cached},
                    "output_tokens": tokens.output,
                    "output_tokens_details": {"reasoning_tokens": Tokens::REASONING},
                    "total_tokens": tokens.total(),
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
