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

/// The line with the most terms, else the summary. A heading says less than a line below it.
pub(crate) fn snippet(summary: &str, body: &str, terms: &[String]) -> String {
    let hits = |text: &str| {
        let words = words::terms(text);
        terms.iter().filter(|term| words.contains(term)).count()
    };
    let mut best = ((hits(summary), true), summary);
    for line in body.lines().map(str::trim).filter(|l| !l.is_empty()).take(500) {
        let found = (hits(line), !line.starts_with('#'));
        if found > best.0 {
            best = (found, line);
        }
    }
    cut::cut(best.1.trim_start_matches(['#', '-', '*', '>', ' ']), SNIPPET_CHARS)
}

#[cfg(test)]
mod tests {
    use handover_model::{Priority, Scope};
    use handover_store::{GroupUpdate, Groups};

    use super::*;
    use crate::testing::{TestProject, at, group};

    fn add(project: &TestProject, path: &str, summary: &str, body: &str) -> PackageId {
        project.register(project.package(path, summary, body)).id
    }

    fn search_in(project: &TestProject, group: Option<&GroupId>, text: &str) -> Vec<Hit> {
        let config = AssemblyConfig::default();
        let (session, now) = (&project.session, at(0));
        let query = Query { session, group, text, limit: 10, config: &config, now };
        search(&project.store, &query).unwrap()
    }

    fn find(project: &TestProject, text: &str) -> Vec<Hit> {
        search_in(project, None, text)
    }

    fn paths(project: &TestProject, text: &str) -> Vec<String> {
        find(project, text).into_iter().map(|hit| hit.package.path).collect()
    }

    #[test]
    fn best_match_comes_first() {
        let project = TestProject::new();
        add(
            &project,
            "cache.md",
            "Cache invalidation",
            "The cache is cleared when a user logs out.",
        );
        add(&project, "oauth.md", "OAuth refresh tokens", "How getUserById reads the token.");
        add(&project, "ui.md", "Buttons", "Colours of the login button; user tests.");
        assert_eq!(paths(&project, "refreshing an oauth token"), ["oauth.md"]);
        assert_eq!(paths(&project, "user by id")[0], "oauth.md");
        assert_eq!(paths(&project, "the"), [""; 0]);
        assert_eq!(paths(&project, "\" OR * NEAR("), [""; 0]);
    }

