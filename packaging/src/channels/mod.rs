//! One file per way to install Handover.

pub mod archives;
pub mod debian;
pub mod homebrew;
pub mod npm;
pub mod script;
pub mod wheel;
