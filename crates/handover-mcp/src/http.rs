//! The HTTP transport: every request is self-contained, in both generations of the protocol.
//!
//! No state is kept between requests, so there are no sessions to hijack. The caller has already checked
//! credentials and the `Host` header.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

/// Answers one request of an MCP client. The SDK instantiates several servers per request through
/// `make`: one validates the headers, another handles the message.
pub async fn answer_http<S, B>(
    make: impl Fn() -> S + Send + Sync + 'static,
    request: Request<B>,
) -> Response<BoxBody<Bytes, Infallible>>
where
    S: ServerHandler,
    B: Body + Send + 'static,
    B::Error: Display,
{
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(make()), sessions, config).handle(request).await
}
