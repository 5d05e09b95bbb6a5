//! One connection, with timeouts for everything.
//!
//! The driver is asynchronous; the store is not. A single-threaded runtime in between runs only during a
//! statement. It makes timeouts possible, where a blocking driver would wait for as long as the network
//! is silent.
//!
//! Statements are not prepared. Most processes run each of them once, and many have optional filters, for
//! which a generic plan would be bad.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::future::{try_join, try_join_all};
use handover_store::{Fault, Result, StoreError};
use tokio::runtime::Runtime;
use tokio_postgres::tls::{MakeTlsConnect, NoTls, TlsConnect};
use tokio_postgres::{Client, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Failure, Silence, backend, failure};
use crate::location::{Location, Tls};
use crate::tls;
use crate::value::Param;

/// A statement that takes longer than this is logged.
const SLOW: Duration = Duration::from_millis(100);

/// Timeouts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For one connection attempt.
    pub(crate) connect: Duration,
    /// For a server that is not up yet when the store is opened.
    pub(crate) arrive: Duration,
    /// For a server to come back.
    pub(crate) recover: Duration,
    /// For locks.
    pub(crate) lock: Duration,
    /// For a response.
    pub(crate) answer: Duration,
}

impl Patience {
    /// Long enough to survive a restart of the server.
    pub(crate) const LONG: Self = Self {
        connect: Duration::from_secs(5),
        arrive: Duration::from_secs(3),
        recover: Duration::from_secs(30),
        lock: Duration::from_secs(30),
        answer: Duration::from_secs(120),
    };

    /// The same limit for everything. A server that waits for a lock has to report it before it counts as
    /// silent.
    pub(crate) fn of(time: Duration) -> Self {
        let lock = time * 3 / 4;
        Self { connect: time, arrive: Duration::ZERO, recover: time, lock, answer: time }
    }
}

/// A statement and its parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) sql: &'a str,
    pub(crate) params: &'a [Param<'a>],
}

/// A connection that is established on demand.
pub(crate) struct Link {
    runtime: Runtime,
    config: tokio_postgres::Config,
    tls: Option<MakeRustlsConnect>,
    patience: Patience,
    client: Option<Client>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("up", &self.is_up()).finish_non_exhaustive()
    }
}

