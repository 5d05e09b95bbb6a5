//! Routes and the limits that apply to all of them.

use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header;
use axum::middleware::{self, Next};
use axum::routing::{any, get};
use handover_mcp::RequestError;
use http_body_util::Limited;
use tracing::Instrument as _;

use crate::response::{Response, error_response};
use crate::state::ServiceState;
use crate::{admission, api, health, limits, live, login, mcp, metrics, pages};

/// Every route of the service.
pub(crate) fn router(state: ServiceState) -> Router {
    Router::new()
        .route("/health", get(health::health))
        .route("/metrics", get(metrics::metrics))
        .nest("/api/v1", api::router())
        .route("/events", get(live::events))
        .route("/mcp", any(mcp::mcp))
        .route(login::PATH, get(login::form).post(login::log_in))
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(state.clone(), admission::admit))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn(enforce_limits))
        .layer(middleware::from_fn_with_state(state.clone(), trace))
        .with_state(state)
}

/// Logs every request in a span, and counts it. The path is logged without its query, which may hold a login secret; the
/// token is added by name once it is verified (see `state`).
async fn trace(State(state): State<ServiceState>, request: Request, next: Next) -> Response {
    let span = tracing::info_span!(
        "request",
        method = %request.method(),
        path = request.uri().path(),
        token = tracing::field::Empty,
    );
    let started = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let took = started.elapsed();
    state.counters.count(response.status(), took);
    let (status, duration_ms) = (response.status().as_u16(), took.as_millis() as u64);
    span.in_scope(|| tracing::info!(status, duration_ms, "done"));
    response
}

/// Limits the length of URIs and bodies and the time until a response starts.
async fn enforce_limits(request: Request, next: Next) -> Response {
    let length = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if length > limits::URI_BYTES {
        return error_response(&RequestError {
            code: "too_long",
            message: format!("path and query are longer than {} bytes", limits::URI_BYTES),
            hint: Some("Shorten the query.".to_owned()),
        });
    }
    let limit = match request.uri().path() {
        "/api/v1/store" => limits::STORE_BODY_BYTES,
        login::PATH => limits::LOGIN_BODY_BYTES,
        _ => limits::BODY_BYTES,
    };
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) {
        return error_response(&RequestError {
            code: "too_large",
            message: format!("the body is larger than {limit} bytes"),
            hint: Some("Split it across several requests.".to_owned()),
        });
    }
    // Also applies to bodies without a declared length.
    let request = request.map(|body| Body::new(Limited::new(body, limit)));
    match tokio::time::timeout(limits::REQUEST_TIMEOUT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => error_response(&RequestError {
            code: "too_slow",
            message: "the request took too long".to_owned(),
            hint: Some("Try again; `/health` shows whether the store answers.".to_owned()),
        }),
    }
}
