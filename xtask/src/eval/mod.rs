//! Evaluations on labelled data that is not part of the repository.

pub mod blocks;
pub mod briefs;
mod labelled;
pub mod places;
pub mod redaction;
pub mod retrieval;
pub mod tokens;
