//! Search over all that a project knows: packages and reasoning of every session, notes, error patterns and
//! strategies.
//!
//! Each kind of record finds its own candidates, by index or by reading. All candidates are then scored
//! alike, with the rarity of a word counted over everything, so that one order holds for all of them.

use std::collections::{BTreeMap, HashMap};

use handover_model::config::AssemblyConfig;
use handover_model::{
    GroupId, ItemKind, NoteKind, NoteState, PackageId, ProjectId, Scope, SessionId, Timestamp,
};
use handover_store::{ErrorFilter, ReasoningFilter, Result, Store, StrategyFilter};
use handover_text::{cut, words};

use crate::assemble::ItemId;
use crate::package_file::{FileState, ProjectPaths, file_state};
use crate::rank;
use crate::search::snippet;

/// How many candidates of a kind are looked at for each result.
const POOL: usize = 4;
/// As much of a package's text is scored.
const BODY_BYTES: usize = 24_000;
/// Weights of a title or summary, and of the text.
const WEIGHTS: [f64; 2] = [1.8, 1.0];

/// What to search for, and where.
#[derive(Debug, Clone, Copy)]
pub struct Everything<'a> {
    /// The project whose notes, errors and strategies are searched.
    pub project: &'a ProjectId,
    /// The search text.
    pub text: &'a str,
    /// The most results.
    pub limit: usize,
    /// Only records of this session; what belongs to the project is left out.
    pub session: Option<&'a SessionId>,
    /// Only what this group sees: its records and global packages.
    pub group: Option<&'a GroupId>,
    /// Only this kind of record.
    pub of: Option<ItemKind>,
    /// Only this kind within: of a package, of a note, the phase of reasoning, the topic of a strategy.
    pub kind: Option<&'a str>,
    /// Only what is at least as new.
    pub since: Option<Timestamp>,
    /// Weights of the columns of packages.
    pub config: &'a AssemblyConfig,
}

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What it is.
    pub of: ItemKind,
    /// The id of the record.
    pub id: ItemId,
    /// The session that it belongs to, if any.
    pub session: Option<SessionId>,
    /// Its kind, phase or topic.
    pub kind: String,
    /// The file that it is, or comes from.
    pub path: Option<String>,
    /// Where it comes from, for people.
    pub origin: String,
    /// Its time.
    pub created_at: Timestamp,
    /// The best has the most.
    pub score: f64,
    /// The part of its text that matches best.
    pub snippet: String,
}

/// A candidate with its texts.
struct Document {
    found: Found,
    heading: String,
    text: String,
}

struct Search<'a> {
    store: &'a dyn Store,
    query: Everything<'a>,
    terms: Vec<String>,
    /// How many of the terms are words of the query itself.
    own: usize,
    /// How many records have each term, of how many.
    having: Vec<u64>,
    records: u64,
    documents: Vec<Document>,
}

/// The records that match a query, best first.
pub fn search(store: &dyn Store, query: &Everything<'_>) -> Result<Vec<Found>> {
    let mut terms: Vec<String> = Vec::new();
    for term in words::terms(query.text) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    let own = rank::with_synonyms(&mut terms);
    let having = vec![0; terms.len()];
    let documents = Vec::new();
    let mut search = Search { store, query: *query, terms, own, having, records: 0, documents };
    search.gather()?;
    Ok(search.ranked())
}

/// Whether the file of a package is still what was registered; nothing for other records.
pub fn file_of(
    store: &dyn Store,
    paths: &ProjectPaths,
    found: &Found,
) -> Result<Option<FileState>> {
    match (found.of, &found.id) {
        (ItemKind::Package, ItemId::Number(id)) => {
            Ok(Some(file_state(paths, &store.package(PackageId(*id))?)))
        }
        _ => Ok(None),
    }
}

