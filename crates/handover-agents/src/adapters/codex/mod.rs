//! Codex: `codex exec`.

mod argv;
mod normaliser;
mod outcome;
mod stream;

pub(super) use argv::args;
pub(super) use normaliser::Codex;
