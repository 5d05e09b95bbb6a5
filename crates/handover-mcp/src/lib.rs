//! Handover as an MCP server: tools, resources and prompts over the store's traits.
//!
//! [`Server`] is the protocol, independent of the transport; [`serve_stdio`] and [`answer_http`] are the
//! transports. The SDK (rmcp) speaks both generations: the handshake of 2025-11-25 and older, and the
//! self-contained requests of 2026-07-28. Store, configuration, clock and session come from a
//! [`ContextProvider`].

mod briefing;
mod context;
mod error;
mod handshake;
mod http;
mod limits;
mod lines;
mod prompts;
mod resources;
mod schema;
mod server;
mod stdio;
mod tools;

pub use context::{ContextProvider, CoverageSource, RequestContext};
pub use error::{RequestError, ToolError};
pub use http::answer_http;
pub use server::Server;
pub use stdio::{ServeError, serve_stdio};
pub use tools::{SavedPackage, input_schema, record_reasoning, save_package};
