//! Full-text search over a session's packages.
//!
//! The store says where words occur; ranking happens here, the same for every backend: BM25 over
//! weighted columns (a word in the summary says more than one in the body), with rarity measured
//! within the session, so that other sessions never change the order.

use std::collections::HashMap;

use handover_model::{GroupId, Package, PackageId, Scope, SessionId};
use handover_store::{Column, Posting, Result, Store};
use handover_text::{cut, words};

/// More words than this add time and no meaning.
const MAX_TERMS: usize = 64;
/// How fast repetitions stop counting.
const K1: f64 = 1.2;
/// How much long texts are held back.
const B: f64 = 0.6;
/// How many of the best are ranked again with their lengths.
const SECOND_LOOK: usize = 200;
const SNIPPET_CHARS: usize = 160;

fn weight(column: Column) -> f64 {
    match column {
        Column::Title | Column::Summary => 3.0,
        Column::Files => 2.0,
        Column::Body => 1.0,
    }
}

/// A package that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The package.
    pub package: Package,
    /// How well it fits; only comparable within one search.
    pub score: f64,
    /// The part of its text that fits best.
    pub snippet: String,
}

/// The packages of a session that fit a query, best first; ties by newest, then by id. With a
/// group, only those that the group would see: its own and the global ones.
pub fn search(
    store: &dyn Store,
    session: &SessionId,
    group: Option<&GroupId>,
    query: &str,
    limit: usize,
) -> Result<Vec<Hit>> {
    let terms = distinct(words::terms(query));
    // A group takes its share out of the ranking, so the ranking must be longer.
    let depth = if group.is_some() { usize::MAX } else { limit };
    let ranked = rank(store, session, &terms, depth)?;
    let mut hits = Vec::with_capacity(ranked.len());
    for (id, score) in ranked {
        if hits.len() == limit {
            break;
        }
        let package = store.package(id)?;
        let seen = |group: &GroupId| {
            package.scope == Scope::Global || package.group.as_ref() == Some(group)
        };
        if !group.is_none_or(seen) {
            continue;
        }
        let body = store.package_body(id)?;
        let snippet = snippet(&package.summary, &body, &terms);
        hits.push(Hit { package, score, snippet });
    }
    hits.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(b.package.created_at.cmp(&a.package.created_at))
            .then(b.package.id.cmp(&a.package.id))
    });
    Ok(hits)
}

fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<String> = terms.into_iter().filter(|t| seen.insert(t.clone())).collect();
    kept.truncate(MAX_TERMS);
    kept
}

/// Where one term occurs in one package.
struct Occurrence {
    term: usize,
    column: Column,
    count: u32,
}

fn rank(
    store: &dyn Store,
    session: &SessionId,
    terms: &[String],
    limit: usize,
) -> Result<Vec<(PackageId, f64)>> {
    let size = store.index_size(session)?;
    let postings = store.postings(session, terms)?;
    let rarity: Vec<f64> = postings
        .iter()
        .map(|list| {
            let packages = count_packages(list) as f64;
            (1.0 + (size.packages as f64 - packages + 0.5).max(0.0) / (packages + 0.5)).ln()
        })
        .collect();
    let mut found: HashMap<PackageId, Vec<Occurrence>> = HashMap::new();
    for (term, list) in postings.iter().enumerate() {
        for posting in list {
            let Posting { package, column, count } = *posting;
            found.entry(package).or_default().push(Occurrence { term, column, count });
        }
    }
    let mut first: Vec<(PackageId, f64)> = found
        .iter()
        .map(|(id, occurrences)| (*id, score(occurrences, &rarity, &[1.0; 4])))
        .collect();
    let keep = SECOND_LOOK.max(limit.saturating_mul(2));
    best(&mut first, keep);
    let ids: Vec<PackageId> = first.iter().map(|(id, _)| *id).collect();
    let average = size.terms.map(|sum| (sum as f64 / size.packages.max(1) as f64).max(1.0));
    let mut second: Vec<(PackageId, f64)> = store
        .term_counts(&ids)?
        .into_iter()
        .zip(&ids)
        .map(|(counts, id)| {
            let mut damping = [1.0; 4];
            for (slot, (count, average)) in damping.iter_mut().zip(counts.iter().zip(average)) {
                *slot = 1.0 - B + B * *count as f64 / average;
            }
            (*id, score(&found[id], &rarity, &damping))
        })
        .collect();
    best(&mut second, limit);
    Ok(second)
}

fn count_packages(postings: &[Posting]) -> usize {
    // Sorted by package, so equal ones are neighbours.
    postings.chunk_by(|a, b| a.package == b.package).count()
}

fn score(occurrences: &[Occurrence], rarity: &[f64], damping: &[f64; 4]) -> f64 {
    occurrences
        .chunk_by(|a, b| a.term == b.term)
        .map(|of_term| {
            let frequency: f64 = of_term
                .iter()
                .map(|o| weight(o.column) * f64::from(o.count) / damping[o.column as usize])
                .sum();
            rarity[of_term[0].term] * frequency * (K1 + 1.0) / (frequency + K1)
        })
        .sum()
}

/// Keeps the best, in order; equal scores are ordered by id, newest first.
fn best(scored: &mut Vec<(PackageId, f64)>, keep: usize) {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scored.truncate(keep);
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

    fn paths(store: &SqliteStore, session: &SessionId, query: &str) -> Vec<String> {
        let hits = search(store, session, None, query, 10).unwrap();
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
        let hits = search(&store, &s, None, "gateway timeout", 10).unwrap();
        assert_eq!(hits[0].snippet, "the gateway times out after 30 s");
    }
}
