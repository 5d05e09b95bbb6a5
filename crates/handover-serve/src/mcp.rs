//! `/mcp`: the MCP server over HTTP.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use handover_mcp::{ContextProvider, RequestContext, RequestError, Server, ToolError, answer_http};
use handover_text::replace_in_bytes;

use crate::limits;
use crate::policy::Caller;
use crate::response::{Response, error_response};
use crate::state::ServiceState;

/// Answers one message. A caller without any access gets an HTTP error instead of a tool error.
pub(crate) async fn mcp(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    if let Err(error) = state.authenticate(&caller).await
        && matches!(error.code, "unauthorized" | "forbidden")
    {
        return error_response(&error);
    }
    let provider = Arc::new(CallerContexts { state, caller });
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, limits::BODY_BYTES).await else {
        return error_response(&RequestError {
            code: "too_large",
            message: format!(
                "the body is incomplete or has more than {} bytes",
                limits::BODY_BYTES
            ),
            hint: None,
        });
    };
    let body = replace_in_bytes(&body).map_or(body, Bytes::from);
    let request = Request::from_parts(head, Body::from(body));
    answer_http(move || Server::shared(provider.clone()), request).await.map(Body::new)
}

/// Opens contexts that are restricted to one caller's rights.
struct CallerContexts {
    state: ServiceState,
    caller: Caller,
}

impl ContextProvider for CallerContexts {
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.state.with_context(None, |own| {
            let access = self.state.access_of(own, &self.caller)?;
            self.state.with_access(own, &access, work)
        })
    }
}
