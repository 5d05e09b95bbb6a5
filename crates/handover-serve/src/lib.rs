//! The service: HTTP API, live events, MCP and the dashboard on one port.
//!
//! The only crate that knows axum and a runtime with threads, and nothing here runs unless a person
//! starts it. The store is synchronous: all work on it is done at a desk of the [`House`], on threads
//! that may wait.

mod access;
mod admit;
mod answer;
mod api;
mod health;
mod house;
mod limits;
mod listen;
mod live;
mod login;
mod mcp;
mod office;
mod pages;
mod places;
mod rate;
mod router;
mod rpc;
mod token;
mod unread;

pub use admit::Rules;
pub use house::House;
pub use listen::{BindError, Port, ServeError, Service};
pub use token::{MintError, Minted, mint};
