//! Says in a few words why a file is in an answer, and lists places in a brief.

use std::fmt::Write as _;

use handover_text::quote::quote_inline;
use handover_text::screen::screen;
use handover_text::{cut, words};

use super::Place;
use super::document::{InPath, Occurrence};
use super::inverted::each_posting;
use super::rank::{Found, Ranking};

const MAX_SUBJECT: usize = 60;
const MAX_SYMBOL: usize = 48;
/// At most so many reasons are given.
const MAX_REASONS: usize = 2;

/// The section of a brief; empty without places. Paths and reasons are quoted: they are text of the checkout, and
/// the caller redacts the whole.
pub fn section(places: &[Place]) -> String {
    let mut text = String::new();
    if !places.is_empty() {
        let _ = write!(text, "\n### Where to look ({})\n\n", places.len());
        for place in places {
            let _ = writeln!(text, "- {}: {}", quote_inline(&place.path), quote_inline(&place.why));
        }
    }
    text
}

/// Why a file is in an answer.
pub(super) struct Why {
    pub(super) text: String,
    /// Whether the subject of a commit is part of it.
    pub(super) quotes: bool,
}

/// The strongest reasons for each of these documents.
pub(super) fn why(ranking: &Ranking<'_>, documents: &[u32]) -> Vec<Why> {
    let matched = matched(ranking, documents);
    let each = documents.iter().zip(&matched);
    each.map(|(document, matched)| strongest(ranking, *document as usize, matched)).collect()
}

fn strongest(ranking: &Ranking<'_>, document: usize, matched: &[Matched<'_>]) -> Why {
    let signals = ranking.signals[document];
    let nothing = Found::default();
    let found = ranking.evidence.get(&(document as u32)).unwrap_or(&nothing);
    let mut reasons: Vec<(f32, String)> = Vec::new();
    if let Some(said) = &found.said {
        reasons.push((3.0, said.clone()));
    } else if signals.named > 0.0 {
        reasons.push((3.0, "named in the task".to_owned()));
    }
    if let Some(symbol) = symbol(ranking, document, matched) {
        reasons.push((signals.content * 1.1, format!("defines `{symbol}`")));
    } else if let Some(text) = in_path(matched) {
        reasons.push((signals.content * 1.05, text));
    } else if let Some(text) = mentioned(matched) {
        reasons.push((signals.content, text));
    }
    let history = in_history(ranking, found);
    if let Some(history) = &history {
        reasons.push((signals.history, history.text.clone()));
    }
    if let Some((_, seed)) = found.seed
        && let Some(row) = ranking.documents.get(seed as usize)
        && let Some(path) = ranking.index.path_text(row.path)
    {
        reasons
            .push((signals.together * 0.5, format!("changes together with {}", plain(&path, 80))));
    }
    reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
    // A second reason only if it carries weight.
    let strongest = reasons.first().map_or(0.0, |(weight, _)| *weight);
    let kept =
        reasons.into_iter().filter(|(weight, _)| *weight > strongest * 0.3).take(MAX_REASONS);
    let kept: Vec<String> = kept.map(|(_, text)| text).collect();
    let quotes = history.is_some_and(|history| history.quotes && kept.contains(&history.text));
    Why { text: kept.join("; "), quotes }
}

/// A term of the task in this document.
struct Matched<'a> {
    word: &'a str,
    rarity: f32,
    is: Occurrence,
}

/// The terms of the task that each document has, rarest first. Every list of postings is read once.
fn matched<'a>(ranking: &'a Ranking<'_>, documents: &[u32]) -> Vec<Vec<Matched<'a>>> {
    let mut all: Vec<Vec<Matched<'a>>> = documents.iter().map(|_| Vec::new()).collect();
    let mut wanted = vec![false; ranking.documents.len()];
    for document in documents {
        wanted[*document as usize] = true;
    }
    for term in &ranking.terms {
        let _ = each_posting(&term.postings, |document, byte| {
            if wanted.get(document as usize) == Some(&true)
                && let Some(at) = documents.iter().position(|wanted| *wanted == document)
            {
                let is = Occurrence(byte);
                all[at].push(Matched { word: &term.word, rarity: term.rarity, is });
            }
        });
    }
    for matched in &mut all {
        matched.sort_by(|a, b| b.rarity.total_cmp(&a.rarity));
    }
    all
}

