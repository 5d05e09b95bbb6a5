//! One connection: opened, asked, and given up when it does not answer.
//!
//! The driver is asynchronous; the store is not. A runtime of one thread, which runs only while a
//! statement is under way, is between them: it is what lets a silent server be given up, where a
//! blocking driver would wait for as long as the network says nothing.
//!
//! Statements are not prepared. Most processes ask each of them once, and most have filters that may be
//! missing: a plan that is kept for all values of those is a bad one for each.

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

/// How long the store waits for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a connection to be made, once.
    pub(crate) connect: Duration,
    /// For a server that is not there yet, at the first attempt.
    pub(crate) arrive: Duration,
    /// For a server that was there to come back.
    pub(crate) recover: Duration,
    /// For somebody else's write.
    pub(crate) lock: Duration,
    /// For an answer.
    pub(crate) answer: Duration,
}

impl Patience {
    /// Somebody who can wait: a restart of the server is sat out.
    pub(crate) const LONG: Self = Self {
        connect: Duration::from_secs(5),
        arrive: Duration::from_secs(3),
        recover: Duration::from_secs(30),
        lock: Duration::from_secs(30),
        answer: Duration::from_secs(120),
    };

    /// Nothing takes longer than this.
    pub(crate) fn of(time: Duration) -> Self {
        Self { connect: time, arrive: Duration::ZERO, recover: time, lock: time, answer: time }
    }
}

/// What the server is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) sql: &'a str,
    pub(crate) params: &'a [Param<'a>],
}

/// A connection, or the way to one.
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
        // A commit that was acknowledged is on the disk, whatever the server's default is. Whoever is
        // stopped in the middle of a write must not keep the others waiting for ever. Compiling a
        // statement takes longer than any of ours.
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

    /// Whether there is a connection, as far as is known.
    pub(crate) fn is_up(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Gives the connection up.
    pub(crate) fn hang_up(&mut self) {
        self.client = None;
    }

    /// Makes a connection if there is none, trying again until a moment. True if it is a new one.
    pub(crate) fn ensure(&mut self, until: Instant) -> Result<bool> {
        let mut pause = Duration::from_millis(20);
        while !self.is_up() {
            match self.connect() {
                Ok(client) => {
                    self.client = Some(client);
                    return Ok(true);
                }
                Err(Failure::Lost(_)) if Instant::now() + pause < until => {
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
        // The driver's own limit does not cover the talk after the connection is made.
        let time = self.patience.connect;
        self.runtime.block_on(async {
            let (client, connection) =
                match tokio::time::timeout(time, self.config.connect(tls)).await {
                    Ok(connected) => connected.map_err(|error| match failure(error) {
                        // Whatever has no answer of the server is worth another attempt.
                        Failure::Refused(StoreError::Backend { fault: Fault::Refused, source }) => {
                            Failure::Lost(StoreError::Backend { fault: Fault::Unavailable, source })
                        }
                        other @ (Failure::Lost(_) | Failure::Refused(_)) => other,
                    })?,
                    Err(_) => return Err(silence(time)),
                };
            // It ends with the client; its errors come back as answers to statements.
            tokio::spawn(async move {
                let _ = connection.await;
            });
            Ok(client)
        })
    }

    /// The rows that a statement gives.
    pub(crate) fn query(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Failure> {
        self.ask(async |client| client.query_typed(sql, &typed(params)).await)
    }

    /// The rows of several statements, all sent before the first is answered: one way to the server
    /// instead of many. In a transaction none is done behind one that failed.
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

    /// How many rows a statement changes.
    pub(crate) fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, Failure> {
        self.ask(async |client| client.execute_typed(sql, &typed(params)).await)
    }

    /// Statements without parameters and one behind them, in one go; how many rows that one changes.
    pub(crate) fn batch_and(&mut self, sql: &str, last: Statement<'_>) -> Result<u64, Failure> {
        self.ask(async |client| {
            let params = typed(last.params);
            let last = client.execute_typed(last.sql, &params);
            Ok(try_join(client.batch_execute(sql), last).await?.1)
        })
    }

    /// Statements without parameters, in one go.
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
        let answer = self.runtime.block_on(within(time, question(client)));
        if let Err(Failure::Lost(_)) = &answer {
            self.hang_up();
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
