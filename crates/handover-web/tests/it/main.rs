//! Every page, rendered from a real SQLite store.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod errors;
mod fixture;
mod frame;
mod hostile;
mod packages;
mod reasoning;
mod receipts;
mod runs;
mod search;
mod session;
mod size;