/// The defined name that has the rarest words of the task; several of them, or one that is all of the name.
fn symbol(ranking: &Ranking<'_>, document: usize, matched: &[Matched<'_>]) -> Option<String> {
    if !matched.iter().any(|matched| matched.is.symbols() > 0) {
        return None;
    }
    let all = ranking.index.symbols(&ranking.documents, document)?;
    let of_task: Vec<(String, f32)> = matched
        .iter()
        .filter(|matched| matched.is.symbols() > 0)
        .flat_map(|matched| {
            words::terms(matched.word).into_iter().map(|term| (term, matched.rarity))
        })
        .collect();
    let rarest = matched.first().map_or(0.0, |matched| matched.rarity);
    let score = |name: &str| {
        let terms = words::terms(name);
        let parts = if terms.len() > 1 { terms.len() - 1 } else { 1 };
        let hits: Vec<f32> = terms
            .iter()
            .filter_map(|term| {
                of_task.iter().find(|(other, _)| other == term).map(|(_, rarity)| *rarity)
            })
            .collect();
        let enough = hits.len() >= 2 || hits.len() == 1 && parts <= 2;
        let sum = hits.iter().sum::<f32>();
        // A name that has only the commonest words of the task, like `add`, explains nothing.
        if enough && sum > rarest * 0.6 { sum - 0.2 * parts as f32 } else { 0.0 }
    };
    // Stemming every name of a file costs more than the rest of a query; a stem keeps the start of its word.
    let starts: Vec<&str> =
        of_task.iter().map(|(term, _)| term.get(..3).unwrap_or(term.as_str())).collect();
    let may_match = |name: &&str| {
        let name = name.to_lowercase();
        starts.iter().any(|start| name.contains(start))
    };
    let candidates = all.lines().filter(may_match);
    let scored = candidates.map(|name| (score(name), name)).filter(|(score, _)| *score > 0.0);
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(plain(best.1, MAX_SYMBOL))
}

fn in_path(matched: &[Matched<'_>]) -> Option<String> {
    let in_name = |matched: &&Matched<'_>| matched.is.path() == InPath::Name;
    let found = quoted(matched.iter().filter(in_name));
    found.map(|words| format!("its name says {words}"))
}

fn mentioned(matched: &[Matched<'_>]) -> Option<String> {
    quoted(matched.iter().filter(|matched| matched.is.text() > 0))
        .map(|words| format!("mentions {words}"))
}

/// At most three words, each once.
fn quoted<'a>(matched: impl Iterator<Item = &'a Matched<'a>>) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for matched in matched.filter(|matched| !matched.word.bytes().all(|byte| byte.is_ascii_digit()))
    {
        let word = format!("\"{}\"", plain(matched.word, MAX_SYMBOL));
        if !words.contains(&word) {
            words.push(word);
        }
        if words.len() == 3 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// A subject that speaks to its reader is not quoted.
fn in_history(ranking: &Ranking<'_>, found: &Found) -> Option<Why> {
    let (best, commit) = found.commits.first()?;
    let subject = ranking.index.subject(&ranking.commits, *commit as usize)?;
    let quotes = screen(&subject).is_clean();
    let subject = plain(&subject, MAX_SUBJECT);
    let alike = found.commits.iter().filter(|(weight, _)| *weight > best * 0.3).count();
    let text = match (quotes, alike) {
        (true, 1) => format!("changed in a commit like this: \"{subject}\""),
        (true, _) => format!("changed in {alike} commits like this: \"{subject}\""),
        (false, _) => "changed in a commit about this".to_owned(),
    };
    Some(Why { text, quotes })
}

/// Text of the checkout on one line, cut.
fn plain(text: &str, most: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| match c {
            '`' => '\'',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    cut::cut(text.trim(), most)
}
