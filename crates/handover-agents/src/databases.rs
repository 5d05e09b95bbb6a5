//! What this crate needs to know of the databases in which programs keep conversations.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::Path;

use serde_json::Value;

/// Reads the databases in which programs keep conversations, because this crate opens none.
pub trait Databases: Sync + RefUnwindSafe + fmt::Debug {
    /// Calls `each` with the values of these columns, for each row of a table. None if it cannot be read.
    fn rows(
        &self,
        database: &Path,
        table: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&[Value]),
    ) -> Option<()>;
}
