//! The transport over HTTP under the whole of the official conformance suite.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod conformance;
mod rounds;
mod showcase;
