//! Notes by their relevance to a text. What each word weighs in a note is in its posting; here it is
//! multiplied by how rare the word is among the project's notes.

use std::collections::BTreeMap;

use handover_model::{Note, ProjectId};
use handover_store::packed::{Postings, SPOKEN, note_weight};
use handover_store::{Result, Store};
use handover_text::{related, words};

use super::{SYNONYM, distinct, with_synonyms};

/// A note and how well it answers a text.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedNote {
    /// The note.
    pub note: Note,
    /// From 0 to 1; the best one has the most.
    pub relevance: f64,
}

/// Which words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Those of the text.
    Exact,
    /// Those that mean the same, too, but less.
    Synonyms,
    /// Those that mean the same or are used about the same things, where the words of the text are rare.
    Related,
}

/// A word that more of the notes have is found anyway; what is related to it adds time and noise.
const RARE: f64 = 0.01;

/// A related word that more of the notes have says nothing.
const TELLING: f64 = 0.03;

/// Added to both: in a small project every word is in many of the notes.
const FEW: f64 = 3.0;

/// No more words are looked up beside those of a text: those that may add most. A long text shares words with its answer
/// anyway.
const MAX_BESIDE: usize = 48;

/// A word beside those of the text.
struct Beside {
    /// The word of the text, by number, that it stands for.
    of: usize,
    weight: f64,
    /// How rare the word of the text is: what stands for it counts no more.
    rarity: f64,
}

/// How many notes before and after one are around it. A conversation is learned in one go, so numbers that follow
/// each other are mostly of the same one.
pub const AROUND: i64 = 5;

/// How much what is around a note counts beside its own words.
pub const OF_AROUND: f64 = 0.25;

#[derive(Debug, Clone, Copy, Default)]
struct Score {
    heading: f32,
    whole: f32,
    /// The words it has or that related ones stand for, a bit for each of the first 64.
    words: u64,
    /// Whether it has one of them itself.
    exact: bool,
    /// Whether it is a statement of a conversation.
    spoken: bool,
}

/// How well each note answers a text, by its number in the index. Numbers are dense in places and grow without
/// end, so scores are in pages.
#[derive(Debug, Default)]
pub struct NoteScores {
    pages: Vec<Box<[Score; PAGE]>>,
    /// The place of a page, by its number.
    places: BTreeMap<i64, usize>,
    top: Score,
}

const PAGE: usize = 256;

impl NoteScores {
    /// Reads the postings of a text's words.
    pub fn of(
        store: &dyn Store,
        project: &ProjectId,
        text: &str,
        wording: Wording,
    ) -> Result<Self> {
        let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut terms = distinct(words::terms(text));
        let heading = distinct(words::terms(first_line)).len().min(terms.len());
        let own = match wording {
            Wording::Exact | Wording::Related => terms.len(),
            Wording::Synonyms => with_synonyms(&mut terms),
        };
        let mut scores = Self::default();
        if terms.is_empty() {
            return Ok(scores);
        }
        // Of the words that something stands for.
        let mut rarities: Vec<Option<f64>> = vec![None; terms.len()];
        store.each_note_postings(project, &terms, &mut |notes, term, list| {
            let of_wording = if term < own { 1.0 } else { SYNONYM };
            let rarity = rarity(notes, list);
            let is_rare = notes > 0 && list.count() as f64 <= FEW + notes as f64 * RARE;
            rarities[term] = is_rare.then_some(rarity);
            scores.add(list, rarity * of_wording, (term, true), term < heading);
        })?;
        if wording == Wording::Related {
            let (words, beside) = beside(&terms, &rarities);
            store.each_note_postings(project, &words, &mut |notes, word, list| {
                if list.count() as f64 > FEW + notes as f64 * TELLING {
                    return;
                }
                let Beside { of, weight, rarity: at_most } = beside[word];
                let rarity = rarity(notes, list).min(at_most) * weight;
                scores.add(list, rarity, (of, false), of < heading);
            })?;
        }
        let all = || scores.pages.iter().flat_map(|page| page.iter());
        scores.top = Score {
            heading: all().map(|score| score.heading).fold(f32::MIN_POSITIVE, f32::max),
            whole: all().map(|score| score.whole).fold(f32::MIN_POSITIVE, f32::max),
            ..Score::default()
        };
        Ok(scores)
    }

