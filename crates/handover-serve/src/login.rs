//! `/login`: exchanges a one-time link for a session cookie.
//!
//! Opening the link has no effect, because link previews open it too; pressing the button does.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use handover_mcp::{RequestError, ToolError};
use handover_model::TokenKind;
use handover_store::NewToken;
use serde::Deserialize;

use crate::policy::{COOKIE, Caller};
use crate::response::{Response, error_response, response, with_security_headers};
use crate::state::ServiceState;
use crate::token::{mint, verify};

/// The only path that unauthenticated clients may send a body to.
pub(crate) const PATH: &str = "/login";

/// Days that a browser stays logged in.
const DAYS: i64 = 30;

const PAGE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>Handover: log in</title>\
    <h1>Handover</h1><p>This link logs this browser in, once.</p>\
    <form method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"once\" value=\"ONCE\">\
    <button autofocus>Log in</button></form></html>\n";

#[derive(Deserialize)]
pub(crate) struct LoginQuery {
    once: String,
}

/// Shows the button.
pub(crate) async fn form(Query(LoginQuery { once }): Query<LoginQuery>) -> Response {
    // Tokens contain no characters that are special in HTML.
    if !once.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return response(StatusCode::BAD_REQUEST, "text/plain", "This is not a login link.\n");
    }
    let page = PAGE.replace("ONCE", &once);
    with_security_headers(response(StatusCode::OK, "text/html; charset=utf-8", page))
}

/// Consumes the link and gives the browser its own token.
pub(crate) async fn log_in(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // A browser that logged in over TLS must never send its token in the clear.
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let secure =
        if origin.is_some_and(|origin| origin.starts_with(b"https://")) { "; Secure" } else { "" };
    let once = form_urlencoded::parse(&body).find(|(name, _)| name == "once");
    let once = once.map(|(_, value)| value.into_owned()).unwrap_or_default();
    let rate_limiter = state.rate_limiter.clone();
    let created = state.run_unrestricted(None, move |context| {
        let link = verify(context.store, &once, TokenKind::Login, context.now)?;
        let Some(link) = link.filter(|_| !once.is_empty()) else {
            rate_limiter.penalize(caller.peer);
            return Err(invalid_link());
        };
        // Of two concurrent clicks only the first one wins.
        if !context.store.end_token(&link.id, context.now)? {
            return Err(invalid_link());
        }
        let minted = mint().map_err(|error| ToolError::invalid(error.to_string(), "Try again."))?;
        context.store.create_token(&NewToken {
            id: minted.id,
            name: Some(context.redactor.clean("browser")),
            kind: TokenKind::Bearer,
            scope: link.scope,
            project: link.project,
            hash: minted.hash,
            expires_at: Some(context.now.plus_seconds(DAYS * 86_400)),
            now: context.now,
        })?;
        Ok(minted.text)
    });
    match created.await {
        Ok(token) => {
            let mut redirect = response(StatusCode::SEE_OTHER, "text/plain", "Logged in.\n");
            let cookie = format!(
                "{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
                DAYS * 86_400
            );
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                redirect.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            redirect.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
            with_security_headers(redirect)
        }
        Err(error) => error_response(&error),
    }
}

fn invalid_link() -> ToolError {
    ToolError::Request(RequestError {
        code: "unauthorized",
        message: "this login link is invalid, expired or already used".to_owned(),
        hint: Some("Create a new one with `handover token link`.".to_owned()),
    })
}
