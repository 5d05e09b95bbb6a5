//! Responses in the format of Anthropic's message stream.

use serde_json::{Value, json};

use super::{Spoken, Tokens};

/// The events of one response.
pub(super) fn events(model: &Value, said: Spoken<'_>) -> String {
    let Spoken { text, tools, tokens } = said;
    let mut events = head(model, tokens);
    if !text.is_empty() || tools.is_empty() {
        events += &block(
            0,
            &json!({"type": "text", "text": ""}),
            &json!({"type": "text_delta", "text": text}),
        );
    }
    let first = usize::from(!text.is_empty());
    for (n, (name, input)) in tools.iter().enumerate() {
        let index = first + n;
        events += &block(
            index,
            &json!({"type": "tool_use", "id": format!("toolu_{}", super::server::unique()), "name": name, "input": {}}),
            &json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        );
    }
    let stop = if tools.is_empty() { "end_turn" } else { "tool_use" };
    events += &event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": tokens.output},
    }));
    events + &event(&json!({"type": "message_stop"}))
}

/// A response without streaming, which the program requests after a broken stream.
pub(super) fn message(model: &Value, said: Spoken<'_>) -> String {
    let Spoken { text, tools, tokens } = said;
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let tools = tools.iter().map(|(name, input)| {
        json!({"type": "tool_use", "id": format!("toolu_{}", super::server::unique()), "name": name, "input": input})
    });
    json!({
        "id": format!("msg_{}", super::server::unique()), "type": "message", "role": "assistant",
        "model": model, "content": text.into_iter().chain(tools).collect::<Vec<_>>(),
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": usage(tokens, tokens.output),
    })
    .to_string()
}

/// A response that ends in the middle of its text.
pub(super) fn broken(model: &Value, text: &str) -> String {
    head(model, Tokens::of_response(0))
        + &event(&json!({
            "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""},
        }))
        + &event(&json!({
            "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
        }))
}

/// The body of an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400 => "invalid_request_error",
        404 => "not_found_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn usage(tokens: Tokens, output: u64) -> Value {
    json!({
        "input_tokens": tokens.input - tokens.cached, "cache_read_input_tokens": tokens.cached,
        "output_tokens": output,
    })
}

fn head(model: &Value, tokens: Tokens) -> String {
    event(&json!({
        "type": "message_start",
        "message": {
            "id": format!("msg_{}", super::server::unique()), "type": "message", "role": "assistant",
            "model": model, "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": usage(tokens, 1),
        },
    }))
}

fn block(index: usize, start: &Value, delta: &Value) -> String {
    event(&json!({"type": "content_block_start", "index": index, "content_block": start}))
        + &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        + &event(&json!({"type": "content_block_stop", "index": index}))
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}
