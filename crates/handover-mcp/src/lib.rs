//! Handover as an MCP server: tools, resources and prompts over the store's traits.
//!
//! [`Server`] is the protocol, whatever the transport; [`serve_stdio`] and [`answer_http`] are the
//! transports. The SDK (rmcp) speaks both generations: the handshake of 2025-11-25 and older, and the
//! self-contained requests of 2026-07-28. Where the store, the rules, the clock and the session come
//! from is the affair of a [`Desk`].

mod briefing;
mod desk;
mod http;
mod limits;
mod patience;
mod prompts;
mod resources;
mod schema;
mod server;
mod stdio;
mod tools;

pub use desk::{Desk, Refusal, Seat, ToolError};
pub use http::answer_http;
pub use server::Server;
pub use stdio::{ServeError, serve_stdio};
pub use tools::{Saved, input_schema, record, save};
