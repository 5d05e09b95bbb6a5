//! The stdio transport. Standard output carries nothing but the protocol.

use std::future::Future;
use std::pin::pin;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};

use crate::handshake::LenientHandshake;
use crate::lines::{Answering, readable};
use crate::server::Server;

/// Why the server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The runtime or its signal handlers could not be set up.
    #[error("cannot start the server")]
    Start(#[source] std::io::Error),
    /// The protocol handshake failed.
    #[error("the MCP handshake failed")]
    Handshake(#[source] Box<ServerInitializeError>),
}

/// Serves one client until it disconnects or the process receives SIGTERM or SIGINT. Requests in flight
/// get two seconds to complete.
pub fn serve_stdio(server: Server) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Concurrent requests; more are queued.
        .max_blocking_threads(8)
        .build()
        .map_err(ServeError::Start)?;
    let outcome = runtime.block_on(serve(server));
    // A thread that is blocked on standard input must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

async fn serve(server: Server) -> Result<(), ServeError> {
    let mut term = signal(SignalKind::terminate()).map_err(ServeError::Start)?;
    let mut int = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
    let mut shutdown = pin!(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    });
    let (read, write) = stdio_pipes();
    let (read, unreadable) = readable(read);
    let transport = AsyncRwTransport::new_server(read, write);
    let transport = LenientHandshake::new(Answering::new(transport, unreadable));
    let Some(started) = or_shutdown(Box::pin(server.serve(transport)), shutdown.as_mut()).await
    else {
        return Ok(());
    };
    let running = match started {
        Ok(running) => running,
        // The client disconnected before its first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Handshake(Box::new(error))),
    };
    let token = running.cancellation_token();
    let mut waiting = pin!(running.waiting());
    if or_shutdown(waiting.as_mut(), shutdown.as_mut()).await.is_none() {
        token.cancel();
        let _ = waiting.await;
    }
    Ok(())
}

/// The output of a future, or `None` if the process is asked to shut down first.
async fn or_shutdown<T>(work: impl Future<Output = T>, end: impl Future<Output = ()>) -> Option<T> {
    tokio::select! {
        value = work => Some(value),
        () = end => None,
    }
}
