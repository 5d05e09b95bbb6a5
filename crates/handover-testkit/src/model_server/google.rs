//! Responses in the format of Google's `generateContent`.

use serde_json::{Value, json};

use super::{Spoken, Tokens};

/// One response, which is also the only event of a stream.
pub(super) fn response(said: Spoken<'_>) -> Value {
    let Spoken { text, tools, tokens } = said;
    let text = (!text.is_empty() || tools.is_empty()).then(|| json!({"text": text}));
    let calls = tools.iter().map(|(name, args)| {
        let id = format!("call_{}", super::server::unique());
        json!({"functionCall": {"id": id, "name": name, "args": args}})
    });
    candidate(&text.into_iter().chain(calls).collect::<Vec<_>>(), Some("STOP"), tokens)
}

/// The body of an error.
pub(super) fn error(status: u16, message: &str) -> Value {
    json!({"error": {"code": status, "message": message, "status": "UNKNOWN"}})
}

/// A stream that ends in the middle of its text.
pub(super) fn broken(text: &str) -> String {
    format!("data: {}\n\n", candidate(&[json!({"text": text})], None, Tokens::of_response(0)))
}

fn candidate(parts: &[Value], finish: Option<&str>, tokens: Tokens) -> Value {
    json!({
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0},
        ],
        "usageMetadata": {
            "promptTokenCount": tokens.input, "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output - Tokens::REASONING,
            "thoughtsTokenCount": Tokens::REASONING, "totalTokenCount": tokens.total(),
        },
    })
}
