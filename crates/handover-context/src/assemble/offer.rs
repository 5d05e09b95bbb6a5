//! What may go into a block: packages with the texts that may stand for them, and how much each is worth.
//!
//! Only packages and tasks count here; whether a text fits is for packing to say.

use std::collections::HashSet;

use handover_model::{GroupId, Timestamp};
use handover_text::{Likeness, covers, words};

use super::PackedPackage;
use super::passages::{Passage, up_to};
use crate::rank::Key;

/// How much of a passage's value is that of its package: a good text seldom has good passages by chance.
const OF_PACKAGE: f64 = 0.3;

/// How much the better of the packages one, two and three places before and after counts: what was written
/// next often completes it.
const NEIGHBOURS: [f64; 3] = [0.3, 0.2, 0.1];

/// How much the best packages of its group count, and how many they are: a group that the task is about is
/// about it in several packages.
const GROUP: f64 = 0.3;
const BEST_OF_GROUP: usize = 3;

/// A text of so few words has seven tenths of the value that a long one would have.
const FEW_WORDS: f64 = 5.0;

/// The beginning of a text tells whether it is long.
const ENOUGH_BYTES: usize = 600;

/// A candidate that may go in.
pub(super) struct Offer {
    pub(super) key: Key,
    pub(super) group: Option<GroupId>,
    pub(super) package: PackedPackage,
    /// The passages that may stand for the summary, best first; none if the summary says more.
    pub(super) passages: Vec<Passage>,
    /// What its best text is worth.
    pub(super) value: f64,
    /// How much its text can say at all, from 0 to 1.
    pub(super) substance: f64,
    pub(super) created_at: Timestamp,
    /// Its text, to tell whether another says the same; a long text says too much.
    pub(super) said: Option<(String, Likeness)>,
    /// Whether it is more than one statement.
    pub(super) long: bool,
    /// The place in the list of what was tried.
    pub(super) tried: usize,
    pub(super) included: bool,
}

impl Offer {
    /// Whether another says the same in nearly the same words.
    pub(super) fn repeated_by(&self, other: &Self) -> bool {
        let Some(((said, one), (by_other, other))) = self.said.as_ref().zip(other.said.as_ref())
        else {
            return false;
        };
        one.repeats(other) && covers(by_other, said)
    }
}

/// A text of an offer that waits for its turn.
pub(super) struct Turn {
    pub(super) offer: usize,
    /// Its place among the passages; `None` is the summary.
    pub(super) passage: Option<usize>,
    /// Takes precedence over the value.
    pub(super) tier: u8,
    pub(super) value: f64,
}

/// Values offers by their texts: what they say about the task, and what stands beside them. The score that is
/// shown and sorted by follows.
pub(super) fn value(offers: &mut [Offer]) {
    let best = offers.iter().filter_map(|offer| offer.passages.first());
    let best = best.map(|passage| passage.score).fold(f64::MIN_POSITIVE, f64::max);
    let summaries = summaries(offers);
    for (offer, of_summary) in offers.iter_mut().zip(summaries) {
        let score = offer.key.score;
        for passage in &mut offer.passages {
            passage.score = (1.0 - OF_PACKAGE) * passage.score / best + OF_PACKAGE * score;
        }
        let value = match offer.passages.first() {
            Some(passage) => passage.score,
            None => of_summary,
        };
        offer.package.terms.task += value - offer.value;
        (offer.value, offer.package.score) = (value, value);
    }
}

/// What each offer's summary is worth. The best is worth as much as the best score, so that summaries and
/// passages compare.
fn summaries(offers: &[Offer]) -> Vec<f64> {
    let values: Vec<f64> = offers
        .iter()
        .map(|offer| (offer.key.score + around(offers, offer)) * offer.substance)
        .collect();
    let shown = || offers.iter().zip(&values).filter(|(offer, _)| offer.passages.is_empty());
    let best_score = shown().map(|(offer, _)| offer.key.score).fold(0.0, f64::max);
    let best_value = shown().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    values.iter().map(|value| value * best_score / best_value).collect()
}

/// How much a text can say: one of a few words seldom says much, whatever it is about.
pub(super) fn substance(text: &str) -> f64 {
    let words: HashSet<String> = words::terms(up_to(text, ENOUGH_BYTES)).into_iter().collect();
    (words.len() as f64 / (words.len() as f64 + FEW_WORDS)).sqrt()
}

/// What the packages around one add to its value.
fn around(offers: &[Offer], offer: &Offer) -> f64 {
    if offer.group.is_none() {
        return 0.0;
    }
    let of_group = || offers.iter().filter(|other| other.group == offer.group);
    let beside = |far: u64| {
        let distance = |other: &Offer| other.package.id.0.abs_diff(offer.package.id.0);
        let scores = of_group().filter(|other| distance(other) == far).map(|other| other.key.score);
        scores.fold(0.0, f64::max)
    };
    let near: f64 = (1..).zip(NEIGHBOURS).map(|(far, weight)| weight * beside(far)).sum();
    let mut scores: Vec<f64> = of_group().map(|other| other.key.score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    near + GROUP * scores.iter().take(BEST_OF_GROUP).sum::<f64>() / BEST_OF_GROUP as f64
}

/// The texts of the offers, in the order of their turns.
pub(super) fn turns(offers: &[Offer]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (at, offer) in offers.iter().enumerate() {
        let tier = offer.key.tier;
        if offer.passages.is_empty() {
            turns.push(Turn { offer: at, passage: None, tier, value: offer.value });
        }
        for (number, passage) in offer.passages.iter().enumerate() {
            let tier = if number == 0 { tier } else { 0 };
            turns.push(Turn { offer: at, passage: Some(number), tier, value: passage.score });
        }
    }
    turns.sort_by(|a, b| b.tier.cmp(&a.tier).then(b.value.total_cmp(&a.value)));
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_worth_less() {
        let long = "Refresh tokens rotate on every use and expire after thirty days of disuse.";
        assert!(substance("Great!") < substance("Tokens rotate daily."));
        assert!(substance("Tokens rotate daily.") < substance(long) && substance(long) < 1.0);
        assert_eq!(substance(""), 0.0);
    }
}
