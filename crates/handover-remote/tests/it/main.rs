//! The client against a scripted service on loopback: what goes over the wire, and every way to fail.
//! The service itself runs the conformance suite through this client (see handover-serve).

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod calls;
mod failures;
mod service;
mod transactions;
