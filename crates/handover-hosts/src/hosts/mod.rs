//! The built-in hook hosts, one folder each: `mod.rs` implements the interface, the other files read one event
//! each.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod opencode;
pub(crate) mod qwen;
