//! The full-text index: where words occur. Ranking is not its business; one code ranks for every
//! backend.

use handover_model::{PackageId, SessionId};

use crate::Result;

/// The parts of a package that are indexed apart, so that they can weigh differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The first heading.
    Title,
    /// The summary.
    Summary,
    /// Paths that it is about, its own included.
    Files,
    /// The text of the file.
    Body,
    /// Where it stands in its group: who wrote it, when, and what the package before it is about.
    /// Empty for a package without a group.
    Context,
}

/// How many columns there are.
pub const COLUMNS: usize = 5;

impl Column {
    /// All of them, in order.
    pub const ALL: [Self; COLUMNS] =
        [Self::Title, Self::Summary, Self::Files, Self::Body, Self::Context];
}

/// How often a term occurs in one column of one package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The package.
    pub package: PackageId,
    /// The column.
    pub column: Column,
    /// How often.
    pub count: u32,
}

/// The size of a session's index: what rarity and length are measured against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexSize {
    /// Packages in it.
    pub packages: u64,
    /// Terms in each column, summed over the packages, in the order of [`Column::ALL`].
    pub terms: [u64; COLUMNS],
}

/// The full-text index over the latest versions of a session's packages.
pub trait TextIndex {
    /// How large the session's index is.
    fn index_size(&self, session: &SessionId) -> Result<IndexSize>;

    /// For each term, in order, where it occurs in the session, sorted by package and column. The
    /// cost depends on this session's packages, not on how many others the store holds.
    fn postings(&self, session: &SessionId, terms: &[String]) -> Result<Vec<Vec<Posting>>>;

    /// How many terms each column of each package has, in the order of the ids given; zeros for a
    /// package that is not in the index.
    fn term_counts(&self, packages: &[PackageId]) -> Result<Vec<[u64; COLUMNS]>>;
}
