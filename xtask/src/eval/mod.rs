//! Evaluations on labeled data, most of which is not part of the repository.

pub mod alive;
pub mod all;
pub mod amended;
pub mod blocks;
pub mod briefs;
mod category;
pub mod known;
mod labelled;
pub mod places;
mod project;
pub mod redaction;
pub mod retrieval;
pub mod screen;
pub mod tokens;
pub mod uses;
