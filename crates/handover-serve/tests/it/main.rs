//! The service on a loopback port over real SQLite stores, driven by a real HTTP client.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod admission;
mod api;
#[path = "../../../handover-mcp/tests/it/contexts.rs"]
mod contexts;
mod dashboard;
mod endpoints;
mod events;
mod fixture;
mod forms;
mod health;
mod limits;
mod login;
mod mcp;
mod metrics;
mod projects;
mod raw;
mod rights;
mod rpc;
mod together;
