//! What is done at an event: functions from what is known to what to do.

pub mod opening;
pub mod spawn;
pub mod stop;