    /// Adds what the notes of a list gain by a word: a term of the text, or one that stands for it.
    fn add(
        &mut self,
        list: &Postings,
        rarity: f64,
        (term, is_exact): (usize, bool),
        in_heading: bool,
    ) {
        // A list is in the order of numbers: most are on the page of the one before.
        let mut last = (-1, 0);
        list.each(|number, present| {
            let (mut weight, mut spoken) = (0.0, false);
            for (column, count) in present.columns() {
                weight += note_weight(count);
                spoken |= column == SPOKEN;
            }
            let (page, slot) = place(number.0);
            if page != last.0 {
                last = (page, self.page(page));
            }
            let score = &mut self.pages[last.1][slot];
            let gained = (rarity * weight) as f32;
            score.whole += gained;
            score.words |= 1 << term.min(63);
            score.exact |= is_exact;
            score.spoken = spoken;
            if in_heading {
                score.heading += gained;
            }
        });
    }

    fn page(&mut self, number: i64) -> usize {
        *self.places.entry(number).or_insert_with(|| {
            self.pages.push(Box::new([Score::default(); PAGE]));
            self.pages.len() - 1
        })
    }

    fn at(&self, number: i64) -> Score {
        let (page, slot) = place(number);
        self.places.get(&page).map_or_else(Score::default, |page| self.pages[*page][slot])
    }

    fn relevance_of(&self, score: Score) -> f32 {
        f32::midpoint(score.heading / self.top.heading, score.whole / self.top.whole)
    }

    /// How well a note answers the text by its own words, from 0 to 1.
    pub fn relevance(&self, number: i64) -> f64 {
        self.relevance_of(self.at(number)).into()
    }

    /// How well a note answers the text if it has a word of it, from 0 to 1. Related words alone say nothing for sure.
    pub fn certain(&self, number: i64) -> f64 {
        let score = self.at(number);
        if score.exact { self.relevance_of(score).into() } else { 0.0 }
    }

    /// Which of the text's words a note has, or has related ones of, a bit for each of the first 64.
    pub fn words(&self, number: i64) -> u64 {
        self.at(number).words
    }

    /// Every note that has a word of the text, by number.
    fn each(&self) -> impl Iterator<Item = (i64, Score)> {
        self.places.iter().flat_map(|(page, place)| {
            let numbered = (page * PAGE as i64..).zip(self.pages[*place].iter().copied());
            numbered.filter(|(_, score)| score.words != 0)
        })
    }

    /// The numbers of the notes that answer the text best by their own words, best first.
    pub fn best(&self, limit: usize) -> Vec<i64> {
        best(self.each().map(|(number, score)| (number, self.relevance_of(score))), limit)
    }

    /// The numbers of the statements that answer the text best with what is said around them, best first.
    pub fn best_spoken(&self, limit: usize) -> Vec<i64> {
        let spoken = self.each().filter(|(_, score)| score.spoken);
        let own: Vec<(i64, f32)> =
            spoken.map(|(number, score)| (number, self.relevance_of(score))).collect();
        let (mut from, mut to, mut sum) = (0, 0, 0.0);
        let with_around = |(number, relevance): &(i64, f32)| {
            while to < own.len() && own[to].0 <= number + AROUND {
                sum += own[to].1;
                to += 1;
            }
            while own[from].0 < number - AROUND {
                sum -= own[from].1;
                from += 1;
            }
            (*number, relevance + OF_AROUND as f32 * (sum - relevance))
        };
        best(own.iter().map(with_around), limit)
    }
}

/// How rare a word is among the notes.
fn rarity(notes: u64, list: &Postings) -> f64 {
    let having = list.count() as f64;
    let others = (notes as f64 - having + 0.5).max(0.0);
    (1.0 + others / (having + 0.5)).ln()
}

