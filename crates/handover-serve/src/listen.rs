//! The socket: binding, accepting within limits, and a graceful end.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tower_service::Service as _;

use crate::admit::Rules;
use crate::house::House;
use crate::office::Office;
use crate::places::ProjectPaths;
use crate::unread::Impatient;
use crate::{limits, live, router};

/// Which port to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The usual one, or any other if that is taken.
    Usual,
    /// This one; 0 lets the system choose.
    Exactly(u16),
}

impl Port {
    /// The port that is tried first if none is named.
    pub const USUAL: u16 = 4747;
}

/// Why no socket could be opened.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error("port {port} of {bind} is taken")]
    Taken {
        /// The address.
        bind: IpAddr,
        /// The port.
        port: u16,
    },
    /// The system refused.
    #[error("cannot listen on {bind} port {port}")]
    Refused {
        /// The address.
        bind: IpAddr,
        /// The port.
        port: u16,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Why the service could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No runtime, no signals, or a socket that cannot be used.
    #[error("the service cannot be started")]
    Start(#[source] io::Error),
}

/// A service that has its socket and has not begun to answer.
#[derive(Debug)]
pub struct Service {
    listener: TcpListener,
    address: SocketAddr,
}

impl Service {
    /// Opens the socket.
    pub fn bind(bind: IpAddr, port: Port) -> Result<Self, BindError> {
        match port {
            Port::Exactly(port) => Self::open(bind, port),
            Port::Usual => match Self::open(bind, Port::USUAL) {
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until somebody asks the process to end (SIGTERM, SIGINT). Requests under way get five
    /// seconds. `ready` is called once the service can be relied on, and ended without harm.
    pub fn run<E: From<ServeError>>(
        self,
        house: Arc<dyn House>,
        rules: Rules,
        ready: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(limits::WORKERS)
            .enable_all()
            .build()
            .map_err(ServeError::Start)?;
        let outcome = runtime.block_on(self.serve(house, rules, ready));
        // A thread that still waits for the store must not keep the process.
        runtime.shutdown_background();
        outcome
    }

    async fn serve<E: From<ServeError>>(
        self,
        house: Arc<dyn House>,
        rules: Rules,
        ready: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut term = signal(SignalKind::terminate()).map_err(ServeError::Start)?;
        let mut int = signal(SignalKind::interrupt()).map_err(ServeError::Start)?;
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Start)?;
        ready()?;
        let (end, ended) = watch::channel(false);
        let office = Office::new(house, rules, ended);
        tokio::spawn(live::look(office.clone()));
        let router = router::router(office);
        let graceful = GracefulShutdown::new();
        let places = Arc::new(ProjectPaths::new());
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = term.recv() => break,
                _ = int.recv() => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // Nobody is told that there is no room: telling takes what there is none of.
                    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
                    let Some(place) = places.take(peer.ip()) else { continue };
                    let talk = graceful.watch(converse(stream, peer, router.clone()));
                    tokio::spawn(async move {
                        // A client that breaks off is no news.
                        let _ = talk.await;
                        drop(place);
                    });
                }
                // Out of file handles, most likely; they come back as clients leave.
                Err(_) => tokio::time::sleep(limits::BREATH).await,
            }
        }
        drop(listener);
        let _ = end.send(true);
        let _ = tokio::time::timeout(limits::FAREWELL, graceful.shutdown()).await;
        Ok(())
    }
}

/// One connection, with limits on how a request may begin.
fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
) -> impl GracefulConnection<Error = hyper::Error> {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIME)
        .max_header_size(limits::HEAD_BYTES)
        .max_buf_size(limits::HEAD_BYTES)
        .serve_connection(TokioIo::new(Impatient::new(stream)), service)
}
