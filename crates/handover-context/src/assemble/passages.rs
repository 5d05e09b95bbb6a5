//! Passages: the parts of a package's text that answer the task.
//!
//! The beginning of a long document seldom holds what a task needs. Its text is split at paragraphs, the
//! passages of all packages that may go in are ranked together, and the best replace the summaries of their
//! packages where they say more about the task.

use std::collections::BTreeMap;

use handover_text::{cut, words};
use serde::Serialize;

/// A longer text is only searched up to here.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Many texts are searched up to here together, each to a share of it.
const MAX_TOGETHER_BYTES: usize = 2 * 1024 * 1024;

/// A longer paragraph is split at sentences.
const MAX_PASSAGE_CHARS: usize = 480;

/// Saturation of repetitions, and normalisation by length. Passages are short, and length says little.
const K1: f64 = 1.2;
const B: f64 = 0.4;

/// How much a word of the passages before and after counts, and of those next to them: an answer often
/// follows its question, and both rarely use the same words.
const NEIGHBOURS: [f64; 2] = [0.5, 0.2];

/// A passage that has none of the words itself comes after the ones that have them.
const ONLY_AROUND: f64 = 0.8;

/// How much a word of its heading counts.
const HEADING: f64 = 0.5;

/// Words of the task's first line count more than those after it.
const FIRST_LINE: f64 = 2.0;

/// A passage of a package.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Passage {
    /// The line that it starts at, from 1.
    pub(super) line: usize,
    /// The nearest heading above it.
    heading: Option<String>,
    /// The text on one line.
    pub(super) text: String,
    /// How well it fits the task; only comparable within one ranking.
    pub(super) score: f64,
    /// How many different words of the task it has.
    pub(super) shared: usize,
}

impl Passage {
    fn heading(&self) -> Option<&str> {
        self.heading.as_deref()
    }
}

/// A passage as a block shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownPassage {
    /// The line that it starts at, from 1.
    pub line: usize,
    /// The text on one line.
    pub text: String,
    /// How well it fits the task.
    pub(super) score: f64,
}

impl Serialize for ShownPassage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Splits a text into passages, in order: paragraphs, list items and lines of a conversation. Front matter,
/// headings, fences and rules are none themselves.
fn split(body: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut heading: Option<String> = None;
    let mut current = (0, String::new());
    let mut in_front = body.starts_with("---\n") || body.starts_with("---\r\n");
    for (number, line) in body.lines().enumerate() {
        let text = line.trim();
        if in_front {
            in_front = number == 0 || text != "---";
            continue;
        }
        let is_rule = text.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' ' | '|' | ':'));
        let title = text.starts_with('#').then(|| text.trim_start_matches('#').trim());
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        // A list item and a turn of a conversation stand for themselves.
        let starts = starts_item(text);
        if text.is_empty() || is_rule || title.is_some() || is_fence || starts {
            finish(&mut passages, &mut current, heading.as_ref());
        }
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            heading = Some(cut::cut(title, 60));
        } else if !(text.is_empty() || is_rule || is_fence) {
            if current.1.is_empty() {
                current.0 = number + 1;
            } else {
                current.1.push(' ');
            }
            current.1.push_str(text);
        }
    }
    finish(&mut passages, &mut current, heading.as_ref());
    passages
}

/// Whether a line starts a list item, a table row or a turn such as `Ann: …` or `[10:42] …`.
fn starts_item(text: &str) -> bool {
    let numbered = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < text.len() && (rest.starts_with(". ") || rest.starts_with(") "))
    };
    let spoken = || {
        let end = text.find(':').filter(|end| *end <= 40);
        end.is_some_and(|end| {
            let name = text[..end].trim_matches(['*', '_', '[', ']', '(', ')']);
            text[end + 1..].starts_with(' ')
                && name.starts_with(char::is_uppercase)
                && name.split_whitespace().count() <= 3
        })
    };
    ["- ", "* ", "+ ", "|", "> ", "["].iter().any(|start| text.starts_with(start))
        || numbered()
        || spoken()
}

/// Adds a paragraph, in pieces if it is long.
fn finish(passages: &mut Vec<Passage>, current: &mut (usize, String), heading: Option<&String>) {
    let (line, text) = (current.0, std::mem::take(&mut current.1));
    for piece in pieces(&text) {
        passages.push(Passage {
            line,
            heading: heading.cloned(),
            text: piece,
            score: 0.0,
            shared: 0,
        });
    }
}