/// The words that stand for rare ones of a text, best first; none that the text has itself.
fn beside(terms: &[String], rarities: &[Option<f64>]) -> (Vec<String>, Vec<Beside>) {
    let mut found: Vec<(&str, Beside)> = Vec::new();
    for (of, (term, rarity)) in terms.iter().zip(rarities).enumerate() {
        let Some(rarity) = *rarity else { continue };
        for (word, weight) in related::of(term) {
            let one = Beside { of, weight, rarity };
            match found.iter_mut().find(|(other, _)| *other == word) {
                Some((_, known)) if known.weight < weight => *known = one,
                Some(_) => {}
                None if terms.iter().any(|other| other == word) => {}
                None => found.push((word, one)),
            }
        }
    }
    let most = |beside: &Beside| beside.weight * beside.rarity;
    // Stable: of equal ones those of the first words.
    found.sort_by(|(_, a), (_, b)| most(b).total_cmp(&most(a)));
    found.truncate(MAX_BESIDE);
    found.into_iter().map(|(word, beside)| (word.to_owned(), beside)).unzip()
}

/// The page of a number, and its place there.
fn place(number: i64) -> (i64, usize) {
    let page = PAGE as i64;
    (number.div_euclid(page), number.rem_euclid(page) as usize)
}

/// The numbers with the highest scores; of equal ones the older. Holds at most twice as many as are wanted.
fn best(found: impl Iterator<Item = (i64, f32)>, limit: usize) -> Vec<i64> {
    let better = |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut kept: Vec<(i64, f32)> = Vec::new();
    let mut least: Option<(i64, f32)> = None;
    let keep_best = |kept: &mut Vec<(i64, f32)>| {
        if kept.len() > limit {
            kept.select_nth_unstable_by(limit, better);
            kept.truncate(limit);
        }
        kept.iter().copied().max_by(better)
    };
    // Not a loop: an iterator over pages runs faster if it is not asked for one after the other.
    found.for_each(|one| {
        if least.is_none_or(|least| better(&one, &least).is_lt()) {
            kept.push(one);
            if kept.len() > limit.saturating_mul(2) {
                least = keep_best(&mut kept);
            }
        }
    });
    keep_best(&mut kept);
    kept.sort_unstable_by(better);
    kept.into_iter().map(|(number, _)| number).collect()
}

/// The notes that answer a text best, best first; ties by newest, then by id.
pub fn notes(
    store: &dyn Store,
    project: &ProjectId,
    text: &str,
    limit: usize,
    wording: Wording,
) -> Result<Vec<RankedNote>> {
    let scores = NoteScores::of(store, project, text, wording)?;
    let mut found: Vec<RankedNote> = store
        .notes_by_number(project, &scores.best(limit))?
        .into_iter()
        .map(|(number, note)| RankedNote { note, relevance: scores.relevance(number) })
        .collect();
    found.sort_by(|a, b| {
        b.relevance
            .total_cmp(&a.relevance)
            .then_with(|| b.note.created_at.cmp(&a.note.created_at))
            .then_with(|| a.note.id.cmp(&b.note.id))
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_rare_ones_that_may_add_most_come_first() {
        let terms: Vec<String> =
            ["refund", "invoic", "watchdog", "shipment"].map(str::to_owned).to_vec();
        let (words, found) = beside(&terms, &[Some(2.0), None, Some(6.0), Some(4.0)]);
        assert_eq!(words.len(), found.len());
        assert!(words.iter().all(|word| !terms.contains(word)));
        assert!(found.iter().all(|beside| beside.of != 1), "it is not rare");
        let most: Vec<f64> = found.iter().map(|one| one.weight * one.rarity).collect();
        assert!(most.is_sorted_by(|a, b| a >= b) && found[0].of == 2, "{words:?}");
    }

    #[test]
    fn a_long_text_has_no_more_words_beside_it() {
        let terms: Vec<String> = handover_text::words::terms(
            "refund parcel watchdog chart tenant sailor ballot museum violin voucher train kernel \
             subtitle nurse harvest antenna",
        );
        let rarities = vec![Some(5.0); terms.len()];
        assert_eq!(beside(&terms, &rarities).0.len(), MAX_BESIDE);
    }

    proptest! {
        /// However many there are, the same as sorting all of them.
        #[test]
        fn the_best_are_those_that_come_first_when_all_are_sorted(
            scores in prop::collection::vec(0_u8..20, 0..300),
            limit in 0_usize..60,
        ) {
            let found: Vec<(i64, f32)> = (0..).zip(scores.into_iter().map(f32::from)).collect();
            let mut sorted = found.clone();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let expected: Vec<i64> = sorted.into_iter().take(limit).map(|(number, _)| number).collect();
            prop_assert_eq!(best(found.into_iter(), limit), expected);
        }
    }
}
