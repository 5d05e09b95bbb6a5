//! What a mistyped word was meant to be. Only words that no record has are looked at, so that a correction
//! never hides what was asked for.

use std::collections::BTreeMap;

use handover_model::ItemKind;
use handover_store::Result;
use handover_text::{typos, words};

use super::{Assumed, Search};

/// The most words that one may stand for.
const MEANT: usize = 3;

/// The words of a query that no record has, with the nearest ones that there are.
pub(super) fn assume(search: &Search<'_>) -> Result<Vec<Assumed>> {
    let mut assumed = Vec::new();
    for word in query_words(search.query.text) {
        let terms = words::terms(word);
        // Identifiers are searched by their parts, too.
        let [term] = terms.as_slice() else { continue };
        let known = assumed.iter().any(|assumed: &Assumed| assumed.word == word);
        let slips = typos::forgiven(word);
        if known || slips == 0 || search.has(term) {
            continue;
        }
        let meant = nearest(search, &word.to_lowercase(), slips)?;
        if !meant.is_empty() {
            assumed.push(Assumed { word: word.to_owned(), meant });
        }
    }
    Ok(assumed)
}

fn query_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The nearest words in everything that is searched; of those that are equally near, the most frequent.
fn nearest(search: &Search<'_>, word: &str, slips: u32) -> Result<Vec<String>> {
    let mut near: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |words: Vec<String>| {
        for word in words {
            *near.entry(word).or_default() += 1;
        }
    };
    if search.wants(ItemKind::Package) {
        for session in &search.sessions {
            add(search.store.words_like(session, word, slips)?);
        }
    }
    if search.wants(ItemKind::Note) && search.of_project() {
        add(search.store.note_words_like(search.query.project, word, slips)?);
    }
    add(typos::nearest(word, slips, search.unindexed.iter().cloned()));
    let mut near: Vec<(u32, u64, String)> = near
        .into_iter()
        .filter_map(|(other, count)| Some((typos::slips(word, &other, slips)?, count, other)))
        .collect();
    near.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
    let least = near.first().map_or(0, |(slips, ..)| *slips);
    let nearest = near.into_iter().take_while(|(slips, ..)| *slips == least);
    Ok(nearest.map(|(.., word)| word).take(MEANT).collect())
}

/// A query with the words that were meant.
pub(super) fn corrected(text: &str, assumed: &[Assumed]) -> String {
    let meant: BTreeMap<&str, String> =
        assumed.iter().map(|assumed| (assumed.word.as_str(), assumed.meant.join(" "))).collect();
    let words = query_words(text).map(|word| meant.get(word).map_or(word, String::as_str));
    words.collect::<Vec<_>>().join(" ")
}