    #[test]
    fn slice_size_does_not_affect_the_ranking() {
        let project = TestProject::new();
        for n in 0..300 {
            let (summary, body) = ("cache ".repeat(n % 7), "login ".repeat(n % 11 + 1));
            add(&project, &format!("{n}.md"), &summary, &body);
        }
        let ranked = |slice| {
            let session = &project.session;
            let view = View { store: &project.store, session, group: None, role: None };
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
        let project = TestProject::new();
        add(&project, "body.md", "Something else", "retry logic here");
        add(&project, "summary.md", "Retry logic", "something else here");
        assert_eq!(paths(&project, "retry"), ["summary.md", "body.md"]);
    }

    #[test]
    fn rare_words_outrank_frequent_ones() {
        let project = TestProject::new();
        for n in 0..8 {
            add(&project, &format!("{n}.md"), "the common token", &format!("body {n}"));
        }
        add(&project, "rare.md", "the gargoyle", "body");
        assert_eq!(paths(&project, "common gargoyle")[0], "rare.md");
    }

    #[test]
    fn ties_go_to_the_newest_then_to_the_higher_id() {
        let project = TestProject::new();
        let at_time = |path: &str, seconds| {
            let mut new = project.package(path, "retry logic", path);
            new.created_at = at(seconds);
            project.register(new)
        };
        at_time("old.md", -1_000);
        at_time("first.md", 0);
        at_time("second.md", 0);
        assert_eq!(paths(&project, "retry"), ["second.md", "first.md", "old.md"]);
    }

    #[test]
    fn priority_decides_between_equal_matches() {
        let project = TestProject::new();
        for (path, priority) in [
            ("low.md", Priority::Low),
            ("critical.md", Priority::Critical),
            ("medium.md", Priority::Medium),
        ] {
            let mut new = project.package(path, "retry logic", path);
            new.priority = priority;
            project.register(new);
        }
        assert_eq!(paths(&project, "retry"), ["critical.md", "medium.md", "low.md"]);
    }

    #[test]
    fn the_limit_keeps_the_best() {
        let project = TestProject::new();
        for n in 1..=5 {
            add(&project, &format!("{n}.md"), &"retry ".repeat(n), "x");
        }
        let config = AssemblyConfig::default();
        let found = |limit| {
            let (session, now, text) = (&project.session, at(0), "retry");
            let query = Query { session, group: None, text, limit, config: &config, now };
            search(&project.store, &query).unwrap().len()
        };
        assert_eq!([found(0), found(1), found(3), found(10)], [0, 1, 3, 5]);
        let all = find(&project, "retry");
        assert!(all.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn superseded_versions_are_never_found() {
        let project = TestProject::new();
        add(&project, "a.md", "about dragons", "dragons");
        add(&project, "a.md", "about unicorns", "unicorns");
        assert_eq!(paths(&project, "dragons"), [""; 0]);
        let hits = find(&project, "unicorns");
        assert_eq!((hits.len(), hits[0].package.version), (1, 2));
    }

    #[test]
    fn a_group_sees_its_own_the_global_and_the_referenced_packages() {
        let project = TestProject::new();
        let in_group = |path: &str, name: &str| {
            let mut new = project.package(path, "retry logic", path);
            (new.group, new.scope) = (Some(group(name)), Scope::Group);
            project.register(new).id
        };
        in_group("mine.md", "P1");
        in_group("theirs.md", "P2");
        let chosen = in_group("chosen.md", "P2");
        add(&project, "global.md", "retry logic", "global");
        let seen = || {
            let hits = search_in(&project, Some(&group("P1")), "retry");
            let mut paths: Vec<String> = hits.into_iter().map(|hit| hit.package.path).collect();
            paths.sort();
            paths
        };
        assert_eq!(seen(), ["global.md", "mine.md"]);
        let mut update = GroupUpdate::new(project.session.clone(), group("P1"), at(1));
        update.references = Some(vec![chosen]);
        project.store.set_group(&update).unwrap();
        assert_eq!(seen(), ["chosen.md", "global.md", "mine.md"]);
        // The latest version counts, whichever was chosen.
        let mut new = project.package("chosen.md", "retry logic again", "new");
        (new.group, new.scope) = (Some(group("P2")), Scope::Group);
        let latest = project.register(new).id;
        let referenced = referenced(&project.store, &project.session, &group("P1")).unwrap();
        assert_eq!(referenced, HashSet::from([latest]));
        assert_eq!(seen(), ["chosen.md", "global.md", "mine.md"]);
        assert_eq!(find(&project, "retry").len(), 4);
    }

    #[test]
    fn an_unnamed_group_has_no_references() {
        let project = TestProject::new();
        let none = referenced(&project.store, &project.session, &group("P9")).unwrap();
        assert!(none.is_empty());
        let nowhere = SessionId::new("nowhere").unwrap();
        assert!(referenced(&project.store, &nowhere, &group("P9")).is_err());
    }

    #[test]
    fn snippet_is_the_line_with_most_terms() {
        let terms = words::terms("gateway timeout retry");
        let body =
            "# Title\n\nfirst line\n- the gateway times out\n> retry the gateway timeout\nlast";
        assert_eq!(snippet("Notes", body, &terms), "retry the gateway timeout");
        assert_eq!(
            snippet("The gateway timeout", "- gateway\n- timeout", &terms),
            "The gateway timeout"
        );
        assert_eq!(snippet("# Notes", "nothing here", &terms), "Notes");
        let long = format!("gateway {}", "word ".repeat(200));
        assert!(snippet("Notes", &long, &terms).chars().count() <= SNIPPET_CHARS);
        let late = format!("{}gateway", "x\n".repeat(600));
        assert_eq!(snippet("Notes", &late, &terms), "Notes");
    }
}
