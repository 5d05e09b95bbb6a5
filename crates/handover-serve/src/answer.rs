//! Answers: JSON as the command line gives it, with a status that says the same.

use axum::body::Body;
use axum::http::{Response, StatusCode, header};
use handover_mcp::Refusal;
use serde_json::{Value, json};

/// What a handler gives back.
pub(crate) type Answer = Response<Body>;

/// A refusal, in the words of the command line.
pub(crate) fn refused(refusal: &Refusal) -> Answer {
    let error = json!({"code": refusal.code, "message": refusal.message, "hint": refusal.hint});
    json_answer(status_of(refusal.code), &json!({"schema": 1, "error": error}))
}

/// JSON with a status.
pub(crate) fn json_answer(status: StatusCode, value: &Value) -> Answer {
    let mut body = value.to_string();
    body.push('\n');
    raw(status, "application/json", body)
}

/// Anything with a status.
pub(crate) fn raw(status: StatusCode, kind: &str, body: impl Into<Body>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let kind = header::HeaderValue::from_str(kind)
        .unwrap_or(header::HeaderValue::from_static("application/octet-stream"));
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// The status that goes with a code.
fn status_of(code: &str) -> StatusCode {
    match code {
        "not_found" => StatusCode::NOT_FOUND,
        "conflict" | "locked" | "fenced" | "ambiguous" => StatusCode::CONFLICT,
        "invalid_input" | "usage" | "no_session" | "ambiguous_session" => StatusCode::BAD_REQUEST,
        "unauthorized" => StatusCode::UNAUTHORIZED,
        "forbidden" | "refused" => StatusCode::FORBIDDEN,
        "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "too_long" => StatusCode::URI_TOO_LONG,
        "too_many" => StatusCode::TOO_MANY_REQUESTS,
        "too_slow" => StatusCode::REQUEST_TIMEOUT,
        code if code.starts_with("store_") || code == "no_store" || code == "no_project" => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
