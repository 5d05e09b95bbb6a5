//! The decisions at an event: pure functions from known facts to what the host should do.

pub mod coverage;
pub mod opening;
pub mod spawn;
pub mod start;
pub mod stop;
