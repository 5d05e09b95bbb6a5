//! Whole projects: from one store into another, into a file, and back; and out of other programs'
//! databases.

pub mod bazinga;
mod copy;
mod jsonl;
#[cfg(test)]
mod tests;

pub use copy::{Copied, CopyError, copy};
pub use jsonl::{ArchiveError, FORMAT, export, import};
