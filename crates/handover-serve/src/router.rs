//! Which path leads where.

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header;
use axum::middleware::{self, Next};
use axum::routing::{any, get};
use handover_mcp::Refusal;
use http_body_util::Limited;

use crate::answer::{Answer, refused};
use crate::office::Office;
use crate::{admit, api, health, limits, live, login, mcp, pages};

/// Where somebody who is not known yet may say something.
pub(crate) const LOGIN: &str = "/login";

/// Everything that the service answers.
pub(crate) fn router(office: Office) -> Router {
    Router::new()
        .route("/health", get(health::health))
        .nest("/api/v1", api::router())
        .route("/events", get(live::events))
        .route("/mcp", any(mcp::mcp))
        .route(LOGIN, get(login::ask).post(login::enter))
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(office.clone(), admit::admit))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn(within_limits))
        .with_state(office)
}

/// No address and no body is larger, and no answer begins later than allowed.
async fn within_limits(request: Request, next: Next) -> Answer {
    let asked = request.uri().path_and_query().map_or(0, |asked| asked.as_str().len());
    if asked > limits::URI_BYTES {
        return refused(&Refusal {
            code: "too_long",
            message: format!("path and query are longer than {} bytes", limits::URI_BYTES),
            hint: Some("Ask for less at once.".to_owned()),
        });
    }
    let most = match request.uri().path() {
        "/api/v1/store" => limits::STORE_BYTES,
        LOGIN => limits::LOGIN_BYTES,
        _ => limits::BODY_BYTES,
    };
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        return refused(&Refusal {
            code: "too_large",
            message: format!("the body is larger than {most} bytes"),
            hint: Some("Send less at once.".to_owned()),
        });
    }
    // Who does not say how much it is gets no further than this either.
    let request = request.map(|body| Body::new(Limited::new(body, most)));
    match tokio::time::timeout(limits::REQUEST_TIME, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => refused(&Refusal {
            code: "too_slow",
            message: "the request took too long".to_owned(),
            hint: Some("Try again; `/health` says whether the store answers.".to_owned()),
        }),
    }
}