/// A paragraph at its sentences, in pieces of limited length.
fn pieces(text: &str) -> Vec<String> {
    if text.chars().count() <= MAX_PASSAGE_CHARS {
        return if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    }
    let mut pieces: Vec<String> = vec![String::new()];
    for sentence in text.split_inclusive(['.', '!', '?', ';']) {
        let last = pieces.len() - 1;
        let long = pieces[last].chars().count() + sentence.chars().count() > MAX_PASSAGE_CHARS;
        if long && !pieces[last].is_empty() {
            pieces.push(sentence.trim_start().to_owned());
        } else {
            pieces[last].push_str(sentence);
        }
    }
    pieces.into_iter().map(|piece| cut::cut(piece.trim(), MAX_PASSAGE_CHARS)).collect()
}

/// The beginning of a text, at most so many bytes.
pub(super) fn up_to(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// The words of a task, each with its weight.
#[derive(Debug)]
pub(super) struct Question {
    weights: BTreeMap<String, f64>,
    /// The same words, to look up every word of every text.
    words: foldhash::HashSet<String>,
}

impl Question {
    pub(super) fn new(task: &str) -> Self {
        let first = task.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut weights: BTreeMap<String, f64> =
            words::terms(task).into_iter().map(|term| (term, 1.0)).collect();
        for term in words::terms(first) {
            weights.insert(term, FIRST_LINE);
        }
        let words = weights.keys().cloned().collect();
        Self { weights, words }
    }

    /// The passages of several texts, by text, each with its score.
    pub(super) fn rank(&self, bodies: &[&str]) -> Vec<Vec<Passage>> {
        let share = (MAX_TOGETHER_BYTES / bodies.len().max(1)).min(MAX_BODY_BYTES);
        let mut texts: Vec<Vec<Passage>> =
            bodies.iter().map(|body| split(up_to(body, share))).collect();
        let own: Vec<Vec<Counts>> =
            texts.iter().map(|text| text.iter().map(|p| self.count(&p.text)).collect()).collect();
        let average = average_length(own.iter().flatten());
        let near: Vec<Vec<Counts>> = texts
            .iter()
            .zip(&own)
            .map(|(text, own)| with_neighbours(own, &self.of_headings(text), average))
            .collect();
        let rarity = Rarity::of(self, near.iter().flatten());
        for (text, (near, own)) in texts.iter_mut().zip(near.iter().zip(&own)) {
            for (passage, (near, own)) in text.iter_mut().zip(near.iter().zip(own)) {
                passage.score = rarity.score(near);
                passage.shared = own.terms.len();
                if passage.shared == 0 {
                    passage.score *= ONLY_AROUND;
                }
            }
        }
        texts
    }

    /// The words in each passage's heading. Passages under one heading follow each other.
    fn of_headings(&self, passages: &[Passage]) -> Vec<Counts> {
        let mut last: Option<(&str, Counts)> = None;
        let count = |passage| {
            let heading = Passage::heading(passage)?;
            if last.as_ref().is_none_or(|(same, _)| *same != heading) {
                last = Some((heading, self.count(heading)));
            }
            last.as_ref().map(|(_, counts)| counts.clone())
        };
        passages.iter().map(count).map(Option::unwrap_or_default).collect()
    }

    fn count(&self, text: &str) -> Counts {
        let mut counts = Counts::default();
        for term in words::terms(text) {
            counts.length += 1.0;
            if self.words.contains(&term) {
                *counts.terms.entry(term).or_default() += 1.0;
            }
        }
        counts
    }

    /// How many different words the task has.
    pub(super) fn words(&self) -> usize {
        self.weights.len()
    }

    /// How many of them a text must have to be about the task.
    pub(super) fn needed(&self) -> usize {
        if self.words() <= 2 { 1 } else { 2 }
    }

    /// How many different words of the task a text has.
    pub(super) fn shared(&self, text: &str) -> usize {
        self.count(text).terms.len()
    }
}

/// How often a text has each word of the task.
#[derive(Debug, Default, Clone)]
struct Counts {
    terms: BTreeMap<String, f64>,
    length: f64,
}

impl Counts {
    /// Adds a part of what another text has.
    fn add(&mut self, other: &Self, weight: f64) {
        for (term, count) in &other.terms {
            *self.terms.entry(term.clone()).or_default() += weight * count;
        }
    }

    /// A word in a long text counts less.
    fn normalized(&self, average: f64) -> Self {
        let damping = 1.0 - B + B * self.length / average;
        let terms = self.terms.iter().map(|(term, count)| (term.clone(), count / damping));
        Self { terms: terms.collect(), length: self.length }
    }
}

fn average_length<'c>(counts: impl Iterator<Item = &'c Counts>) -> f64 {
    let (passages, length) =
        counts.fold((0.0, 0.0), |(n, length), counts| (n + 1.0, length + counts.length));
    f64::max(length / f64::max(passages, 1.0), 1.0)
}

