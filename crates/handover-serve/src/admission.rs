//! The admission middleware: checks host, origin, rate and token before a request reaches its handler.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use handover_mcp::RequestError;
use hyper::body::Body as _;

use crate::login;
use crate::response::{Response, error_response};
use crate::state::ServiceState;

/// Passes a request on with its [`Caller`](crate::policy::Caller), or rejects it.
pub(crate) async fn admit(
    State(state): State<ServiceState>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
    let identified =
        state.policy.identify(request.method(), request.uri(), request.headers(), peer);
    let caller = match identified {
        Ok(caller) => caller,
        Err(error) => return error_response(&error),
    };
    if !state.rate_limiter.allows(peer) {
        return error_response(&RequestError {
            code: "too_many",
            message: "too many requests".to_owned(),
            hint: Some("Wait a second.".to_owned()),
        });
    }
    // Authenticate before buffering a body: it may be large, and the client could be anyone.
    let has_body = !request.body().is_end_stream() && request.uri().path() != login::PATH;
    if has_body
        && caller.needs_token
        && let Err(error) = state.authenticate(&caller).await
    {
        return error_response(&error);
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}
