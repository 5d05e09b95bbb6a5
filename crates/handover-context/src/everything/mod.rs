//! Search over all that a project knows: packages and reasoning of every session, notes, error patterns and
//! strategies.
//!
//! Each kind of record finds its own candidates, by index or by reading. All candidates are then scored
//! alike, with the rarity of a word counted over everything, so that one order holds for all of them. A word
//! that nothing has may be mistyped, see `typos.rs`.

mod shown;
mod typos;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use handover_model::config::AssemblyConfig;
use handover_model::{
    GroupId, ItemKind, NoteKind, NoteState, PackageId, PackageKind, Phase, ProjectId, RecordState,
    Scope, ScreenFlag, SessionId, Timestamp, Topic, Trust, UnknownWord,
};
use handover_store::{ErrorFilter, ReasoningFilter, Result, Store, StrategyFilter};
use handover_text::{cut, synonyms, words};
use serde::Serialize;

use crate::assemble::ItemId;
use crate::package_file::{FileState, ProjectPaths, file_state};
use crate::rank;

/// How many candidates of a kind are looked at for each result.
const POOL: usize = 4;
/// As much of a package's text is scored.
const BODY_BYTES: usize = 24_000;
/// Weights of a title or summary, of the text, and of the names in it.
const WEIGHTS: [f64; 3] = [1.8, 1.0, 1.0];

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
    /// How far to believe it.
    pub trust: Trust,
    /// Whether something replaced it; what is not a note is live.
    pub state: NoteState,
    /// What the screen finds in its text.
    pub flags: Vec<ScreenFlag>,
    /// The part of its text that matches best; empty if it comes from outside and speaks to its reader.
    pub snippet: String,
}

/// A word that nothing has, and what was searched for instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assumed {
    /// As it was typed.
    pub word: String,
    /// The nearest words that there are.
    pub meant: Vec<String>,
}

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Best first.
    pub found: Vec<Found>,
    /// Words that were taken for others.
    pub assumed: Vec<Assumed>,
}

/// A type of record that can be searched for.
pub fn parse_type(text: &str) -> std::result::Result<ItemKind, UnknownWord> {
    match text.parse() {
        Ok(ItemKind::Verdict) | Err(_) => {
            Err(UnknownWord { what: "type of record", value: text.to_owned(), allowed: TYPES })
        }
        Ok(of) => Ok(of),
    }
}

/// The types of records that can be searched for.
pub const TYPES: &[&str] = &["package", "note", "reasoning", "error", "strategy"];

/// The kinds within them.
pub static KINDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut kinds: Vec<&str> = Vec::new();
    // Some are kinds of several types.
    for kind in [PackageKind::WORDS, NoteKind::WORDS, Phase::WORDS, Topic::WORDS].concat() {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
});

/// A kind within a type of record.
pub fn parse_kind(text: &str) -> std::result::Result<String, UnknownWord> {
    if KINDS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(UnknownWord { what: "kind of record", value: text.to_owned(), allowed: &KINDS })
}

/// A candidate with its texts.
struct Document {
    found: Found,
    heading: String,
    text: String,
    /// Paths and symbols: words that are found, but never shown.
    names: String,
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
    /// The sessions that are searched.
    sessions: Vec<SessionId>,
    /// The terms of records that have no index.
    unindexed: BTreeSet<String>,
}

/// The records that match a query, best first; those that something replaced come last.
pub fn search(store: &dyn Store, query: &Everything<'_>) -> Result<Findings> {
    let search = gathered(store, query)?;
    let assumed = typos::assume(&search)?;
    if assumed.is_empty() {
        return Ok(Findings { found: search.ranked(), assumed });
    }
    let text = typos::corrected(query.text, &assumed);
    let again = gathered(store, &Everything { text: &text, ..*query })?;
    Ok(Findings { found: again.ranked(), assumed })
}

