//! The HTTP API: a table of endpoints, each a function from a seat and a request to JSON.
//!
//! What goes out has the shape of the command line's `--json`. The table is also the OpenAPI document,
//! so what is documented is what is there.

mod ask;
mod learned;
mod openapi;
mod packages;
mod receipts;
mod runs;
mod sessions;
mod spawns;
mod thoughts;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::routing::{MethodFilter, get, on, post};
use axum::{Extension, Router};
use handover_mcp::{Refusal, Seat, ToolError};
use handover_model::TokenScope;
use serde_json::{Map, Value};

use self::ask::Ask;
use crate::admit::Caller;
use crate::answer::{Answer, json_answer, refused};
use crate::office::Office;
use crate::rpc;

/// What an endpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// It reads.
    Get,
    /// It adds; the text is an example of its body.
    Post(&'static str),
}

/// One endpoint.
struct Endpoint {
    verb: Verb,
    /// Below `/api/v1`, with `{names}` for its parts.
    path: &'static str,
    /// What it is for.
    about: &'static str,
    /// What may stand after `?`.
    fields: &'static [(&'static str, &'static str)],
    /// Answers with the fields of the document beside `schema`.
    call: fn(&Seat<'_>, &Ask) -> Result<Value, ToolError>,
}

/// Every endpoint.
const ALL: &[&[Endpoint]] = &[
    sessions::ENDPOINTS,
    packages::ENDPOINTS,
    thoughts::ENDPOINTS,
    spawns::ENDPOINTS,
    receipts::ENDPOINTS,
    learned::ENDPOINTS,
    runs::ENDPOINTS,
];

fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    ALL.iter().copied().flatten()
}

/// The API below `/api/v1`.
pub(crate) fn router() -> Router<Office> {
    let mut router = Router::new()
        .route("/openapi.json", get(openapi::document))
        .route("/store", post(rpc::store));
    for endpoint in endpoints() {
        let filter = match endpoint.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post(_) => MethodFilter::POST,
        };
        let handler = move |state: State<Office>,
                            caller: Extension<Caller>,
                            path: Path<Vec<(String, String)>>,
                            uri: Uri,
                            headers: HeaderMap,
                            body: Bytes| async move {
            answer(endpoint, state.0, caller.0, path.0, &uri, &headers, &body).await
        };
        router = router.route(endpoint.path, on(filter, handler));
    }
    router.fallback(|| async {
        refused(&Refusal {
            code: "not_found",
            message: "there is no such endpoint".to_owned(),
            hint: Some("`/api/v1/openapi.json` lists them.".to_owned()),
        })
    })
}

async fn answer(
    endpoint: &'static Endpoint,
    office: Office,
    caller: Caller,
    path: Vec<(String, String)>,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Answer {
    let asked = match endpoint.verb {
        Verb::Get => Ask::new(endpoint.fields, path, uri, Value::Null),
        Verb::Post(_) => {
            read_body(headers, body).and_then(|body| Ask::new(endpoint.fields, path, uri, body))
        }
    };
    let ask = match asked {
        Ok(ask) => ask,
        Err(refusal) => return refused(&refusal),
    };
    let need = match endpoint.verb {
        Verb::Get => TokenScope::Read,
        Verb::Post(_) => TokenScope::Write,
    };
    match office.work(caller, need, move |seat| (endpoint.call)(seat, &ask)).await {
        Ok(fields) => {
            let mut document = Map::new();
            document.insert("schema".to_owned(), 1.into());
            if let Value::Object(fields) = fields {
                document.extend(fields);
            }
            json_answer(StatusCode::OK, &Value::Object(document))
        }
        Err(refusal) => refused(&refusal),
    }
}

/// A body is JSON and says so: a form of a page elsewhere cannot.
fn read_body(headers: &HeaderMap, body: &Bytes) -> Result<Value, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return Err(invalid(
            "the body is not declared as JSON",
            "Send `Content-Type: application/json`.",
        ));
    }
    serde_json::from_slice(body)
        .map_err(|error| invalid(format!("the body is not JSON: {error}"), "Send one object."))
}

fn invalid(message: impl Into<String>, hint: &str) -> Refusal {
    Refusal { code: "invalid_input", message: message.into(), hint: Some(hint.to_owned()) }
}
