//! Any program: the prompt on standard input, text on standard output. It has no stream types.

mod argv;
mod normaliser;
mod outcome;

pub(super) use argv::args;
pub(super) use normaliser::Command;
