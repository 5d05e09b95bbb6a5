//! The columns of the full-text index, and an occurrence of a term in them.

use handover_model::PackageId;
use serde::{Deserialize, Serialize};

/// The parts of a package that are indexed separately, so that they can have different weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Column {
    /// The first heading.
    Title,
    /// The summary.
    Summary,
    /// The paths it is about, including its own.
    Files,
    /// The text of the file.
    Body,
    /// Its context in its group: the author, the time, and the summary of the preceding package. Empty for
    /// a package without a group.
    Context,
}

/// The number of columns.
pub const COLUMNS: usize = 5;

impl Column {
    /// All of them, in order.
    pub const ALL: [Self; COLUMNS] =
        [Self::Title, Self::Summary, Self::Files, Self::Body, Self::Context];
}

/// An occurrence of a term: a package, and how often each column has it, in the order of
/// [`Column::ALL`], capped at 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// The package.
    pub package: PackageId,
    /// The counts.
    pub counts: [u8; COLUMNS],
}
