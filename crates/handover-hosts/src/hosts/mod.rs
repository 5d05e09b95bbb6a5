//! The built-in hook hosts, one folder each: `mod.rs` implements the seam, the other files read one
//! event each.

pub(crate) mod claude;
pub(crate) mod codex;
