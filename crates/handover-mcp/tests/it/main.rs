//! The server in process over a real SQLite store, and the transport under the official conformance suite.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod answers;
mod arguments;
mod conformance;
mod contexts;
mod fixture;
mod handoffs;
mod packages;
mod protocol;
mod resources;
mod rounds;
mod sessions;
mod showcase;
