//! Evaluations on labelled data that is not part of the repository.

pub mod briefs;
pub mod redaction;
pub mod retrieval;
pub mod tokens;
