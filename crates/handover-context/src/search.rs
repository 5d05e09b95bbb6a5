//! Full-text search over a session's packages.

use std::collections::HashSet;

use handover_model::{GroupId, Package, PackageId, SessionId, Timestamp};
use handover_store::{Result, Store, StoreError};
use handover_text::{cut, words};

use crate::rank::{Metadata, relevance};

const SNIPPET_CHARS: usize = 160;

/// A package that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The package.
    pub package: Package,
    /// How well it fits, on the scale of an assembly with a task.
    pub score: f64,
    /// The part of its text that fits best.
    pub snippet: String,
}

/// What to search for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// Only what this group would see: its own packages and the global ones.
    pub group: Option<&'a GroupId>,
    /// The words.
    pub text: &'a str,
    /// At most so many.
    pub limit: usize,
    /// The weight of what is known besides.
    pub prior: f64,
    /// Now.
    pub now: Timestamp,
}

/// The packages of a session that fit a query, best first; ties by newest, then by id.
pub fn search(store: &dyn Store, query: &Query<'_>) -> Result<Vec<Hit>> {
    // The prior can lift a package by a tenth, and a group takes only its share.
    let depth = match query.group {
        Some(_) => usize::MAX,
        None => query.limit.saturating_mul(2).saturating_add(20),
    };
    let mut ranked = relevance(store, query.session, query.text, depth)?;
    if let Some(group) = query.group {
        let seen = seen_by(store, query.session, group)?;
        ranked.retain(|(id, _)| seen.contains(id));
        ranked.truncate(query.limit.saturating_mul(2).saturating_add(20));
    }
    let mut hits = Vec::new();
    for (id, relevance) in ranked {
        let package = store.package(id)?;
        let known = Metadata::plain(package.priority, package.created_at, query.now);
        let score = relevance + query.prior * known.score() / Metadata::MAX;
        hits.push(Hit { package, score, snippet: String::new() });
    }
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.package.created_at.cmp(&a.package.created_at))
            .then(b.package.id.cmp(&a.package.id))
    });
    hits.truncate(query.limit);
    let terms = words::terms(query.text);
    for hit in &mut hits {
        let body = store.package_body(hit.package.id)?;
        hit.snippet = snippet(&hit.package.summary, &body, &terms);
    }
    Ok(hits)
}

/// What a group sees: its own packages, the global ones, and those chosen for it.
fn seen_by(store: &dyn Store, session: &SessionId, group: &GroupId) -> Result<HashSet<PackageId>> {
    let candidates = store.candidates(session, Some(group), None)?;
    let own = candidates.iter().filter(|c| c.same_group || c.global).map(|c| c.id);
    let mut seen: HashSet<PackageId> = own.collect();
    seen.extend(referenced(store, session, group)?);
    Ok(seen)
}

/// The packages that a planner chose for a group, in their latest versions.
pub(crate) fn referenced(
    store: &dyn Store,
    session: &SessionId,
    group: &GroupId,
) -> Result<HashSet<PackageId>> {
    let references = match store.group(session, group) {
        Ok(group) => group.references,
        // A group exists once it is named; this may be the first time.
        Err(StoreError::NotFound { what: "group", .. }) => return Ok(HashSet::new()),
        Err(error) => return Err(error),
    };
    let mut latest = HashSet::new();
    for id in references {
        latest.extend(store.package_history(id)?.last().map(|package| package.id));
    }
    Ok(latest)
}

/// The line of the text with most of the terms, else the summary.
fn snippet(summary: &str, body: &str, terms: &[String]) -> String {
    let hits = |text: &str| {
        let words = words::terms(text);
        terms.iter().filter(|term| words.contains(term)).count()
    };
    let mut best = (hits(summary), summary);
    for line in body.lines().map(str::trim).filter(|l| !l.is_empty()).take(500) {
        let found = hits(line);
        if found > best.0 {
            best = (found, line);
        }
    }
    cut::cut(best.1.trim_start_matches(['#', '-', '*', '>', ' ']), SNIPPET_CHARS)
}

#[cfg(test)]
mod tests {
    use handover_model::{PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp};
    use handover_sqlite::SqliteStore;
    use handover_store::{NewPackage, NewSession, Packages, Sessions, Supersede};
    use handover_text::{CleanJson, Redactor};

    use super::*;

    fn store() -> (tempfile::TempDir, SqliteStore, SessionId) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let id = SessionId::new("s1").unwrap();
        let new = NewSession {
            id: id.clone(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: Timestamp::from_micros(0),
        };
        store.open_session(&new).unwrap();
        (folder, store, id)
    }

    fn add(store: &SqliteStore, session: &SessionId, path: &str, summary: &str, body: &str) {
        let redactor = Redactor::default();
        let new = NewPackage {
            session: session.clone(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: path.to_owned(),
            title: None,
            summary: redactor.clean(summary),
            files: Vec::new(),
            body: redactor.clean(body),
            producer: Role::new("developer").unwrap(),
            consumers: Vec::new(),
            priority: Priority::Medium,
            iteration: None,
            size_bytes: 0,
            tokens: 0,
            content_hash: path.to_owned(),
            supersede: Supersede::SamePath,
            created_at: Timestamp::from_micros(0),
        };
        store.register_packages(&[new]).unwrap();
    }

    fn query<'a>(session: &'a SessionId, text: &'a str) -> Query<'a> {
        let now = Timestamp::from_micros(0);
        Query { session, group: None, text, limit: 10, prior: 0.1, now }
    }

    fn paths(store: &SqliteStore, session: &SessionId, query_text: &str) -> Vec<String> {
        let hits = search(store, &query(session, query_text)).unwrap();
        hits.into_iter().map(|hit| hit.package.path).collect()
    }

    #[test]
    fn what_fits_best_comes_first() {
        let (_folder, store, s) = store();
        add(
            &store,
            &s,
            "cache.md",
            "Cache invalidation",
            "The cache is cleared when a user logs out.",
        );
        add(&store, &s, "oauth.md", "OAuth refresh tokens", "How getUserById reads the token.");
        add(&store, &s, "ui.md", "Buttons", "Colours of the login button; user tests.");
        assert_eq!(paths(&store, &s, "refreshing an oauth token"), ["oauth.md"]);
        assert_eq!(paths(&store, &s, "user by id")[0], "oauth.md");
        assert_eq!(paths(&store, &s, "the"), [""; 0]);
        assert_eq!(paths(&store, &s, "\" OR * NEAR("), [""; 0]);
    }

    #[test]
    fn a_word_in_the_summary_says_more() {
        let (_folder, store, s) = store();
        add(&store, &s, "body.md", "Something else", "retry logic here");
        add(&store, &s, "summary.md", "Retry logic", "something else here");
        assert_eq!(paths(&store, &s, "retry"), ["summary.md", "body.md"]);
    }

    #[test]
    fn the_snippet_shows_the_line_that_fits() {
        let (_folder, store, s) = store();
        add(
            &store,
            &s,
            "a.md",
            "Notes",
            "# Title\n\nfirst line\n- the gateway times out after 30 s\nlast",
        );
        let hits = search(&store, &query(&s, "gateway timeout")).unwrap();
        assert_eq!(hits[0].snippet, "the gateway times out after 30 s");
    }
}
