//! Whole projects: copied to another store, exported to a file and imported again, or imported from other
//! programs' databases.

pub mod bazinga;
mod before;
mod copy;
mod jsonl;
mod redact;
#[cfg(test)]
mod tests;

pub use before::{Earlier, Knowledge, copy_earlier};
pub use copy::{Copied, CopyError, copy, copy_to_shared};
pub use jsonl::{ArchiveError, FORMAT, export, import};
pub use redact::{Mode as RedactMode, Redacted, redact};
