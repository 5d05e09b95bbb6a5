//! Resource limits of the service.

use std::time::Duration;

/// Concurrent connections, including live subscribers. Beyond that, connections are dropped.
pub(crate) const CONNECTIONS: usize = 1_024;

/// File descriptors reserved for everything but connections: the store, for every worker thread.
pub(crate) const RESERVED_FILES: usize = 512;

/// Concurrent connections of one other machine.
pub(crate) const CONNECTIONS_PER_PEER: usize = 256;

/// Requests that are processed concurrently; more are queued.
pub(crate) const WORKER_THREADS: usize = 16;

/// Request line and headers together.
pub(crate) const HEADER_BYTES: usize = 64 * 1024;

/// How long a client may take to send its headers, including idle time between requests.
pub(crate) const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Path and query.
pub(crate) const URI_BYTES: usize = 16 * 1024;

/// A request body. Packages may be larger on disk, but not over the network.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;

/// A body of the store's own protocol: an import registers all of its packages at once.
pub(crate) const STORE_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A login form, which anyone may send.
pub(crate) const LOGIN_BODY_BYTES: usize = 4 * 1024;

/// From the end of the headers to the start of the response.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long requests in flight may take once the service is shutting down.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Pause before accepting again when the system is out of file descriptors.
pub(crate) const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Sustained requests per second of one other machine.
pub(crate) const REQUESTS_PER_SECOND: f64 = 500.0;

/// Requests that another machine may send in one burst.
pub(crate) const REQUEST_BURST: f64 = 1_000.0;

/// What an invalid token costs, in requests.
pub(crate) const WRONG_TOKEN_COST: f64 = 100.0;

/// Addresses that the rate limiter tracks.
pub(crate) const TRACKED_PEERS: usize = 4_096;

/// Concurrent live subscribers of all projects together.
pub(crate) const SUBSCRIBERS: usize = 512;

/// How many changes a subscriber may fall behind.
pub(crate) const BACKLOG: usize = 1_024;

/// How often the store is polled for changes while there are subscribers.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Changes per poll; fewer than a subscriber may fall behind.
pub(crate) const POLL_BATCH: u32 = 500;

/// How long a rendered page is shared by those who ask for the same, and how many pages are.
pub(crate) const SHARED_PAGE: Duration = Duration::from_millis(500);
pub(crate) const SHARED_PAGES: usize = 64;

/// How often an idle event stream sends a comment.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long an event stream lasts before the client has to reconnect, which checks its rights again.
pub(crate) const STREAM_LIFETIME: Duration = Duration::from_secs(600);

/// The delay after which browsers reconnect on their own.
pub(crate) const RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// How long a client may stop reading its response before the connection is closed.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Concurrent transactions of other machines; each occupies a thread and a connection.
pub(crate) const TRANSACTIONS: usize = 32;

/// Concurrent transactions of one project.
pub(crate) const TRANSACTIONS_PER_PROJECT: usize = 16;

/// After this, a transaction of another machine is rolled back.
pub(crate) const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(10);
