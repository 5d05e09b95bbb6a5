//! The listening socket: binding, accepting within limits, graceful shutdown.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tower_service::Service as _;

use crate::connections::{ConnectionLimiter, ConnectionPermit};
use crate::policy::AccessPolicy;
use crate::projects::ProjectContextProvider;
use crate::received::Received;
use crate::state::ServiceState;
use crate::write_timeout::WriteTimeout;
use crate::{limits, live, router};

/// Which port to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// [`Port::DEFAULT`], or any free port if that is taken.
    Default,
    /// This port; 0 lets the system choose.
    Exactly(u16),
}

impl Port {
    /// The port that is tried first unless one is requested.
    pub const DEFAULT: u16 = 4747;
}

/// Why no socket could be opened.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The port is in use.
    #[error("port {port} of {bind} is already in use")]
    Taken {
        /// The requested address.
        bind: IpAddr,
        /// The requested port.
        port: u16,
    },
    /// The operating system rejected the address.
    #[error("cannot listen on {bind} port {port}")]
    Refused {
        /// The requested address.
        bind: IpAddr,
        /// The requested port.
        port: u16,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
}

/// Why the service could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The runtime, its signal handlers or the socket could not be set up.
    #[error("cannot start the service")]
    Start(#[source] io::Error),
}

/// A bound socket that does not accept connections yet.
#[derive(Debug)]
pub struct Service {
    listener: TcpListener,
    address: SocketAddr,
}

impl Service {
    /// Binds the socket.
    pub fn bind(bind: IpAddr, port: Port) -> Result<Self, BindError> {
        match port {
            Port::Exactly(port) => Self::open(bind, port),
            Port::Default => match Self::open(bind, Port::DEFAULT) {
                Err(BindError::Taken { .. }) => Self::open(bind, 0),
                other => other,
            },
        }
    }

    fn open(bind: IpAddr, port: u16) -> Result<Self, BindError> {
        let opened = TcpListener::bind((bind, port)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(Self { address: listener.local_addr()?, listener })
        });
        opened.map_err(|source| {
            if source.kind() == io::ErrorKind::AddrInUse {
                BindError::Taken { bind, port }
            } else {
                BindError::Refused { bind, port, source }
            }
        })
    }

    /// The address that it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process receives SIGTERM or SIGINT; requests in flight get five seconds. `ready` is
    /// called once signals are handled and connections are about to be accepted.
    pub fn run<E: From<ServeError>>(
        self,
        provider: Arc<dyn ProjectContextProvider>,
        policy: AccessPolicy,
        ready: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.run_until(provider, policy, terminated, ready)
    }

    /// [`Self::run`] with another reason to shut down. `shutdown` is called on the service's runtime; the
    /// service stops when it completes.
    pub fn run_until<E: From<ServeError>>(
        self,
        provider: Arc<dyn ProjectContextProvider>,
        policy: AccessPolicy,
        shutdown: impl AsyncFnOnce() -> io::Result<()>,
        ready: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(limits::WORKER_THREADS)
            .enable_all()
            .build()
            .map_err(ServeError::Start)?;
        let outcome = runtime.block_on(self.serve(provider, policy, shutdown, ready));
        // A thread that is blocked on the store must not keep the process alive.
        runtime.shutdown_background();
        outcome
    }

    async fn serve<E: From<ServeError>>(
        self,
        provider: Arc<dyn ProjectContextProvider>,
        policy: AccessPolicy,
        shutdown: impl AsyncFnOnce() -> io::Result<()>,
        ready: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut shutdown = pin!(shutdown());
        // The first poll installs the signal handlers, before anything relies on them.
        let first = poll_fn(|context| Poll::Ready(shutdown.as_mut().poll(context))).await;
        if let Poll::Ready(outcome) = first {
            return outcome.map_err(|error| ServeError::Start(error).into());
        }
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Start)?;
        ready()?;
        tracing::info!(address = %self.address, "listening");
        let (end, shutting_down) = watch::channel(false);
        let state = ServiceState::new(provider, policy, shutting_down);
        tokio::spawn(live::poll(state.clone()));
        let router = router::router(state);
        let graceful = GracefulShutdown::new();
        let limiter = Arc::new(ConnectionLimiter::new());
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                outcome = shutdown.as_mut() => {
                    outcome.map_err(ServeError::Start)?;
                    break;
                }
            };
            match accepted {
                Ok((stream, peer)) => {
                    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
                    // At capacity: drop silently.
                    let Some(permit) = limiter.acquire(peer.ip()) else {
                        tracing::warn!(peer = %peer.ip(), "connection dropped: at capacity");
                        continue;
                    };
                    let permit = Arc::new(permit);
                    let served =
                        serve_connection(stream, peer, router.clone(), Arc::clone(&permit));
                    let connection = graceful.watch(served);
                    tokio::spawn(async move {
                        tokio::select! {
                            // Clients may disconnect at any time; that is not our error.
                            served = connection => if let Err(error) = served {
                                tracing::debug!(peer = %peer.ip(), %error, "connection failed");
                            },
                            () = permit.evicted() => {
                                tracing::debug!(peer = %peer.ip(), "connection closed: at capacity");
                            }
                        }
                    });
                }
                // Most likely out of file descriptors; they are freed as clients disconnect.
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections");
                    tokio::time::sleep(limits::ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop(listener);
        tracing::info!("shutting down");
        let _ = end.send(true);
        if tokio::time::timeout(limits::SHUTDOWN_GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("shut down with requests in flight");
        }
        Ok(())
    }
}

/// Completes when the process is asked to terminate.
async fn terminated() -> io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = term.recv() => Ok(()),
        _ = int.recv() => Ok(()),
    }
}

/// Serves one connection, with limits on its request headers.
fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    permit: Arc<ConnectionPermit>,
) -> impl GracefulConnection<Error = hyper::Error> {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let request = request.map(|body| Received::new(body, Arc::clone(&permit)));
        let (answer, permit) = (router.clone().call(request), Arc::clone(&permit));
        async move {
            let response = answer.await?;
            // An event stream never ends; every other response has a length.
            if response.body().size_hint().exact().is_some() {
                permit.mark_idle();
            }
            Ok::<_, Infallible>(response)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEADER_TIMEOUT)
        .max_header_size(limits::HEADER_BYTES)
        .max_buf_size(limits::HEADER_BYTES)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream)), service)
}