fn gathered<'a>(store: &'a dyn Store, query: &Everything<'a>) -> Result<Search<'a>> {
    let mut terms: Vec<String> = Vec::new();
    for term in words::terms(query.text) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    let own = rank::with_synonyms(&mut terms);
    let having = vec![0; terms.len()];
    let documents = Vec::new();
    let (sessions, unindexed) = (Vec::new(), BTreeSet::new());
    let query = *query;
    let mut search =
        Search { store, query, terms, own, having, records: 0, documents, sessions, unindexed };
    search.gather()?;
    Ok(search)
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

    /// Whether what belongs to the project is searched, too.
    fn of_project(&self) -> bool {
        self.query.session.is_none() && self.query.group.is_none()
    }

    /// Whether any record has a term, or one that means the same.
    fn has(&self, term: &str) -> bool {
        let has = |term: &str| {
            let at = self.terms.iter().position(|known| known == term);
            at.is_some_and(|at| self.having[at] > 0)
        };
        has(term) || synonyms::of(term).iter().any(|term| has(term))
    }

    fn gather(&mut self) -> Result<()> {
        let session = self.query.session;
        let sessions: Vec<SessionId> = match session {
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
        self.sessions = sessions;
        if !self.of_project() {
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
        let mut scores: HashMap<PackageId, f64, BuildHasherDefault<Spread>> = HashMap::default();
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
        let order =
            |a: &(PackageId, f64), b: &(PackageId, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
        let pool = self.pool();
        if best.len() > pool {
            best.select_nth_unstable_by(pool, order);
            best.truncate(pool);
        }
        best.sort_by(order);
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
                trust: package.trust,
                state: NoteState::Live,
                flags: Vec::new(),
                score: 0.0,
                snippet: String::new(),
            };
            let heading = format!("{title}\n{}\n{}", package.summary, package.path);
            let text = cut::cut(&body, BODY_BYTES);
            self.documents.push(Document { found, heading, text, names: String::new() });
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
        self.unindexed.extend(words);
        if any {
            self.documents.push(Document { found, heading, text, names: String::new() });
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
                trust: entry.trust,
                state: NoteState::Live,
                flags: Vec::new(),
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
                trust: note.trust,
                state: note.state,
                flags: Vec::new(),
                score: 0.0,
                snippet: String::new(),
            };
            let names = note.paths.iter().chain(&note.symbols).cloned().collect::<Vec<_>>();
            let (heading, text, names) = (note.title, note.text, names.join(" "));
            self.documents.push(Document { found, heading, text, names });
        }
        Ok(())
    }

    fn errors(&mut self) -> Result<()> {
        let in_use = ErrorFilter { state: Some(RecordState::Live), ..ErrorFilter::default() };
        for pattern in self.store.errors(self.query.project, &in_use)? {
            let solution = pattern.solution.unwrap_or_default();
            let found = Found {
                of: ItemKind::Error,
                id: ItemId::Text(pattern.hash),
                session: None,
                kind: pattern.signature.kind.clone(),
                path: None,
                origin: format!("seen {}", times(pattern.occurrences)),
                created_at: pattern.last_seen,
                trust: pattern.trust,
                state: NoteState::Live,
                flags: Vec::new(),
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
        let in_use = StrategyFilter { state: Some(RecordState::Live), ..StrategyFilter::default() };
        for strategy in self.store.strategies(self.query.project, &in_use)? {
            let found = Found {
                of: ItemKind::Strategy,
                id: ItemId::Text(strategy.id),
                session: None,
                kind: strategy.topic.to_string(),
                path: None,
                origin: format!("helped {}", times(strategy.helpfulness)),
                created_at: strategy.last_seen,
                trust: strategy.trust,
                state: NoteState::Live,
                flags: Vec::new(),
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
        let mut documents = documents;
        documents.retain_mut(|Document { found, heading, text, names }| {
            let fits = query.kind.is_none_or(|kind| found.kind == kind)
                && query.since.is_none_or(|since| found.created_at >= since);
            found.score = if fits { score(&terms, &rarities, [heading, text, names]) } else { 0.0 };
            found.score > 0.0
        });
        documents.sort_by(|Document { found: a, .. }, Document { found: b, .. }| {
            let is_amended = |found: &Found| found.state == NoteState::Amended;
            is_amended(a)
                .cmp(&is_amended(b))
                .then(b.score.total_cmp(&a.score))
                .then(b.created_at.cmp(&a.created_at))
                .then_with(|| a.id.to_string().cmp(&b.id.to_string()))
        });
        documents.truncate(query.limit);
        // Finding the best line reads a text word by word, so only those that are shown have one.
        documents.into_iter().map(|document| shown::shown(document, &terms)).collect()
    }
}

/// Spreads numbers over a table. They are ids of our own, so nobody chooses them to collide.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// `1 time`, `3 times`.
fn times(count: u64) -> String {
    format!("{count} {}", if count == 1 { "time" } else { "times" })
}

/// How well texts answer a query: repetition saturates, and a long text has to say more.
fn score(terms: &[String], rarities: &[f64], texts: [&str; 3]) -> f64 {
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
mod tests;
