//! The protocols against recorded events of several versions, and the schemas against their files.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod contract;
mod events;
mod recordings;
mod schemas;
