//! Responses: JSON in the shape of the command line's `--json`, and headers that protect browsers.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use handover_mcp::RequestError;
use handover_text::{redact_message, short};
use serde_json::{Value, json};

pub(crate) type Response = axum::http::Response<Body>;

/// The content security policy: pages load their own files and nothing from other origins.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// An error with the status that matches its code.
pub(crate) fn error_response(error: &RequestError) -> Response {
    let body = json!({
        "code": error.code,
        "message": short(&redact_message(&error.message)),
        "hint": error.hint.as_deref().map(|hint| short(&redact_message(hint)).into_owned()),
    });
    json_response(status_of(error.code), &json!({"schema": 1, "error": body}))
}

pub(crate) fn json_response(status: StatusCode, value: &Value) -> Response {
    let mut body = value.to_string();
    body.push('\n');
    response(status, "application/json", body)
}

pub(crate) fn response(status: StatusCode, content_type: &str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let content_type = HeaderValue::from_str(content_type)
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// Adds the headers that every HTML response carries.
pub(crate) fn with_security_headers(mut response: Response) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn status_of(code: &str) -> StatusCode {
    match code {
        "not_found" => StatusCode::NOT_FOUND,
        "conflict" | "locked" | "fenced" | "ambiguous" | "erased" | "wrong_state" => {
            StatusCode::CONFLICT
        }
        "invalid_input" | "invalid_package" | "usage" | "no_session" | "ambiguous_session" => {
            StatusCode::BAD_REQUEST
        }
        "unauthorized" => StatusCode::UNAUTHORIZED,
        "forbidden" | "refused" => StatusCode::FORBIDDEN,
        "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "too_long" => StatusCode::URI_TOO_LONG,
        "too_many" => StatusCode::TOO_MANY_REQUESTS,
        "too_slow" => StatusCode::REQUEST_TIMEOUT,
        "index_damaged" | "io" | "no_project" | "no_receipt" | "no_store" => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        code if code.starts_with("store_") => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_documented_statuses() {
        for (code, status) in [
            ("invalid_input", 400),
            ("invalid_package", 400),
            ("no_session", 400),
            ("unauthorized", 401),
            ("forbidden", 403),
            ("refused", 403),
            ("not_found", 404),
            ("too_slow", 408),
            ("locked", 409),
            ("fenced", 409),
            ("ambiguous", 409),
            ("too_large", 413),
            ("too_long", 414),
            ("too_many", 429),
            ("store_damaged", 503),
            ("no_store", 503),
            ("index_damaged", 503),
            ("no_receipt", 503),
            ("io", 503),
            ("internal", 500),
        ] {
            assert_eq!(status_of(code).as_u16(), status, "{code}");
        }
    }

    #[test]
    fn an_unusable_content_type_falls_back() {
        let plain = response(StatusCode::OK, "text/plain", "x");
        assert_eq!(plain.headers()[header::CONTENT_TYPE], "text/plain");
        let broken = response(StatusCode::OK, "a\nb", "x");
        assert_eq!(broken.headers()[header::CONTENT_TYPE], "application/octet-stream");
    }
}
