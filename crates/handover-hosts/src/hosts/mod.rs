//! The built-in hook hosts, one folder each: `mod.rs` implements the interface, the other files read one event
//! each.

pub(crate) mod claude;
pub(crate) mod codex;
