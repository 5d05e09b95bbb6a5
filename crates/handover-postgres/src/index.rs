//! The text index over the latest versions of packages, and what ranking needs to know of each: the
//! pages of [`handover_store::packed`] in tables. Many pages go to the server in one statement.

use handover_model::{GroupId, PackageId, Role, SessionId};
use handover_store::packed::{self, Entry, FRESH, Pages};
use handover_store::{Candidate, Posting, Result, StoreError, TextIndex};

use crate::PostgresStore;
use crate::value::{self, Param, params};

impl PostgresStore {
    /// Puts a package into the index of its session.
    pub(crate) fn index(&self, session: i64, entry: &Entry<'_>) -> Result<()> {
        let terms = entry.terms(self.before(session, entry)?.as_deref());
        let mut candidate = Vec::new();
        packed::add_candidate(&mut candidate, entry, &terms);
        let (page, _) = packed::place(entry.id);
        self.change(
            "INSERT INTO candidate_page AS c (session, page, candidates) VALUES ($1, $2, $3)
             ON CONFLICT (session, page)
                DO UPDATE SET candidates = c.candidates || excluded.candidates",
            params![session, page, candidate.as_slice()],
        )?;
        self.change(
            "WITH kept AS (INSERT INTO package_terms (package, terms) VALUES ($2, $3))
             INSERT INTO fresh_package (session, package) VALUES ($1, $2)",
            params![session, entry.id.0, terms.packed().as_slice()],
        )?;
        Ok(())
    }

    /// Moves fresh packages into the postings once enough have gathered.
    pub(crate) fn settle(&self, session: i64) -> Result<()> {
        let fresh = self.fresh(session)?;
        if fresh.len() < FRESH {
            return Ok(());
        }
        let (terms, numbers, blobs) = columns(packed::posting_pages(&fresh)?)?;
        // Their ids are the highest, so they come behind what a page has.
        self.change(
            "INSERT INTO posting_page AS p (session, term, page, postings)
             SELECT $1, * FROM unnest($2, $3, $4)
             ON CONFLICT (session, term, page)
                DO UPDATE SET postings = p.postings || excluded.postings",
            &[session.into(), terms, numbers, blobs],
        )?;
        self.change("DELETE FROM fresh_package WHERE session = $1", params![session])?;
        Ok(())
    }

    /// Takes a package out of the index.
    pub(crate) fn forget(&self, session: i64, id: PackageId) -> Result<()> {
        let (page, _) = packed::place(id);
        let candidates = self
            .first(
                "SELECT candidates FROM candidate_page WHERE session = $1 AND page = $2",
                params![session, page],
                |r| packed::without_candidate(value::bytes(r, "candidates")?, id),
            )?
            .unwrap_or_default();
        if candidates.is_empty() {
            let delete = "DELETE FROM candidate_page WHERE session = $1 AND page = $2";
            self.change(delete, params![session, page])?;
        } else {
            self.change(
                "UPDATE candidate_page SET candidates = $3 WHERE session = $1 AND page = $2",
                params![session, page, candidates.as_slice()],
            )?;
        }
        let was_fresh = self.change(
            "DELETE FROM fresh_package WHERE session = $1 AND package = $2",
            params![session, id.0],
        )?;
        if was_fresh == 0 {
            self.forget_postings(session, id)?;
        }
        self.change("DELETE FROM package_terms WHERE package = $1", params![id.0])?;
        Ok(())
    }

    fn forget_postings(&self, session: i64, id: PackageId) -> Result<()> {
        let (page, _) = packed::place(id);
        let alone = packed::posting_pages(&[(id, self.terms_of(id)?)])?;
        let (terms, ..) = columns(alone)?;
        let mut kept = Pages::new();
        for row in self.rows(
            "SELECT term, postings FROM posting_page
             WHERE session = $1 AND page = $2 AND term = ANY($3)",
            &[session.into(), page.into(), terms],
        )? {
            let postings = packed::without_posting(value::bytes(&row, "postings")?, id)?;
            kept.insert((value::text(&row, "term")?.into_bytes(), page), postings);
        }
        let (terms, numbers, blobs) = columns(kept)?;
        self.change(
            "UPDATE posting_page p SET postings = n.postings
             FROM unnest($2, $3, $4) AS n (term, page, postings)
             WHERE p.session = $1 AND p.term = n.term COLLATE \"C\" AND p.page = n.page",
            &[session.into(), terms, numbers, blobs],
        )?;
        self.change(
            "DELETE FROM posting_page WHERE session = $1 AND page = $2 AND postings = ''",
            params![session, page],
        )?;
        Ok(())
    }

