//! The dashboard: what a browser sends becomes a [`PageRequest`], and what comes back goes out with
//! the headers that protect a browser.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use handover_model::TokenScope;
use handover_web::{PageRequest, PageResponse, Site};

use crate::admit::{self, Caller};
use crate::answer::{Answer, raw, refused};
use crate::office::Office;

/// What pages may load: their own files, and nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Everything that is not an interface of the service is a page.
pub(crate) async fn page(
    State(office): State<Office>,
    Extension(caller): Extension<Caller>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let method = match method {
        Method::GET | Method::HEAD => handover_web::Method::Get,
        Method::POST => handover_web::Method::Post,
        _ => return raw(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "Only GET and POST.\n"),
    };
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let request = PageRequest {
        method,
        path: uri.path().to_owned(),
        query: fields(uri.query().unwrap_or_default().as_bytes()),
        form: match text(header::CONTENT_TYPE) {
            Some(kind) if kind.starts_with("application/x-www-form-urlencoded") => fields(&body),
            Some(_) | None => Vec::new(),
        },
        cookies: text(header::COOKIE).map(cookies).unwrap_or_default(),
        known_tag: text(header::IF_NONE_MATCH).map(str::to_owned),
    };
    let need = match method {
        handover_web::Method::Get => TokenScope::Read,
        handover_web::Method::Post => TokenScope::Write,
    };
    let answered = office.work(caller, need, move |seat| {
        let site = Site {
            store: seat.store,
            redactor: seat.redactor,
            config: seat.config,
            places: seat.places,
            project: &seat.project,
            may_write: seat.may_write,
            machine: &seat.machine,
            now: seat.now,
        };
        Ok(handover_web::answer(&site, &request))
    });
    answered.await.map_or_else(|refusal| refused(&refusal), send)
}

fn send(page: PageResponse) -> Answer {
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = protect(raw(status, page.content_type, Body::from(page.body)));
    for (name, value) in page.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    answer
}

/// The headers that protect a browser.
pub(crate) fn protect(mut answer: Answer) -> Answer {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn fields(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

fn cookies(header: &str) -> Vec<(String, String)> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    let pairs = pairs.filter(|(name, _)| *name != admit::COOKIE);
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