impl Search<'_> {
    fn wants(&self, of: ItemKind) -> bool {
        self.query.of.is_none_or(|only| only == of)
    }

    fn gather(&mut self) -> Result<()> {
        let Everything { session, group, .. } = self.query;
        let sessions = match session {
            Some(session) => vec![self.store.session(session)?.id],
            None => self.store.sessions(None)?.into_iter().map(|session| session.id).collect(),
        };
        for session in &sessions {
            if self.wants(ItemKind::Package) {
                self.packages(session)?;
            }
            if self.wants(ItemKind::Reasoning) {
                self.reasoning(session)?;
            }
        }
        if session.is_some() || group.is_some() {
            return Ok(());
        }
        if self.wants(ItemKind::Note) {
            self.notes()?;
        }
        if self.wants(ItemKind::Error) {
            self.errors()?;
        }
        if self.wants(ItemKind::Strategy) {
            self.strategies()?;
        }
        Ok(())
    }

    fn pool(&self) -> usize {
        self.query.limit.saturating_mul(POOL).max(20)
    }

    /// The best packages of a session by the sum of the rarities of their words.
    fn packages(&mut self, session: &SessionId) -> Result<()> {
        let weights = &self.query.config.weights;
        let weights =
            [weights.title, weights.summary, weights.files, weights.body, weights.context];
        let mut scores: HashMap<PackageId, f64> = HashMap::new();
        let having = &mut self.having;
        let mut most = 0;
        self.store.each_postings(session, &self.terms, &mut |term, list| {
            having[term] += list.count() as u64;
            most = most.max(list.count());
            let rarity = 1.0 / (1.0 + list.count() as f64).ln_1p();
            list.each(|package, present| {
                let frequency: f64 = present
                    .columns()
                    .map(|(column, count)| weights[column] * f64::from(count))
                    .sum();
                *scores.entry(package).or_default() += rarity * frequency / (frequency + 3.0);
            });
        })?;
        self.records += most as u64;
        let mut best: Vec<(PackageId, f64)> = scores.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        best.truncate(self.pool());
        let ids: Vec<PackageId> = best.into_iter().map(|(id, _)| id).collect();
        let (packages, bodies) =
            (self.store.packages_by_id(&ids)?, self.store.package_bodies(&ids)?);
        for (package, body) in packages.into_iter().zip(bodies) {
            let seen = self.query.group.is_none_or(|group| {
                package.group.as_ref() == Some(group) || package.scope == Scope::Global
            });
            if !seen {
                continue;
            }
            let title = package.title.unwrap_or_default();
            let origin = format!("{} by {}", package.kind, package.producer);
            let found = Found {
                of: ItemKind::Package,
                id: ItemId::Number(package.id.0),
                session: Some(package.session),
                kind: package.kind.to_string(),
                path: Some(package.path.clone()),
                origin,
                created_at: package.created_at,
                score: 0.0,
                snippet: String::new(),
            };
            let heading = format!("{title}\n{}\n{}", package.summary, package.path);
            let text = cut::cut(&body, BODY_BYTES);
            self.documents.push(Document { found, heading, text });
        }
        Ok(())
    }

    /// Adds a record without an index, if it has a word of the query.
    fn add(&mut self, found: Found, heading: String, text: String) {
        self.records += 1;
        let words = words::terms(&format!("{heading}\n{text}"));
        let mut any = false;
        for (term, having) in self.terms.iter().zip(&mut self.having) {
            if words.contains(term) {
                *having += 1;
                any = true;
            }
        }
        if any {
            self.documents.push(Document { found, heading, text });
        }
    }

    fn reasoning(&mut self, session: &SessionId) -> Result<()> {
        let filter =
            ReasoningFilter { group: self.query.group.cloned(), ..ReasoningFilter::default() };
        for entry in self.store.reasoning(session, &filter)? {
            let origin = match &entry.group {
                Some(group) => format!("{} of {}, group {group}", entry.phase, entry.role),
                None => format!("{} of {}", entry.phase, entry.role),
            };
            let found = Found {
                of: ItemKind::Reasoning,
                id: ItemId::Number(entry.id.0),
                session: Some(session.clone()),
                kind: entry.phase.to_string(),
                path: None,
                origin,
                created_at: entry.created_at,
                score: 0.0,
                snippet: String::new(),
            };
            self.add(found, String::new(), entry.content);
        }
        Ok(())
    }

    fn notes(&mut self) -> Result<()> {
        let (having, records) = (&mut self.having, &mut self.records);
        let mut known = 0;
        self.store.each_note_postings(
            self.query.project,
            &self.terms,
            &mut |notes, term, list| {
                known = notes;
                having[term] += list.count() as u64;
            },
        )?;
        *records += known;
        let ranked = rank::notes(
            self.store,
            self.query.project,
            self.query.text,
            self.pool(),
            rank::Wording::Synonyms,
        )?;
        for rank::RankedNote { note, .. } in ranked {
            if note.state == NoteState::Retired {
                continue;
            }
            let path = (note.kind == NoteKind::Doc).then(|| note.source.clone());
            let found = Found {
                of: ItemKind::Note,
                id: ItemId::Text(note.id.to_string()),
                session: None,
                kind: note.kind.to_string(),
                path,
                origin: note.origin,
                created_at: note.created_at,
                score: 0.0,
                snippet: String::new(),
            };
            let names = note.paths.iter().chain(&note.symbols).cloned().collect::<Vec<_>>();
            let text = format!("{}\n{}", note.text, names.join(" "));
            self.documents.push(Document { found, heading: note.title, text });
        }
        Ok(())
    }

    fn errors(&mut self) -> Result<()> {
        for pattern in self.store.errors(self.query.project, &ErrorFilter::default())? {
            let solution = pattern.solution.unwrap_or_default();
            let found = Found {
                of: ItemKind::Error,
                id: ItemId::Text(pattern.hash),
                session: None,
                kind: pattern.signature.kind.clone(),
                path: None,
                origin: format!("seen {} times", pattern.occurrences),
                created_at: pattern.last_seen,
                score: 0.0,
                snippet: String::new(),
            };
            let message = pattern.example.unwrap_or(pattern.signature.message);
            let heading = format!("{} {message}", pattern.signature.kind);
            self.add(found, heading, solution);
        }
        Ok(())
    }

    fn strategies(&mut self) -> Result<()> {
        for strategy in self.store.strategies(self.query.project, &StrategyFilter::default())? {
            let found = Found {
                of: ItemKind::Strategy,
                id: ItemId::Text(strategy.id),
                session: None,
                kind: strategy.topic.to_string(),
                path: None,
                origin: format!("helped {} times", strategy.helpfulness),
                created_at: strategy.last_seen,
                score: 0.0,
                snippet: String::new(),
            };
            self.add(found, String::new(), strategy.insight);
        }
        Ok(())
    }

    fn ranked(self) -> Vec<Found> {
        let Self { query, terms, own, having, records, documents, .. } = self;
        let rarities: Vec<f64> = having
            .iter()
            .enumerate()
            .map(|(at, having)| {
                let having = *having as f64;
                let others = (records as f64 - having + 0.5).max(0.0);
                (1.0 + others / (having + 0.5)).ln() * if at < own { 1.0 } else { rank::SYNONYM }
            })
            .collect();
        let mut found: Vec<Found> = Vec::new();
        for Document { found: mut match_, heading, text } in documents {
            let fits = query.kind.is_none_or(|kind| match_.kind == kind)
                && query.since.is_none_or(|since| match_.created_at >= since);
            let score = score(&terms, &rarities, [&heading, &text]);
            if !fits || score <= 0.0 {
                continue;
            }
            let summary = if heading.trim().is_empty() { &text } else { &heading };
            let summary = summary.lines().rfind(|line| !line.trim().is_empty());
            // The summary of a package stands behind its title.
            let summary = match match_.of == ItemKind::Package {
                true => heading.lines().nth(1),
                false => summary,
            };
            match_.snippet = snippet(summary.unwrap_or_default(), &text, &terms);
            match_.score = score;
            found.push(match_);
        }
        found.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(b.created_at.cmp(&a.created_at))
                .then_with(|| a.id.to_string().cmp(&b.id.to_string()))
        });
        found.truncate(query.limit);
        found
    }
}