    /// What is wrong in a session's index.
    pub(crate) fn index_problems(&self, session: i64) -> Result<Vec<String>> {
        let latest: Vec<PackageId> = self.all(
            "SELECT id FROM package WHERE session = $1 AND superseded_by IS NULL ORDER BY id",
            params![session],
            |r| Ok(PackageId(value::int(r, "id")?)),
        )?;
        let found = self.index_candidates(session, None, None)?;
        let known: Vec<PackageId> = found.into_iter().map(|c| c.id).collect();
        let mut problems = Vec::new();
        if known != latest {
            problems.push(format!("{} packages, {} of them indexed", latest.len(), known.len()));
        }
        let settled = self.all(
            "SELECT t.package, t.terms FROM package_terms t JOIN package p ON p.id = t.package
             WHERE p.session = $1 AND NOT EXISTS
                (SELECT 1 FROM fresh_package f WHERE f.session = $1 AND f.package = t.package)
             ORDER BY t.package",
            params![session],
            |r| Ok((PackageId(value::int(r, "package")?), value::bytes(r, "terms")?.to_vec())),
        )?;
        let expected = packed::posting_pages(&settled)?;
        let mut pages = Pages::new();
        for row in self.rows(
            "SELECT term, page, postings FROM posting_page WHERE session = $1",
            params![session],
        )? {
            let at = (value::text(&row, "term")?.into_bytes(), value::int(&row, "page")?);
            pages.insert(at, value::bytes(&row, "postings")?.to_vec());
        }
        if expected != pages {
            problems.push("the postings are not those of the packages".to_owned());
        }
        Ok(problems)
    }

    /// All latest versions of a session, as a role of a group sees them, by id.
    pub(crate) fn index_candidates(
        &self,
        session: i64,
        group: Option<&GroupId>,
        role: Option<&Role>,
    ) -> Result<Vec<Candidate>> {
        let mut found = Vec::new();
        for row in self.rows(
            "SELECT page, candidates FROM candidate_page WHERE session = $1 ORDER BY page",
            params![session],
        )? {
            let (page, packed) = (value::int(&row, "page")?, value::bytes(&row, "candidates")?);
            packed::read_candidates(page, packed, group, role, &mut found)?;
        }
        Ok(found)
    }

    fn terms_of(&self, id: PackageId) -> Result<Vec<u8>> {
        let sql = "SELECT terms FROM package_terms WHERE package = $1";
        self.first(sql, params![id.0], |r| Ok(value::bytes(r, "terms")?.to_vec()))?
            .ok_or_else(|| StoreError::damaged("a package has no terms"))
    }

    /// The packages that are not in the postings yet, with their terms.
    fn fresh(&self, session: i64) -> Result<Vec<(PackageId, Vec<u8>)>> {
        self.all(
            "SELECT f.package, t.terms FROM fresh_package f
                JOIN package_terms t ON t.package = f.package
             WHERE f.session = $1 ORDER BY f.package",
            params![session],
            |r| Ok((PackageId(value::int(r, "package")?), value::bytes(r, "terms")?.to_vec())),
        )
    }

    /// The summary of the package before this one in its group.
    fn before(&self, session: i64, entry: &Entry<'_>) -> Result<Option<String>> {
        let Some(group) = entry.group else { return Ok(None) };
        self.first(
            "SELECT summary FROM package WHERE session = $1 AND coalesce(group_id, '') = $2
                AND superseded_by IS NULL AND id <> $3 AND created_at <= $4
             ORDER BY created_at DESC, id DESC LIMIT 1",
            params![session, group.as_str(), entry.id.0, entry.created_at],
            |r| value::text(r, "summary"),
        )
    }
}

/// Pages as three columns of one length.
fn columns(pages: Pages) -> Result<(Param<'static>, Param<'static>, Param<'static>)> {
    let (mut terms, mut numbers, mut blobs) = (Vec::new(), Vec::new(), Vec::new());
    for ((term, page), postings) in pages {
        let term = String::from_utf8(term).map_err(|_| StoreError::damaged("a term is no text"))?;
        terms.push(Some(term.into()));
        numbers.push(Some(page));
        blobs.push(Some(postings));
    }
    Ok((Param::Texts(terms), Param::Ints(numbers), Param::Blobs(blobs)))
}

impl TextIndex for PostgresStore {
    fn each_postings(
        &self,
        session: &SessionId,
        terms: &[String],
        visit: &mut dyn FnMut(usize, &[Posting]),
    ) -> Result<()> {
        let session = self.session_key(session)?;
        let newer = packed::fresh_postings(&self.fresh(session)?, terms)?;
        // One question for all terms: each way to the server costs more than the pages.
        let asked = Param::Texts(terms.iter().map(|term| Some(term.as_str().into())).collect());
        let rows = self.rows(
            "SELECT q.place, p.page, p.postings
             FROM unnest($2) WITH ORDINALITY AS q (term, place)
                JOIN posting_page p ON p.session = $1 AND p.term = q.term COLLATE \"C\"
             ORDER BY q.place, p.page",
            &[session.into(), asked],
        )?;
        let mut rows = rows.iter().peekable();
        let mut list = Vec::new();
        for (at, newer) in newer.iter().enumerate() {
            list.clear();
            while let Some(row) = rows.peek() {
                if value::int::<i64>(row, "place")? != at as i64 + 1 {
                    break;
                }
                let (page, packed) = (value::int(row, "page")?, value::bytes(row, "postings")?);
                packed::read_postings(page, packed, &mut list)?;
                rows.next();
            }
            list.extend_from_slice(newer);
            visit(at, &list);
        }
        Ok(())
    }
}
