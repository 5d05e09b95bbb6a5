//! Rebuilds the index of a session from its packages, and checks whether it matches what rebuilding would
//! produce.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{Package, PackageId};
use handover_store::packed::{Entry, IndexCheck, Pages, Predecessors};
use handover_store::rows::{self, REGISTRATION};
use handover_store::{Packages, Reindexed, Result};

use crate::PostgresStore;
use crate::index::{FRESH_TERMS, PAGES, SELECT_SHEETS, SHEETS, read_terms};
use crate::link::Statement;
use crate::value::{self, PgRow, params};

/// How many packages are read and indexed at a time.
const BATCH: usize = 500;

/// The tables of the index, and how each refers to a session's rows.
const CLEAR: [&str; 4] = [
    "DELETE FROM candidate_sheet WHERE session = $1",
    "DELETE FROM posting_page WHERE session = $1",
    "DELETE FROM fresh_package WHERE session = $1",
    "DELETE FROM package_terms WHERE package IN (SELECT id FROM package WHERE session = $1)",
];

impl PostgresStore {
    /// Rebuilds the indexes of sessions, whatever they contain.
    pub(crate) fn rebuild(&self, sessions: &[i64]) -> Result<Reindexed> {
        let mut rebuilt = Reindexed::default();
        for &session in sessions {
            let params = params![session];
            self.change_all(&CLEAR.map(|sql| Statement { sql, params }))?;
            self.each_latest(session, |packages, bodies, predecessors| {
                let entries: Vec<Entry<'_>> =
                    packages.iter().zip(bodies).map(|(one, body)| Entry::of(one, body)).collect();
                rebuilt.packages += entries.len() as u64;
                self.index(session, &entries, predecessors)?;
                // Batch by batch: the postings of a large session are too much for one statement.
                self.settle(session)
            })?;
            rebuilt.sessions += 1;
        }
        Ok(rebuilt)
    }

    /// What differs between a session's index and its packages.
    pub(crate) fn index_problems(&self, session: i64) -> Result<Vec<String>> {
        let mut check = IndexCheck::new(SHEETS, PAGES);
        let sql = format!("{SELECT_SHEETS} WHERE session = $1 ORDER BY sheet");
        for row in self.rows(&sql, params![session])? {
            check.sheet(value::int(&row, "sheet")?, value::bytes(&row, "candidates")?);
        }
        for (id, packed) in self.all(
            "SELECT t.package, t.terms FROM package_terms t JOIN package p ON p.id = t.package
             WHERE p.session = $1",
            params![session],
            read_terms,
        )? {
            check.terms(id, packed);
        }
        let sql = format!("{FRESH_TERMS} WHERE f.session = $1");
        let fresh = self.all(&sql, params![session], |row| Ok(read_terms(row)?.0))?;
        let mut pages = Pages::new();
        for row in self.rows(
            "SELECT term, page, postings FROM posting_page WHERE session = $1",
            params![session],
        )? {
            let key = (value::text(&row, "term")?, value::int(&row, "page")?);
            pages.insert(key, value::bytes(&row, "postings")?.to_vec());
        }
        check.postings(&fresh.into_iter().collect::<BTreeSet<_>>(), &pages);
        self.each_latest(session, |packages, bodies, predecessors| {
            for ((package, body), predecessor) in packages.iter().zip(bodies).zip(predecessors) {
                check.package(&Entry::of(package, body), predecessor.as_deref());
            }
            Ok(())
        })?;
        Ok(check.finish())
    }

    /// Visits the latest packages of a session in batches, by id, with their bodies and the summaries of
    /// their predecessors.
    fn each_latest(
        &self,
        session: i64,
        mut visit: impl FnMut(&[Package], &[String], &[Option<String>]) -> Result<()>,
    ) -> Result<()> {
        let mut replayed = Predecessors::default();
        let mut latest: BTreeMap<PackageId, Option<String>> = BTreeMap::new();
        let sql = format!("SELECT {REGISTRATION} FROM package WHERE session = $1 ORDER BY id");
        for row in self.rows(&sql, params![session])? {
            let (registration, is_latest) = rows::registration(&PgRow(&row))?;
            let id = registration.id;
            let predecessor = replayed.register(registration);
            if is_latest {
                latest.insert(id, predecessor);
            }
        }
        let (ids, predecessors): (Vec<PackageId>, Vec<Option<String>>) = latest.into_iter().unzip();
        for (ids, predecessors) in ids.chunks(BATCH).zip(predecessors.chunks(BATCH)) {
            visit(&self.packages_by_id(ids)?, &self.package_bodies(ids)?, predecessors)?;
        }
        Ok(())
    }
}