/// How well texts answer a query: repetition saturates, and a long text has to say more.
fn score(terms: &[String], rarities: &[f64], texts: [&str; 2]) -> f64 {
    let mut frequencies: BTreeMap<usize, f64> = BTreeMap::new();
    let mut length = 0;
    for (text, weight) in texts.iter().zip(WEIGHTS) {
        for word in words::terms(text) {
            length += 1;
            if let Some(at) = terms.iter().position(|term| *term == word) {
                *frequencies.entry(at).or_default() += weight;
            }
        }
    }
    let damping = 1.2 * (0.4 + 0.6 * (f64::from(length) / 120.0).min(4.0));
    frequencies
        .into_iter()
        .map(|(at, frequency)| rarities[at] * frequency * 2.2 / (frequency + damping))
        .sum()
}

#[cfg(test)]
mod tests {
    use handover_model::{NoteId, Phase, Role, Trust};
    use handover_store::{
        CleanSignature, ErrorPatterns, ErrorSighting, NewNote, NewReasoning, NewStrategy, NewUnit,
        Notes, Reasonings, Strategies,
    };
    use handover_text::Redactor;

    use super::*;
    use crate::testing::{TestProject, at};

    fn name() -> ProjectId {
        ProjectId::new("p").unwrap()
    }

    /// A project that has something about the gateway in every kind of record.
    fn project() -> TestProject {
        let project = TestProject::new();
        let redactor = Redactor::default();
        let clean = |text: &str| redactor.clean(text);
        project.register(project.package("gw.md", "The gateway", "The gateway retries twice."));
        project.register(project.package("ui.md", "Buttons", "Colors of the café button."));
        project
            .store
            .add_reasoning(&NewReasoning {
                session: project.session.clone(),
                group: None,
                role: Role::new("developer").unwrap(),
                agent_id: None,
                iteration: 0,
                phase: Phase::Decisions,
                confidence: None,
                content: clean("The gateway keeps its timeout in the database."),
                references: Vec::new(),
                now: at(1),
                trust: handover_model::Trust::Project,
            })
            .unwrap();
        project
            .store
            .resolve_error(
                &ErrorSighting {
                    project: name(),
                    signature: CleanSignature::new(None, "gateway closed", &[], &redactor),
                    language: None,
                    ttl_days: 90,
                    session: None,
                    group: None,
                    role: None,
                    command: None,
                    now: at(2),
                    trust: handover_model::Trust::Project,
                },
                &clean("reopen the gateway"),
            )
            .unwrap();
        project
            .store
            .learn_strategies(&[NewStrategy {
                project: name(),
                topic: handover_model::Topic::Architecture,
                insight: clean("Put the gateway behind a queue"),
                language: None,
                framework: None,
                source: handover_model::ReasoningId(1),
                now: at(3),
                trust: handover_model::Trust::Project,
            }])
            .unwrap();
        let note = |id: &str, text: &str| NewNote {
            id: NoteId::new(id).unwrap(),
            origin: clean("docs/adr.md § Gateway"),
            title: clean("Gateway"),
            text: clean(text),
            trust: Trust::Project,
            paths: Vec::new(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash: text.to_owned(),
            created_at: at(4),
        };
        let unit = NewUnit {
            kind: NoteKind::Doc,
            source: "docs/adr.md".to_owned(),
            fingerprint: Some("1".to_owned()),
            notes: vec![
                note("n_1", "We chose a gateway with circuit breakers."),
                note("n_2", "Invoices are immutable."),
            ],
        };
        project.store.learn_notes(&name(), &[unit], at(5)).unwrap();
        project
    }

    fn query<'a>(
        text: &'a str,
        project: &'a ProjectId,
        config: &'a AssemblyConfig,
    ) -> Everything<'a> {
        Everything {
            project,
            text,
            limit: 10,
            session: None,
            group: None,
            of: None,
            kind: None,
            since: None,
            config,
        }
    }

    fn kinds(project: &TestProject, change: impl FnOnce(&mut Everything<'_>)) -> Vec<ItemKind> {
        let (name, config) = (name(), AssemblyConfig::default());
        let mut query = query("gateway", &name, &config);
        change(&mut query);
        let mut kinds: Vec<ItemKind> =
            search(&project.store, &query).unwrap().into_iter().map(|found| found.of).collect();
        kinds.sort();
        kinds
    }

    #[test]
    fn every_kind_of_record_is_found() {
        let project = project();
        let all = [
            ItemKind::Package,
            ItemKind::Reasoning,
            ItemKind::Error,
            ItemKind::Strategy,
            ItemKind::Note,
            ItemKind::Note,
        ];
        assert_eq!(kinds(&project, |_| ()), all);
    }

    #[test]
    fn filters_narrow() {
        let project = project();
        let session = project.session.clone();
        assert_eq!(
            kinds(&project, |query| query.of = Some(ItemKind::Note)),
            [ItemKind::Note, ItemKind::Note]
        );
        assert_eq!(kinds(&project, |query| query.kind = Some("decisions")), [ItemKind::Reasoning]);
        assert_eq!(
            kinds(&project, |query| query.since = Some(at(3))),
            [ItemKind::Strategy, ItemKind::Note, ItemKind::Note]
        );
        let (name, config) = (name(), AssemblyConfig::default());
        let query = Everything { session: Some(&session), ..query("gateway", &name, &config) };
        let found = search(&project.store, &query).unwrap();
        assert!(found.iter().all(|found| found.session.as_ref() == Some(&session)));
        assert_eq!(found.len(), 2);
        let nowhere = SessionId::new("nowhere").unwrap();
        assert!(search(&project.store, &Everything { session: Some(&nowhere), ..query }).is_err());
    }

    #[test]
    fn accents_and_abbreviations_do_not_matter() {
        let project = project();
        let (name, config) = (name(), AssemblyConfig::default());
        let first = |text: &str| {
            let found = search(&project.store, &query(text, &name, &config)).unwrap();
            found.first().map(|found| found.snippet.clone()).unwrap_or_default()
        };
        assert_eq!(first("cafe"), "Colors of the café button.");
        assert_eq!(first("db timeout"), "The gateway keeps its timeout in the database.");
        assert_eq!(first("circuit breaker"), "We chose a gateway with circuit breakers.");
        assert_eq!(first("nothing of that"), "");
    }
}
