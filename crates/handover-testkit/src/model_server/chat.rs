//! Responses in the format of OpenAI's chat completions, which many vendors share.

use serde_json::{Value, json};

use super::Spoken;

/// The events of one response.
pub(super) fn events(model: &Value, said: Spoken<'_>) -> String {
    let Spoken { text, tools, tokens } = said;
    let calls: Vec<Value> = tools
        .iter()
        .enumerate()
        .map(|(index, (name, input))| {
            let id = format!("call_{}", super::server::unique());
            let function = json!({"name": name, "arguments": input.to_string()});
            json!({"index": index, "id": id, "type": "function", "function": function})
        })
        .collect();
    let mut delta = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        delta["tool_calls"] = calls.into();
    }
    let reason = if tools.is_empty() { "stop" } else { "tool_calls" };
    let mut last = chunk(model, &json!({}), Some(reason));
    last["usage"] = json!({
        "prompt_tokens": tokens.input, "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens": tokens.output, "total_tokens": tokens.total(),
    });
    format!("data: {}\n\ndata: {last}\n\ndata: [DONE]\n\n", chunk(model, &delta, None))
}

/// The body of an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    json!({"error": {"code": status, "message": message, "type": "scripted"}})
}

/// A stream that ends in the middle of its text.
pub(super) fn broken(model: &Value, text: &str) -> String {
    let delta = json!({"role": "assistant", "content": text});
    format!("data: {}\n\n", chunk(model, &delta, None))
}

fn chunk(model: &Value, delta: &Value, reason: Option<&str>) -> Value {
    json!({
        "id": "chat", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    })
}
