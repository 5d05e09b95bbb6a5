//! The full-text index: where words occur. Ranking is done elsewhere, once for all backends.

use handover_model::SessionId;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::packed::Postings;

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
    /// Visits the postings of each term in a session, in the order of the terms and sorted by package. Only
    /// one list is in memory at a time. The cost depends on the packages of this session, not on other
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

    /// The words of a session's index that differ from this one by the fewest slips, at most as many as
    /// given. See [`handover_text::typos`].
    fn words_like(&self, session: &SessionId, word: &str, slips: u32) -> Result<Vec<String>>;

    /// Rebuilds the index of one session, or of all, from the packages. The existing index is not read, so
    /// that a damaged one can be replaced; an intact one stays the same.
    fn reindex(&self, session: Option<&SessionId>) -> Result<Reindexed>;
}
