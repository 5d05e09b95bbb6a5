//! How much anybody may ask for.

use std::time::Duration;

/// Connections at once, live listeners included. More are closed unheard.
pub(crate) const CONNECTIONS: usize = 1_024;

/// Files that are no connections: those of the store, for every thread that works.
pub(crate) const FILES_ASIDE: usize = 512;

/// Connections of one other machine at once.
pub(crate) const SHARE: usize = 256;

/// Requests that are worked on at once; more wait.
pub(crate) const WORKERS: usize = 16;

/// The head of a request: line and headers together.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

/// How long a client may take to send the head of a request, the wait for the next one included.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

/// Path and query of a request.
pub(crate) const URI_BYTES: usize = 16 * 1024;

/// The body of a request. A package may be larger on disk, but not over the network.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;

/// The same for the store's own protocol: an import registers all of its packages at once.
pub(crate) const STORE_BYTES: usize = 64 * 1024 * 1024;

/// The same for a form that is filled in by somebody who is not known yet.
pub(crate) const LOGIN_BYTES: usize = 4 * 1024;

/// How long a request may take from its head to the start of its answer.
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(30);

/// How long requests under way may take once the service was asked to end.
pub(crate) const FAREWELL: Duration = Duration::from_secs(5);

/// How long to wait before accepting again when the system could give no connection.
pub(crate) const BREATH: Duration = Duration::from_millis(50);

/// How many requests a second another machine may send on average.
pub(crate) const RATE: f64 = 500.0;

/// How many it may send at once.
pub(crate) const BURST: f64 = 1_000.0;

/// What a wrong token costs, in requests.
pub(crate) const WRONG_TOKEN: f64 = 100.0;

/// How many addresses are remembered.
pub(crate) const ADDRESSES: usize = 4_096;

/// Live listeners at once, of all projects together.
pub(crate) const LISTENERS: usize = 512;

/// How many changes a listener may fall behind.
pub(crate) const BACKLOG: usize = 1_024;

/// How often changes are looked for while somebody listens.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How many changes one look brings at most; fewer than a listener may fall behind.
pub(crate) const BATCH: u32 = 500;

/// How often a listener to whom nothing happens is told that the service is there.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long one connection listens before it has to come back.
pub(crate) const LISTEN_TIME: Duration = Duration::from_secs(600);

/// How soon a browser comes back by itself.
pub(crate) const COME_BACK: Duration = Duration::from_secs(2);

/// How long a client may leave its answer unread before the connection is cut.
pub(crate) const UNREAD_TIME: Duration = Duration::from_secs(30);

/// Transactions of other machines at once; each holds a thread and a connection.
pub(crate) const TRANSACTIONS: usize = 32;

/// How many of them one project may have, so that others can work too.
pub(crate) const TRANSACTIONS_OF_ONE: usize = 16;

/// How long a transaction of another machine may take; then it is undone.
pub(crate) const TRANSACTION_TIME: Duration = Duration::from_secs(10);