/// What each passage of a text has, with the words around it.
fn with_neighbours(own: &[Counts], of_headings: &[Counts], average: f64) -> Vec<Counts> {
    let own: Vec<Counts> = own.iter().map(|counts| counts.normalized(average)).collect();
    let around = |at: usize| {
        let mut all = own[at].clone();
        all.add(&of_headings[at], HEADING);
        for (distance, weight) in (1..).zip(NEIGHBOURS) {
            for neighbour in [at.checked_sub(distance), Some(at + distance)] {
                if let Some(near) = neighbour.and_then(|neighbour| own.get(neighbour)) {
                    all.add(near, weight);
                }
            }
        }
        all
    };
    (0..own.len()).map(around).collect()
}

/// How much each word of a task tells passages apart.
struct Rarity<'q> {
    weights: BTreeMap<&'q str, f64>,
}

impl<'q> Rarity<'q> {
    fn of<'c>(question: &'q Question, counts: impl Iterator<Item = &'c Counts>) -> Self {
        let mut passages = 0.0;
        let mut having: BTreeMap<&str, f64> = BTreeMap::new();
        for counts in counts {
            passages += 1.0;
            for term in counts.terms.keys() {
                *having.entry(term).or_default() += 1.0;
            }
        }
        let rarity = |term: &str| {
            let having = having.get(term).copied().unwrap_or_default();
            f64::ln(1.0 + (passages - having + 0.5) / (having + 0.5))
        };
        let weights = question.weights.iter();
        Self { weights: weights.map(|(term, w)| (term.as_str(), w * rarity(term))).collect() }
    }

    fn score(&self, counts: &Counts) -> f64 {
        let of_term = |(term, count): (&String, &f64)| {
            let weight = self.weights.get(term.as_str()).copied().unwrap_or_default();
            weight * count * (K1 + 1.0) / (count + K1)
        };
        counts.terms.iter().map(of_term).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<(usize, String)> {
        split(body).into_iter().map(|passage| (passage.line, passage.text)).collect()
    }

    #[test]
    fn paragraphs_items_and_turns_are_passages() {
        let body = "---\nkind: research\n---\n# Tokens\n\nFirst line\nof a paragraph.\n\n- one\n- two\n  more\n\n\
            ```rust\nlet x = 1;\n```\n| a | b |\n|---|---|\n| c | d |\nAnn: hello there\nBob: and you\n";
        assert_eq!(
            texts(body),
            [
                (6, "First line of a paragraph.".to_owned()),
                (9, "- one".to_owned()),
                (10, "- two more".to_owned()),
                (14, "let x = 1;".to_owned()),
                (16, "| a | b |".to_owned()),
                (18, "| c | d |".to_owned()),
                (19, "Ann: hello there".to_owned()),
                (20, "Bob: and you".to_owned()),
            ]
        );
        assert_eq!(split(body)[0].heading.as_deref(), Some("Tokens"));
        assert!(split("").is_empty() && split("# only a heading\n").is_empty());
    }

    #[test]
    fn long_paragraphs_are_split_at_sentences() {
        let body = "A sentence of some length that goes on for a while. ".repeat(40);
        let pieces = split(&body);
        assert!(pieces.len() > 3, "{}", pieces.len());
        for piece in &pieces {
            assert!(piece.text.chars().count() <= MAX_PASSAGE_CHARS && piece.line == 1);
            assert!(piece.text.starts_with("A sentence"), "{}", piece.text);
        }
    }

    #[test]
    fn the_passage_with_the_rare_words_wins() {
        let body = "# Auth\n\nThe service has users and sessions.\n\nRefresh tokens rotate on every use.\n\n\
            The service has sessions, and users have sessions.\n";
        let ranked = Question::new("How do refresh tokens rotate in the service?").rank(&[body]);
        let best = ranked[0].iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
        assert_eq!(best.text, "Refresh tokens rotate on every use.");
        assert_eq!(best.shared, 3);
    }

    #[test]
    fn an_answer_next_to_its_question_gains() {
        let body = "Ann: which database did we choose for billing\nBob: the one that runs on my laptop\n\
            Cid: lunch is at noon\nDan: see you there\n";
        let ranked = Question::new("Which database did we choose for billing?").rank(&[body]);
        let score = |at: usize| ranked[0][at].score;
        assert!(score(0) > score(1) && score(1) > score(2), "{ranked:?}");
    }

    #[test]
    fn passages_of_all_texts_are_ranked_together() {
        let ranked =
            Question::new("rotate tokens").rank(&["Tokens rotate daily.", "Nothing here."]);
        assert_eq!(ranked.len(), 2);
        assert!(ranked[0][0].score > 0.0 && ranked[1][0].score == 0.0);
        assert!(Question::new("").rank(&["text"])[0][0].score == 0.0);
    }

    #[test]
    fn huge_texts_are_searched_up_to_a_limit() {
        let body = "ä".repeat(MAX_BODY_BYTES);
        assert!(split(&body).iter().all(|passage| !passage.text.is_empty()));
    }
}
