//! How much anybody may ask for.

use std::time::Duration;

/// Connections at once, live listeners included. More are closed unheard.
pub(crate) const CONNECTIONS: usize = 1_024;

/// Requests that are worked on at once; more wait.
pub(crate) const WORKERS: usize = 16;

/// The head of a request: line and headers together.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

/// How long a client may take to send the head of a request, the wait for the next one included.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

/// The body of a request. A package may be larger on disk, but not over the network.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;

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
