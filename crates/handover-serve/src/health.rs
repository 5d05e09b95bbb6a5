//! `GET /health`: whether the store can be opened and read, at this moment.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::answer::{Answer, json_answer};
use crate::office::Office;

/// Green only if the store answers. Nothing of what it holds is told: everybody may ask.
pub(crate) async fn health(State(office): State<Office>) -> Answer {
    let looked = office.unguarded(None, |seat| {
        seat.store.sessions(None)?;
        Ok(seat.store.runs(&handover_store::RunFilter { limit: Some(1), ..Default::default() })?)
    });
    let version = env!("CARGO_PKG_VERSION");
    match looked.await {
        Ok(_) => {
            let health = json!({"service": "handover", "version": version, "status": "ok"});
            json_answer(StatusCode::OK, &json!({"schema": 1, "health": health}))
        }
        Err(refusal) => {
            let health = json!({
                "service": "handover", "version": version, "status": "broken",
                "code": refusal.code, "reason": refusal.message,
            });
            json_answer(StatusCode::SERVICE_UNAVAILABLE, &json!({"schema": 1, "health": health}))
        }
    }
}
