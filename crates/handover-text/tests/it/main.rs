//! Properties of the crate that are checked against other implementations.

mod fuzz;
mod parity;
mod redaction;
mod size;