impl Link {
    /// Prepares a connection to a schema; nothing is sent yet.
    pub(crate) fn new(location: &Location, schema: &str, patience: Patience) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| backend(Fault::Unavailable, error))?;
        let mut config = location.config.clone();
        // An acknowledged commit is durable, whatever the server's default is. A client that is stopped in
        // the middle of a write must not block others forever. JIT compilation takes longer than any of our
        // statements.
        config
            .options(format!(
                "-c search_path={schema} -c synchronous_commit=on -c client_min_messages=warning \
                 -c jit=off \
                 -c lock_timeout={} -c statement_timeout={} \
                 -c idle_in_transaction_session_timeout=60000",
                patience.lock.as_millis(),
                patience.answer.as_millis(),
            ))
            .application_name("handover")
            .connect_timeout(patience.connect)
            .keepalives_idle(Duration::from_secs(30))
            .keepalives_interval(Duration::from_secs(10))
            .keepalives_retries(3);
        let tls = match &location.tls {
            Tls::Off => None,
            Tls::Verified { authorities } => Some(tls::verified(authorities.as_deref())?),
        };
        Ok(Self { runtime, config, tls, patience, client: None })
    }

    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    /// Whether there is a connection, as far as this side knows.
    pub(crate) fn is_up(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Drops the connection.
    pub(crate) fn hang_up(&mut self) {
        self.client = None;
    }

    /// Connects unless connected, retrying until `until`. True if the connection is new.
    pub(crate) fn ensure(&mut self, until: Instant) -> Result<bool> {
        let mut pause = Duration::from_millis(20);
        while !self.is_up() {
            match self.connect() {
                Ok(client) => {
                    tracing::debug!("connected to the server");
                    self.client = Some(client);
                    return Ok(true);
                }
                Err(Failure::Lost(error)) if Instant::now() + pause < until => {
                    tracing::debug!(%error, ?pause, "cannot connect; retrying");
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(500));
                }
                Err(failure) => return Err(failure.error()),
            }
        }
        Ok(false)
    }

    fn connect(&self) -> Result<Client, Failure> {
        match &self.tls {
            None => self.connect_by(NoTls),
            Some(tls) => self.connect_by(tls.clone()),
        }
    }

    fn connect_by<T>(&self, tls: T) -> Result<Client, Failure>
    where
        T: MakeTlsConnect<Socket> + Send + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        // The driver's own timeout does not cover the startup messages.
        let time = self.patience.connect;
        self.runtime.block_on(async {
            let (client, connection) =
                match tokio::time::timeout(time, self.config.connect(tls)).await {
                    Ok(connected) => connected.map_err(|error| match failure(error) {
                        // If the server did not respond, try again.
                        Failure::Refused(StoreError::Backend { fault: Fault::Refused, source }) => {
                            Failure::Lost(StoreError::Backend { fault: Fault::Unavailable, source })
                        }
                        other @ (Failure::Lost(_) | Failure::Refused(_)) => other,
                    })?,
                    Err(_) => return Err(silence(time)),
                };
            // Ends with the client; its errors are returned by statements.
            tokio::spawn(async move {
                let _ = connection.await;
            });
            Ok(client)
        })
    }

    /// The rows of a statement.
    pub(crate) fn query(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Failure> {
        self.ask(async |client| client.query_typed(sql, &typed(params)).await)
    }

    /// The rows of several pipelined statements: one round trip instead of many. In a transaction, nothing
    /// is executed after a statement that failed.
    pub(crate) fn queries(
        &mut self,
        statements: &[Statement<'_>],
    ) -> Result<Vec<Vec<Row>>, Failure> {
        self.ask(async |client| {
            let each = statements.iter().map(|statement| async move {
                client.query_typed(statement.sql, &typed(statement.params)).await
            });
            try_join_all(each).await
        })
    }

    /// Runs a statement; returns how many rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, Failure> {
        self.ask(async |client| client.execute_typed(sql, &typed(params)).await)
    }

    /// Statements without parameters, and a last one with parameters, in one round trip; returns how many
    /// rows the last one changed.
    pub(crate) fn batch_and(&mut self, sql: &str, last: Statement<'_>) -> Result<u64, Failure> {
        self.ask(async |client| {
            let params = typed(last.params);
            let last = client.execute_typed(last.sql, &params);
            Ok(try_join(client.batch_execute(sql), last).await?.1)
        })
    }

    /// Statements without parameters, in one round trip.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Failure> {
        self.ask(async |client| client.batch_execute(sql).await)
    }

    fn ask<T>(
        &mut self,
        question: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Failure> {
        let Some(client) = &self.client else {
            return Err(Failure::Lost(backend(Fault::Unavailable, "the connection was lost")));
        };
        let time = self.patience.answer;
        let start = Instant::now();
        let answer = self.runtime.block_on(within(time, question(client)));
        if let Err(Failure::Lost(error)) = &answer {
            tracing::debug!(%error, "lost the connection");
            self.hang_up();
        }
        if start.elapsed() > SLOW {
            tracing::debug!(took = ?start.elapsed(), "slow statement");
        }
        answer
    }
}

async fn within<T>(
    time: Duration,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(time, answer).await {
        Ok(answer) => answer.map_err(failure),
        Err(_) => Err(silence(time)),
    }
}

fn silence(time: Duration) -> Failure {
    Failure::Lost(backend(Fault::Unavailable, Silence(time)))
}

type Typed<'a> = (&'a (dyn tokio_postgres::types::ToSql + Sync), tokio_postgres::types::Type);

fn typed<'a>(params: &'a [Param<'_>]) -> Vec<Typed<'a>> {
    params.iter().map(|param| (param as _, param.of())).collect()
}
