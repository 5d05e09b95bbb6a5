//! The service: HTTP API, live events, MCP and the dashboard on one port.
//!
//! The only crate that knows axum and a multi-threaded runtime. The store is synchronous: all work on it
//! happens on blocking threads, in a context of the [`ProjectContextProvider`].

mod access;
mod admission;
mod api;
mod connections;
mod counters;
mod feeds;
mod health;
mod limits;
mod listener;
mod live;
mod login;
mod mcp;
mod metrics;
mod pages;
mod policy;
mod projects;
mod rate_limit;
mod received;
mod response;
mod router;
mod rpc;
mod shared_pages;
mod state;
mod token;
mod transactions;
mod write_timeout;

pub use listener::{BindError, Port, ServeError, Service};
pub use policy::AccessPolicy;
pub use projects::ProjectContextProvider;
pub use token::{MintError, Minted, mint};
