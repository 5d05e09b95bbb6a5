//! The full-text index: where words occur. Ranking is done elsewhere, once for all backends.

use handover_model::{PackageId, SessionId};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::packed::Postings;

/// The parts of a package that are indexed separately, so that they can have different weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Column {
    /// The first heading.
    Title,
    /// The summary.
    Summary,
    /// The paths that it is about, its own included.
    Files,
    /// The text of the file.
    Body,
    /// Its context in its group: who wrote it, when, and the summary of the package before it.
    /// Empty for a package without a group.
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

/// What [`TextIndex::reindex`] has rebuilt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reindexed {
    /// How many sessions.
    pub sessions: u64,
    /// How many packages are in their indexes.
    pub packages: u64,
}

/// The full-text index over the latest versions of a session's packages.
pub trait TextIndex {
    /// Visits the postings of each term in a session, in the order of the terms and sorted by package.
    /// Only one list is held at a time. The cost depends on the packages of this session, not on other
    /// sessions. A store implements this or [`postings`](Self::postings).
    fn each_postings(
        &self,
        session: &SessionId,
        terms: &[String],
        visit: &mut dyn FnMut(usize, &Postings),
    ) -> Result<()> {
        let lists = self.postings(session, terms)?;
        lists.iter().enumerate().for_each(|(term, list)| visit(term, list));
        Ok(())
    }

    /// The postings of each term.
    fn postings(&self, session: &SessionId, terms: &[String]) -> Result<Vec<Postings>> {
        let mut lists = Vec::with_capacity(terms.len());
        self.each_postings(session, terms, &mut |_, list| lists.push(list.clone()))?;
        Ok(lists)
    }

    /// Rebuilds the index of one session, or of all of them, out of the packages. What was there is not
    /// read, so that a damaged index can be replaced; an undamaged one stays as it is.
    fn reindex(&self, session: Option<&SessionId>) -> Result<Reindexed>;
}
