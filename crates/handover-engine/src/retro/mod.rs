//! Retrospectives: the lessons of an epic, from its agents or else from its journal, and the handoff
//! that the next epic starts with.

mod digest;
mod factual;
mod handoff;
mod render;

pub use digest::{Criteria, digest};
pub use factual::factual;
pub use handoff::{Handoff, HandoffEntry, Section};
pub use render::{RetroInfo, handoff, retrospective};
