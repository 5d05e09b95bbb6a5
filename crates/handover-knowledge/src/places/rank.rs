//! Ranks the files of an index by a task.
//!
//! Four signals, each between 0 and 1, are added with weights: the task's words in text, names and path (BM25 over
//! weighted fields); commits whose messages sound like the task, for the files that they changed; files that change
//! together with the best so far; and how often a file changes at all. What the task or the caller names comes first.

use std::collections::HashMap;

use handover_text::{synonyms, words};

use super::container::Section;
use super::document::{InPath, Occurrence};
use super::files::FileKind;
use super::index::{Index, MAX_RENAMES};
use super::inverted::{Entry, each_posting};
use super::lookup::Lexicon;
use super::model::{changes, range};
use super::tables::{self, CommitRow, Document, NONE, PathRow};
use super::why::{self, Why};
use super::{Evidence, Place, Weights, commits};

/// How much of a task is read.
const MAX_TASK: usize = 8 << 10;
/// How many different terms of it count.
const MAX_TERMS: usize = 160;
/// How many unknown words are looked up with a typing mistake.
const MAX_FORGIVEN: usize = 6;

/// In so few files, words that none of them has say little.
const FEW: f32 = 20.0;

/// How many of a task's words must be known for it to be about this repository. A long one has others.
const ASKED: usize = 16;

/// A term of the task.
#[derive(Debug)]
pub(super) struct Term {
    /// The word as the task has it.
    pub(super) word: String,
    term: String,
    weight: f32,
    files: Option<Entry>,
    messages: Option<Entry>,
    /// Its postings in files.
    pub(super) postings: Vec<u8>,
    /// How rare it is among the files.
    pub(super) rarity: f32,
}

/// What a query has loaded, and what it has found.
pub(super) struct Ranking<'a> {
    pub(super) index: &'a Index,
    weights: &'a Weights,
    pub(super) documents: Vec<Document>,
    pub(super) commits: Vec<CommitRow>,
    /// How much each commit counts for its age.
    freshness: Vec<f32>,
    changes: Vec<u8>,
    pub(super) terms: Vec<Term>,
    /// The document that each path stands for today.
    current: Vec<u32>,
    /// The signals of every document. Most have none, so this is small, and what explains them is kept apart.
    pub(super) signals: Vec<Signals>,
    pub(super) evidence: HashMap<u32, Found>,
    /// How much of the task the best file and the best commit have.
    by_content: f32,
    by_history: f32,
    /// What a file would have that has every word of the task once.
    asked: f32,
    /// How much it must be.
    floor: f32,
}

/// The signals of one document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signals {
    pub(super) content: f32,
    pub(super) history: f32,
    pub(super) together: f32,
    popular: f32,
    pub(super) named: f32,
}

/// Where the signals of one document come from.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The commits that sounded like the task, best first.
    pub(super) commits: Vec<(f32, u32)>,
    /// The file that it changes together with most.
    pub(super) seed: Option<(f32, u32)>,
    /// What the caller says of it.
    pub(super) said: Option<String>,
}

/// The best places for a task; none if the index is damaged.
pub(super) fn rank(
    index: &Index,
    task: &str,
    evidence: &Evidence,
    limit: usize,
    weights: &Weights,
) -> Option<Vec<Place>> {
    let mut ranking = Ranking::load(index, weights)?;
    let task = start_of(task);
    ranking.read_task(task)?;
    ranking.score_content();
    ranking.score_history()?;
    ranking.find_named(task, evidence);
    if !ranking.is_about_this() {
        return Some(Vec::new());
    }
    let seeds = ranking.best(weights.seeds, |signals, kind| ranking.without_company(signals, kind));
    ranking.score_company(&seeds);
    let best = ranking.best(limit.saturating_mul(2), |signals, kind| ranking.total(signals, kind));
    let mut places = Vec::new();
    for (score, document) in best {
        let path = index.path_text(ranking.documents[document as usize].path)?;
        // The index may be older than the working tree.
        if places.len() < limit && index.exists(&path) {
            let score = f64::from(score);
            places.push((document, Place { path, score, why: String::new(), quotes: false }));
        }
    }
    let chosen: Vec<u32> = places.iter().map(|(document, _)| *document).collect();
    let reasons = why::why(&ranking, &chosen);
    let explained = places.into_iter().zip(reasons);
    Some(
        explained
            .map(|((_, place), Why { text, quotes })| Place { why: text, quotes, ..place })
            .collect(),
    )
}

