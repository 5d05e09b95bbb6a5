//! Full-text search over a session's packages.

use std::collections::HashSet;

use handover_model::config::AssemblyConfig;
use handover_model::{GroupId, Package, PackageId, SessionId, Timestamp};
use handover_store::{Candidate, RecordKind, Result, Store, StoreError};
use handover_text::{cut, words};

use crate::rank::{Best, Key, Metadata, Ranking, View};

const SNIPPET_CHARS: usize = 160;

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The matching package.
    pub package: Package,
    /// Its score, on the scale of an assembly with a task.
    pub score: f64,
    /// The best matching part of its text.
    pub snippet: String,
}

/// A search request.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The session to search.
    pub session: &'a SessionId,
    /// Restricts results to what this group would see: its own packages and the global ones.
    pub group: Option<&'a GroupId>,
    /// The search text.
    pub text: &'a str,
    /// The most results.
    pub limit: usize,
    /// Weights of columns and metadata.
    pub config: &'a AssemblyConfig,
    /// The current time, for recency.
    pub now: Timestamp,
}

/// The packages of a session that match a query, best first; ties by newest, then by id.
pub fn search(store: &dyn Store, query: &Query<'_>) -> Result<Vec<Hit>> {
    let view = View { store, session: query.session, group: query.group, role: None };
    let ranking = Ranking::new(view, Some(query.text), &query.config.weights)?;
    let chosen = match query.group {
        Some(group) => referenced(store, query.session, group)?,
        None => HashSet::new(),
    };
    let seen = |candidate: &Candidate| {
        query.group.is_none()
            || candidate.same_group
            || candidate.global
            || chosen.contains(&candidate.id)
    };
    let mut best = Best::new(query.limit);
    ranking.each(&mut |candidate, relevance| {
        if relevance > 0.0 && seen(candidate) {
            let known = Metadata::plain(candidate, query.now).score() / Metadata::MAX;
            let score = relevance + query.config.prior * known;
            best.push(&Key { tier: 0, score, relevance, candidate: *candidate });
        }
    })?;
    let mut found = best.ascending();
    found.reverse();
    let terms = words::terms(query.text);
    let ids: Vec<PackageId> = found.iter().map(|key| key.candidate.id).collect();
    let (packages, bodies) = (store.packages_by_id(&ids)?, store.package_bodies(&ids)?);
    let hits = found.iter().zip(packages.into_iter().zip(bodies));
    Ok(hits
        .map(|(key, (package, body))| {
            let snippet = snippet(&package.summary, &body, &terms);
            Hit { package, score: key.score, snippet }
        })
        .collect())
}

/// The packages a planner chose for a group, in their latest versions.
pub(crate) fn referenced(
    store: &dyn Store,
    session: &SessionId,
    group: &GroupId,
) -> Result<HashSet<PackageId>> {
    let references = match store.group(session, group) {
        Ok(group) => group.references,
        // A group exists once it is named; this may be the first time.
        Err(StoreError::NotFound { what: RecordKind::Group, .. }) => return Ok(HashSet::new()),
        Err(error) => return Err(error),
    };
    let mut latest = HashSet::new();
    for package in store.packages_by_id(&references)? {
        match package.superseded_by {
            None => latest.insert(package.id),
            Some(_) => {
                let history = store.package_history(package.id)?;
                latest.insert(history.last().map_or(package.id, |last| last.id))
            }
        };
    }
    Ok(latest)
}

/// The line with the most terms, else the summary.
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

    fn find(store: &SqliteStore, session: &SessionId, text: &str) -> Vec<Hit> {
        let (now, config) = (Timestamp::from_micros(0), AssemblyConfig::default());
        let query = Query { session, group: None, text, limit: 10, config: &config, now };
        search(store, &query).unwrap()
    }

    fn paths(store: &SqliteStore, session: &SessionId, text: &str) -> Vec<String> {
        find(store, session, text).into_iter().map(|hit| hit.package.path).collect()
    }

    #[test]
    fn best_match_comes_first() {
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
    fn slice_size_does_not_affect_the_ranking() {
        let (_folder, store, session) = store();
        for n in 0..300 {
            let (summary, body) = ("cache ".repeat(n % 7), "login ".repeat(n % 11 + 1));
            add(&store, &session, &format!("{n}.md"), &summary, &body);
        }
        let ranked = |slice| {
            let view = View { store: &store, session: &session, group: None, role: None };
            let weights = AssemblyConfig::default().weights;
            let text = Some("cache of tokens\nwith a login");
            let ranking = Ranking::in_slices(view, text, &weights, slice).unwrap();
            let mut all = Vec::new();
            ranking.each(&mut |candidate, of| all.push((*candidate, of.to_bits()))).unwrap();
            all
        };
        let (whole, sliced) = (ranked(u32::MAX), ranked(1));
        assert_eq!(whole.len(), 300);
        assert!(whole.iter().any(|(_, of)| *of == 1_f64.to_bits()));
        assert_eq!(whole, sliced);
    }

    #[test]
    fn summary_matches_outrank_body_matches() {
        let (_folder, store, s) = store();
        add(&store, &s, "body.md", "Something else", "retry logic here");
        add(&store, &s, "summary.md", "Retry logic", "something else here");
        assert_eq!(paths(&store, &s, "retry"), ["summary.md", "body.md"]);
    }

    #[test]
    fn snippet_is_the_matching_line() {
        let (_folder, store, s) = store();
        add(
            &store,
            &s,
            "a.md",
            "Notes",
            "# Title\n\nfirst line\n- the gateway times out after 30 s\nlast",
        );
        let hits = find(&store, &s, "gateway timeout");
        assert_eq!(hits[0].snippet, "the gateway times out after 30 s");
    }
}
