//! The full-text index: where words occur. Ranking is not its business; one code ranks for every
//! backend.

use handover_model::{PackageId, SessionId};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::packed::Postings;

/// The parts of a package that are indexed apart, so that they can weigh differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// Where a term occurs: a package, and how often in each column, in the order of [`Column::ALL`];
/// more than 255 is 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// The package.
    pub package: PackageId,
    /// How often.
    pub counts: [u8; COLUMNS],
}

/// The full-text index over the latest versions of a session's packages.
pub trait TextIndex {
    /// Shows, for each term in order, where it occurs in the session, sorted by package: only one
    /// list is held at a time. The cost depends on this session's packages, not on how many others
    /// the store holds. A store implements this or [`postings`](Self::postings).
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

    /// The lists themselves.
    fn postings(&self, session: &SessionId, terms: &[String]) -> Result<Vec<Postings>> {
        let mut lists = Vec::with_capacity(terms.len());
        self.each_postings(session, terms, &mut |_, list| lists.push(list.clone()))?;
        Ok(lists)
    }
}
