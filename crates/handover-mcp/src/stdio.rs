//! Standard input and output as a transport. Nothing but the protocol goes to standard output.

use std::future::Future;
use std::pin::pin;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};

use crate::Server;
use crate::patience::Patient;

/// Why the server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No runtime, or no way to hear signals.
    #[error("the server cannot be started")]
    Start(#[source] std::io::Error),
    /// Nobody could be talked to.
    #[error("the conversation failed")]
    Conversation(#[source] Box<ServerInitializeError>),
}

/// Serves one client until it leaves or somebody asks the process to end (SIGTERM, SIGINT). Requests
/// under way get two seconds to be answered.
pub fn serve_stdio(server: Server) -> Result<(), ServeError> {
    // What the SDK complains about, and nothing of what is said; a second time is no harm.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::ERROR)
        .without_time()
        .try_init();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // As many requests are worked on at once; more wait.
        .max_blocking_threads(8)
        .build()
        .map_err(ServeError::Start)?;
    let outcome = runtime.block_on(serve(server));
    // A thread that still reads standard input must not keep the process.
    runtime.shutdown_background();
    outcome
}

async fn serve(server: Server) -> Result<(), ServeError> {
    let mut term = signal(SignalKind::terminate()).map_err(ServeError::Start)?;
    let mut int = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
    let mut asked_to_end = pin!(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    });
    let (read, write) = stdio_pipes();
    let transport = Patient::new(AsyncRwTransport::new_server(read, write));
    let Some(begun) = or_end(Box::pin(server.serve(transport)), asked_to_end.as_mut()).await else {
        return Ok(());
    };
    let running = match begun {
        Ok(running) => running,
        // The client left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Conversation(Box::new(error))),
    };
    let token = running.cancellation_token();
    let mut waiting = pin!(running.waiting());
    if or_end(waiting.as_mut(), asked_to_end.as_mut()).await.is_none() {
        token.cancel();
        let _ = waiting.await;
    }
    Ok(())
}

/// What a future gives, unless the process is asked to end before.
async fn or_end<T>(work: impl Future<Output = T>, end: impl Future<Output = ()>) -> Option<T> {
    tokio::select! {
        value = work => Some(value),
        () = end => None,
    }
}
