//! `GET /health`: whether the store can be opened and read right now.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::response::{Response, json_response};
use crate::state::ServiceState;

/// Succeeds only if the store responds. Unauthenticated, so it reveals nothing about the contents.
pub(crate) async fn health(State(state): State<ServiceState>) -> Response {
    let probe = state.run_unrestricted(None, |context| {
        context.store.sessions(None)?;
        Ok(context
            .store
            .runs(&handover_store::RunFilter { limit: Some(1), ..Default::default() })?)
    });
    let version = env!("CARGO_PKG_VERSION");
    match probe.await {
        Ok(_) => {
            let health = json!({"service": "handover", "version": version, "status": "ok"});
            json_response(StatusCode::OK, &json!({"schema": 1, "health": health}))
        }
        Err(error) => {
            let health = json!({
                "service": "handover", "version": version, "status": "broken",
                "code": error.code, "reason": error.message,
            });
            json_response(StatusCode::SERVICE_UNAVAILABLE, &json!({"schema": 1, "health": health}))
        }
    }
}