fn start_of(task: &str) -> &str {
    let mut end = task.len().min(MAX_TASK);
    while !task.is_char_boundary(end) {
        end -= 1;
    }
    &task[..end]
}

/// The sum of the greatest.
fn most_of(mut values: Vec<f32>) -> f32 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().take(ASKED).sum()
}

fn rarity(all: usize, with: u32) -> f32 {
    let (all, with) = (all as f32, with as f32);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

impl<'a> Ranking<'a> {
    fn load(index: &'a Index, weights: &'a Weights) -> Option<Self> {
        let section = |section| index.pieces.section(section);
        let documents: Vec<Document> = tables::decode(&section(Section::Documents)?)?;
        let paths: Vec<PathRow> = tables::decode(&section(Section::Paths)?)?;
        let commits: Vec<CommitRow> = tables::decode(&section(Section::Commits)?)?;
        let changes = section(Section::Changes)?;
        let newest = commits.iter().map(|row| row.time).max().unwrap_or(0);
        let freshness = |row: &CommitRow| {
            let days = (newest - row.time) as f32 / 86_400.0;
            1.0 / (1.0 + days / weights.half_life.max(1.0))
        };
        let freshness = commits.iter().map(freshness).collect();
        let signals = vec![Signals::default(); documents.len()];
        let current = (0..paths.len()).map(|path| resolve(&paths, &documents, path)).collect();
        Some(Self {
            index,
            weights,
            documents,
            commits,
            freshness,
            changes,
            terms: Vec::new(),
            current,
            signals,
            evidence: HashMap::new(),
            by_content: 0.0,
            by_history: 0.0,
            asked: 0.0,
            floor: 0.0,
        })
    }

    /// Looks the terms of the task up in both dictionaries.
    fn read_task(&mut self, task: &str) -> Option<()> {
        let files = Lexicon::of_files(&self.index.pieces)?;
        let messages = Lexicon::of_messages(&self.index.pieces)?;
        let mut terms = task_terms(task, self.weights.title);
        look_up(&mut terms, &files, &messages);
        let mut more = Vec::new();
        let mut forgiven = 0;
        for term in terms.iter_mut().filter(|term| term.files.is_none()) {
            let synonyms = synonyms::of(&term.term);
            more.extend(synonyms.iter().map(|other| Term {
                word: term.word.clone(),
                term: other.clone(),
                weight: term.weight * self.weights.synonym,
                ..Term::empty()
            }));
            let may_be_typo = synonyms.is_empty() && term.messages.is_none();
            if may_be_typo && self.weights.forgiven > 0.0 && forgiven < MAX_FORGIVEN {
                forgiven += 1;
                if let Some((near, entry)) = files.near(&term.term) {
                    (term.term, term.files) = (near, Some(entry));
                    term.weight *= self.weights.forgiven;
                }
            }
        }
        more.retain(|new| !terms.iter().any(|term| term.term == new.term));
        more.sort_by(|a, b| a.term.cmp(&b.term));
        look_up(&mut more, &files, &messages);
        let own = terms.len();
        terms.append(&mut more);
        let (all_files, all_commits) = (
            self.documents.iter().filter(|row| row.length > 0).count(),
            self.commits.iter().filter(|row| row.length > 0).count(),
        );
        let rarest = rarity(all_commits, 0);
        let mut asked = Vec::new();
        for (at, term) in terms.iter_mut().enumerate() {
            let Some(entry) = term.files else {
                if at < own {
                    asked.push(term.weight * rarity(all_files, 0));
                }
                continue;
            };
            let heard = term.messages.map_or(0, |entry| entry.count);
            let common = 1.0 - rarity(all_commits, heard) / rarest.max(0.1);
            term.rarity =
                rarity(all_files, entry.count) * (1.0 - self.weights.common * common).max(0.05);
            term.postings = files.postings(entry)?;
            if at < own {
                asked.push(term.weight * term.rarity);
            }
        }
        self.asked = most_of(asked);
        self.floor = self.weights.floor * all_files as f32 / (all_files as f32 + FEW);
        self.terms = terms;
        Some(())
    }

    /// BM25 over text, names and paths.
    fn score_content(&mut self) {
        let lengths = self.documents.iter().map(|row| row.length).filter(|length| *length > 0);
        let (count, sum) = lengths.fold((0_u32, 0_u64), |(n, sum), l| (n + 1, sum + u64::from(l)));
        let average = sum as f32 / (count.max(1)) as f32;
        let weights = self.weights;
        for term in &self.terms {
            let weight = term.weight * term.rarity;
            let _ = each_posting(&term.postings, |document, byte| {
                let at = document as usize;
                let Some(row) = self.documents.get(at).filter(|row| row.length > 0) else { return };
                let is = Occurrence(byte);
                let path = match is.path() {
                    InPath::No => 0.0,
                    InPath::Folder => weights.folder,
                    InPath::Name => weights.name,
                };
                let length =
                    1.0 - weights.length + weights.length * row.length as f32 / average.max(1.0);
                let frequency =
                    is.text() as f32 / length + is.symbols() as f32 * weights.symbol + path;
                self.signals[at].content += weight * frequency * (weights.saturation + 1.0)
                    / (frequency + weights.saturation);
            });
        }
        let most = self.signals.iter().map(|signals| signals.content).fold(0.0, f32::max);
        self.by_content = most / self.asked.max(f32::MIN_POSITIVE);
        normalize(&mut self.signals, |signals| &mut signals.content);
    }

    /// Whether the repository knows what the task speaks of. Some file has some of the words of any task.
    fn is_about_this(&self) -> bool {
        self.by_content.max(self.by_history) >= self.floor
            || self.signals.iter().any(|signals| signals.named > 0.0)
    }

    /// Finds commits that sound like the task; what they changed is probably what it is about.
    fn score_history(&mut self) -> Option<()> {
        let messages = Lexicon::of_messages(&self.index.pieces)?;
        let alive = self.commits.iter().filter(|row| row.length > 0);
        let (count, sum) =
            alive.fold((0_usize, 0_u64), |(n, s), row| (n + 1, s + u64::from(row.length)));
        let average = sum as f32 / count.max(1) as f32;
        let mut scores = vec![0_f32; self.commits.len()];
        let worth =
            |term: &Term| term.weight * rarity(count, term.messages.map_or(0, |entry| entry.count));
        let ideal: f32 = self.terms.iter().map(worth).sum();
        let asked = most_of(self.terms.iter().map(worth).collect());
        for term in &self.terms {
            let Some(entry) = term.messages else { continue };
            let weight = term.weight * rarity(count, entry.count);
            let postings = messages.postings(entry)?;
            let _ = each_posting(&postings, |commit, byte| {
                let at = commit as usize;
                let Some(row) = self.commits.get(at).filter(|row| row.length > 0) else { return };
                let (times, in_subject) = commits::occurrence(byte);
                let length = 0.6 + 0.4 * row.length as f32 / average.max(1.0);
                let frequency = (times as f32 + if in_subject { 2.0 } else { 0.0 }) / length;
                scores[at] += weight * frequency * 2.2 / (frequency + 1.2);
            });
        }
        if ideal <= 0.0 {
            return Some(());
        }
        let mut best: Vec<(f32, u32)> = (0..)
            .zip(&scores)
            .filter(|(_, score)| **score > 0.0)
            .map(|(at, score)| (*score / ideal, at))
            .collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        best.truncate(200);
        self.by_history = best.first().map_or(0.0, |(similarity, _)| *similarity * ideal / asked);
        for (similarity, commit) in best {
            let mut files = Vec::new();
            self.files_of(commit as usize, &mut files);
            let weight = similarity.powf(self.weights.sharpness) * self.freshness[commit as usize]
                / (files.len().max(1) as f32).powf(self.weights.spread);
            for document in files {
                self.signals[document as usize].history += weight;
                self.evidence.entry(document).or_default().commits.push((weight, commit));
            }
        }
        normalize(&mut self.signals, |signals| &mut signals.history);
        Some(())
    }

    /// The documents that a commit changed, by their names today.
    fn files_of(&self, commit: usize, files: &mut Vec<u32>) {
        let range = range(commit, |at| self.commits[at].changes_end);
        let bytes = self.changes.get(range).unwrap_or_default();
        let current = changes(bytes).filter_map(|path| self.current.get(path as usize).copied());
        files.clear();
        files.extend(current.filter(|document| *document != NONE));
    }

    /// Files that the task or the caller names.
    fn find_named(&mut self, task: &str, evidence: &Evidence) {
        for mention in mentions(task) {
            let candidates = self.named_like(&mention);
            // A name that many files have says nothing.
            if candidates.len() <= 5 {
                for at in candidates {
                    self.signals[at].named = self.weights.named;
                }
            }
        }
        for named in &evidence.named {
            let Some(path) = self.index.path_number(&named.path) else { continue };
            let document = self.current.get(path as usize).copied().unwrap_or(NONE);
            if let Some(signals) = self.signals.get_mut(document as usize) {
                let strength = named.strength.clamp(0.0, 1.0) as f32;
                signals.named = signals.named.max(strength * self.weights.named / 2.0);
                let found = self.evidence.entry(document).or_default();
                found.said.get_or_insert_with(|| named.why.clone());
            }
        }
    }

    /// The documents whose path ends with what is named.
    fn named_like(&self, mention: &str) -> Vec<usize> {
        let needed = words::terms(mention);
        let mut lists = self.terms.iter().filter(|term| needed.contains(&term.term));
        let Some(rarest) = lists.by_ref().min_by_key(|term| term.postings.len()) else {
            return Vec::new();
        };
        let mut candidates = Vec::new();
        let _ = each_posting(&rarest.postings, |document, byte| {
            let is_live = self.documents.get(document as usize).is_some_and(|row| row.length > 0);
            if is_live && Occurrence(byte).path() != InPath::No && candidates.len() < 2_000 {
                candidates.push(document as usize);
            }
        });
        let ends = |at: &usize| {
            let path = self.index.path_text(self.documents[*at].path).unwrap_or_default();
            path.strip_suffix(mention).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        candidates.into_iter().filter(ends).collect()
    }

    /// Files that change together with the best, and how often each file changes.
    fn score_company(&mut self, seeds: &[(f32, u32)]) {
        let best = seeds.first().map_or(1.0, |(score, _)| *score).max(f32::MIN_POSITIVE);
        let mut times = vec![0_f32; seeds.len()];
        let mut company: HashMap<(u32, usize), f32> = HashMap::new();
        let mut files = Vec::new();
        for commit in 0..self.commits.len() {
            if self.commits[commit].length == 0 {
                continue;
            }
            self.files_of(commit, &mut files);
            let fresh = self.freshness[commit];
            for document in &files {
                self.signals[*document as usize].popular += fresh;
            }
            for (at, (_, seed)) in
                seeds.iter().enumerate().filter(|(_, (_, seed))| files.contains(seed))
            {
                times[at] += fresh;
                for other in files.iter().filter(|other| *other != seed) {
                    *company.entry((*other, at)).or_default() +=
                        fresh / (files.len() as f32).sqrt();
                }
            }
        }
        for ((document, at), together) in company {
            let share = together / (times[at] + 1.0) * seeds[at].0 / best;
            self.signals[document as usize].together += share;
            let found = self.evidence.entry(document).or_default();
            if found.seed.is_none_or(|(most, _)| most < share) {
                found.seed = Some((share, seeds[at].1));
            }
        }
        for signals in self.signals.iter_mut().filter(|signals| signals.popular > 0.0) {
            signals.popular = signals.popular.ln_1p();
            signals.together = signals.together.min(1.0);
        }
        normalize(&mut self.signals, |signals| &mut signals.popular);
    }

    fn without_company(&self, signals: Signals, kind: FileKind) -> f32 {
        let weights = self.weights;
        let kind = match kind {
            FileKind::Code => 1.0,
            FileKind::Test => weights.test,
            FileKind::Prose => weights.prose,
            FileKind::Data => weights.data,
        };
        signals.content * weights.content * kind + signals.history * weights.history + signals.named
    }

    fn total(&self, signals: Signals, kind: FileKind) -> f32 {
        let own = self.without_company(signals, kind) + signals.together * self.weights.together;
        // Being popular is no reason of its own.
        if own > 0.0 { own + signals.popular * self.weights.popular } else { 0.0 }
    }

    /// The best documents with their scores, best first; ties by number.
    fn best(&self, count: usize, score: impl Fn(Signals, FileKind) -> f32) -> Vec<(f32, u32)> {
        let documents = (0..).zip(self.documents.iter().zip(&self.signals));
        let live = documents.filter(|(_, (row, signals))| signals.are_any() && row.length > 0);
        let scored = live.map(|(at, (row, signals))| (score(*signals, row.kind), at));
        let mut best: Vec<(f32, u32)> = scored.filter(|(score, _)| *score > 0.0).collect();
        let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if count > 0 && count < best.len() {
            best.select_nth_unstable_by(count - 1, order);
        }
        best.truncate(count);
        best.sort_by(order);
        best
    }
}

impl Signals {
    /// Whether there is anything to rank by.
    fn are_any(&self) -> bool {
        self.content + self.history + self.together + self.named > 0.0
    }
}

impl Term {
    fn empty() -> Self {
        Self {
            word: String::new(),
            term: String::new(),
            weight: 1.0,
            files: None,
            messages: None,
            postings: Vec::new(),
            rarity: 0.0,
        }
    }
}

/// The document that a path stands for today, after renames.
fn resolve(paths: &[PathRow], documents: &[Document], path: usize) -> u32 {
    let mut at = path;
    for _ in 0..=MAX_RENAMES {
        let Some(row) = paths.get(at) else { break };
        if documents.get(row.document as usize).is_some_and(|row| row.length > 0) {
            return row.document;
        }
        at = row.renamed as usize;
    }
    NONE
}

/// The terms of a task, sorted, each with the word it comes from.
fn task_terms(task: &str, title: f32) -> Vec<Term> {
    let title_end = task
        .trim_start()
        .find('\n')
        .map_or(task.len(), |end| end + task.len() - task.trim_start().len());
    let mut terms: HashMap<String, Term> = HashMap::new();
    let mut at = 0;
    for word in task.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let start = at;
        at += word.len() + task[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        if word.len() < 2 || terms.len() >= MAX_TERMS {
            continue;
        }
        let weight = if start < title_end { title } else { 1.0 };
        // The number of an issue is no word of the code.
        let weight =
            if word.bytes().all(|byte| byte.is_ascii_digit()) { weight / 3.0 } else { weight };
        for term in words::terms(word) {
            let known = terms.entry(term.clone()).or_insert_with(|| Term {
                word: word.to_owned(),
                term,
                weight: 0.0,
                ..Term::empty()
            });
            // Said twice, a word counts a little more.
            known.weight = known.weight.max(weight) + if known.weight > 0.0 { 0.15 } else { 0.0 };
        }
    }
    let mut terms: Vec<Term> = terms.into_values().collect();
    terms.sort_by(|a, b| a.term.cmp(&b.term));
    terms
}

/// Looks up terms, which are sorted.
fn look_up(terms: &mut [Term], files: &Lexicon<'_>, messages: &Lexicon<'_>) {
    let texts: Vec<String> = terms.iter().map(|term| term.term.clone()).collect();
    let entries = files.find(&texts).into_iter().zip(messages.find(&texts));
    for (term, (in_files, in_messages)) in terms.iter_mut().zip(entries) {
        (term.files, term.messages) = (in_files, in_messages);
    }
}

/// Words that look like a path or the name of a file.
fn mentions(task: &str) -> Vec<String> {
    let edge = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-'));
    let mut found = Vec::new();
    for word in task.split(edge) {
        let word = word.trim_matches(|c: char| matches!(c, '.' | '-' | '/'));
        let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
        let has_end = name.rsplit_once('.').is_some_and(|(stem, end)| {
            stem.len() > 1
                && (1..=5).contains(&end.len())
                && end.bytes().any(|b| b.is_ascii_alphabetic())
        });
        if has_end && !found.iter().any(|known| known == word) && found.len() < 20 {
            found.push(word.to_owned());
        }
    }
    found
}

/// Divides a signal by its maximum.
fn normalize(all: &mut [Signals], signal: impl Fn(&mut Signals) -> &mut f32) {
    let most = all.iter_mut().map(|signals| *signal(signals)).fold(0.0, f32::max);
    if most > 0.0 {
        for signals in all {
            *signal(signals) /= most;
        }
    }
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
