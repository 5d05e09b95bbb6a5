//! Which path leads where.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::routing::{any, get};
use handover_mcp::Refusal;
use http_body_util::Limited;

use crate::answer::{Answer, refused};
use crate::office::Office;
use crate::{admit, api, health, limits, live, login, mcp, pages};

/// Everything that the service answers.
pub(crate) fn router(office: Office) -> Router {
    Router::new()
        .route("/health", get(health::health))
        .nest("/api/v1", api::router())
        .route("/events", get(live::events))
        .route("/mcp", any(mcp::mcp))
        .route("/login", get(login::ask).post(login::enter))
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(office.clone(), admit::admit))
        .layer(middleware::from_fn(within_limits))
        .with_state(office)
}

/// No body is larger and no answer begins later than allowed.
async fn within_limits(request: Request, next: Next) -> Answer {
    let request = request.map(|body| Body::new(Limited::new(body, limits::BODY_BYTES)));
    match tokio::time::timeout(limits::REQUEST_TIME, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => refused(&Refusal {
            code: "too_slow",
            message: "the request took too long".to_owned(),
            hint: Some("Try again; `/health` says whether the store answers.".to_owned()),
        }),
    }
}
