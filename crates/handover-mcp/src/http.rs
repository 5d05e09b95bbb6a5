//! HTTP as a transport: every request stands for itself, in both generations.
//!
//! Nothing is kept between two requests, so there are no sessions to take over. Who may ask, and under
//! which name of the host, was settled by whoever calls this.

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

/// Answers one request of an MCP client. It takes several servers to do so, each as `make` gives it:
/// one looks at the headers, another one at what is asked.
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
