//! `/login`: a link that is good once becomes a cookie.
//!
//! Opening the link alone changes nothing, because programs that preview links open them too; the
//! button does.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use handover_mcp::{Refusal, ToolError};
use handover_model::TokenKind;
use handover_store::NewToken;
use serde::Deserialize;

use crate::admit::{COOKIE, Caller};
use crate::answer::{Answer, raw, refused};
use crate::office::Office;
use crate::pages::protect;
use crate::token::{known, mint};

/// How long a browser stays logged in.
const DAYS: i64 = 30;

const PAGE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>Handover: log in</title>\
    <h1>Handover</h1><p>This link logs this browser in, once.</p>\
    <form method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"once\" value=\"ONCE\">\
    <button autofocus>Log in</button></form></html>\n";

#[derive(Deserialize)]
pub(crate) struct Once {
    once: String,
}

/// Asks for the click.
pub(crate) async fn ask(Query(Once { once }): Query<Once>) -> Answer {
    // A token has no character that means anything in HTML; what has one is no token.
    if !once.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return raw(StatusCode::BAD_REQUEST, "text/plain", "This is no login link.\n");
    }
    protect(raw(StatusCode::OK, "text/html; charset=utf-8", PAGE.replace("ONCE", &once)))
}

/// Uses the link up and gives the browser a token of its own.
pub(crate) async fn enter(
    State(office): State<Office>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    // A browser that came over TLS never shows its token without.
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let secure =
        if origin.is_some_and(|origin| origin.starts_with(b"https://")) { "; Secure" } else { "" };
    let once = form_urlencoded::parse(&body).find(|(name, _)| name == "once");
    let once = once.map(|(_, value)| value.into_owned()).unwrap_or_default();
    let rate = office.rate.clone();
    let made = office.unguarded(None, move |seat| {
        let link = known(seat.store, &once, TokenKind::Login, seat.now)?;
        let Some(link) = link.filter(|_| !once.is_empty()) else {
            rate.punish(caller.peer);
            return Err(used());
        };
        // Of two clicks one is first.
        if !seat.store.end_token(&link.id, seat.now)? {
            return Err(used());
        }
        let minted = mint().map_err(|error| ToolError::invalid(error.to_string(), "Try again."))?;
        seat.store.create_token(&NewToken {
            id: minted.id,
            name: Some(seat.redactor.clean("browser")),
            kind: TokenKind::Bearer,
            scope: link.scope,
            project: link.project,
            hash: minted.hash,
            expires_at: Some(seat.now.plus_seconds(DAYS * 86_400)),
            now: seat.now,
        })?;
        Ok(minted.text)
    });
    match made.await {
        Ok(token) => {
            let mut answer = raw(StatusCode::SEE_OTHER, "text/plain", "Logged in.\n");
            let cookie = format!(
                "{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
                DAYS * 86_400
            );
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                answer.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            answer.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
            protect(answer)
        }
        Err(refusal) => refused(&refusal),
    }
}

fn used() -> ToolError {
    ToolError::Refused(Refusal {
        code: "unauthorized",
        message: "this link is not valid, or not any more".to_owned(),
        hint: Some("`handover token link` makes a new one.".to_owned()),
    })
}
