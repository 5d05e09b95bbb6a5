//! The HTTP API: a table of endpoints, each a function from a context and a request to JSON.
//!
//! Responses have the shape of the command line's `--json`. The OpenAPI document is generated from the same
//! table.

mod learned;
mod notes;
mod openapi;
mod operations;
mod packages;
mod reasoning;
mod receipts;
mod request;
mod runs;
mod search;
mod sessions;
mod spawns;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::routing::{MethodFilter, get, on, post};
use axum::{Extension, Router};
use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::TokenScope;
use handover_text::replace_in_bytes;
use serde_json::{Map, Value};

use self::request::ApiRequest;
use crate::policy::Caller;
use crate::response::{Response, error_response, json_response};
use crate::rpc;
use crate::state::ServiceState;

/// The HTTP method, which also decides the right that is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    /// With an example of the body for the OpenAPI document.
    Post(&'static str),
}

/// One line of the API.
struct Endpoint {
    verb: Verb,
    /// Below `/api/v1`, with `{name}` for parameters.
    path: &'static str,
    summary: &'static str,
    /// Query parameters and their descriptions; others are rejected.
    query: &'static [(&'static str, &'static str)],
    /// Returns the fields of the response, without `schema`.
    handler: fn(&RequestContext<'_>, &ApiRequest) -> Result<Value, ToolError>,
}

/// The tables of all files.
const ALL: &[&[Endpoint]] = &[
    sessions::ENDPOINTS,
    packages::ENDPOINTS,
    search::ENDPOINTS,
    notes::ENDPOINTS,
    operations::ENDPOINTS,
    reasoning::ENDPOINTS,
    spawns::ENDPOINTS,
    receipts::ENDPOINTS,
    learned::ENDPOINTS,
    runs::ENDPOINTS,
];

fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    ALL.iter().copied().flatten()
}

/// The routes below `/api/v1`.
pub(crate) fn router() -> Router<ServiceState> {
    let mut router = Router::new()
        .route("/openapi.json", get(openapi::document))
        .route("/store", post(rpc::store));
    for endpoint in endpoints() {
        let filter = match endpoint.verb {
            Verb::Get => MethodFilter::GET,
            Verb::Post(_) => MethodFilter::POST,
        };
        let handler = move |state: State<ServiceState>,
                            caller: Extension<Caller>,
                            path: Result<Path<Vec<(String, String)>>, PathRejection>,
                            uri: Uri,
                            headers: HeaderMap,
                            body: Bytes| async move {
            match path {
                Ok(path) => {
                    handle(endpoint, state.0, caller.0, path.0, &uri, &headers, &body).await
                }
                Err(error) => error_response(&invalid(
                    format!("the path cannot be read: {}", error.body_text()),
                    "Its parts are UTF-8 in percent escapes.",
                )),
            }
        };
        router = router.route(endpoint.path, on(filter, handler));
    }
    router.fallback(|| async {
        error_response(&RequestError {
            code: "not_found",
            message: "there is no such endpoint".to_owned(),
            hint: Some("`/api/v1/openapi.json` lists them.".to_owned()),
        })
    })
}

async fn handle(
    endpoint: &'static Endpoint,
    state: ServiceState,
    caller: Caller,
    path: Vec<(String, String)>,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Response {
    let parsed = match endpoint.verb {
        Verb::Get => ApiRequest::new(endpoint.query, path, uri, Value::Null),
        Verb::Post(_) => read_body(headers, body)
            .and_then(|body| ApiRequest::new(endpoint.query, path, uri, body)),
    };
    let request = match parsed {
        Ok(request) => request,
        Err(error) => return error_response(&error),
    };
    let need = match endpoint.verb {
        Verb::Get => TokenScope::Read,
        Verb::Post(_) => TokenScope::Write,
    };
    match state.run(caller, need, move |context| (endpoint.handler)(context, &request)).await {
        Ok(fields) => {
            let mut document = Map::new();
            document.insert("schema".to_owned(), 1.into());
            if let Value::Object(fields) = fields {
                document.extend(fields);
            }
            json_response(StatusCode::OK, &Value::Object(document))
        }
        Err(error) => error_response(&error),
    }
}

/// Requires the JSON content type: cross-site forms cannot send it.
fn read_body(headers: &HeaderMap, body: &Bytes) -> Result<Value, RequestError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content_type.is_some_and(|value| value.starts_with("application/json")) {
        return Err(invalid(
            "the content type is not JSON",
            "Send `Content-Type: application/json`.",
        ));
    }
    let replaced = replace_in_bytes(body);
    serde_json::from_slice(replaced.as_deref().unwrap_or(body))
        .map_err(|error| invalid(format!("the body is not JSON: {error}"), "Send one JSON object."))
}

fn invalid(message: impl Into<String>, hint: &str) -> RequestError {
    RequestError { code: "invalid_input", message: message.into(), hint: Some(hint.to_owned()) }
}
