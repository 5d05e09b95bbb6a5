//! Whether a later statement replaces an earlier one: a rule over subject and contradiction.
//!
//! Both are split into clauses, and the two that say most of the same are compared. What speaks for one subject is
//! counted (common nouns, above all those that few of the compared statements have; the same topic), and so is what
//! speaks against it (other topics, headings and modifiers, choices of other things, reports of work). What clearly
//! changes the earlier statement marks it; what is only likely about the same stands for it at most. The weights were
//! fitted on statements written for it (`xtask/data/amended-development`) and on what the briefs of real repositories
//! compare, which is hardly ever a replacement. Who said what, and when, callers know.

mod facts;
mod lexicon;

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use handover_model::AmendedHow;

use crate::synonyms;
pub use facts::Facts;
use facts::{Clause, Value};
use lexicon::LEXICON;

/// A word, by the hash of its stem.
type Stem = u64;

/// A replacement that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replacement {
    /// What speaks for it most.
    pub how: AmendedHow,
    /// How sure it is.
    pub score: f64,
}

impl Replacement {
    /// Whether the statements are about one subject even if one of them was only said in passing.
    pub fn holds_for_remarks(self) -> bool {
        self.score > SURELY_SAME
    }
}

/// Words that mean the same are one.
fn stem_of(word: &str) -> Stem {
    let mut stem = word.to_owned();
    if stem.is_ascii() {
        crate::stem::stem(&mut stem);
    }
    let same = synonyms::of(&stem).iter().map(String::as_str);
    hash(same.fold(stem.as_str(), |one, other| one.min(other)))
}

/// FNV-1a: short words, and nobody chooses them to collide.
fn hash(word: &str) -> Stem {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The names of the features, in the order of their weights.
pub const FEATURES: [&str; 33] = [
    "shared",
    "heading about something else",
    "values of other kinds",
    "topic of the later",
    "earlier words missing",
    "topics differ",
    "same verb",
    "both headings about something else",
    "another choice",
    "a further choice",
    "both short",
    "later long",
    "verb in the clause",
    "unshared in the clause",
    "share of the shorter",
    "same verb anywhere",
    "choices of other things",
    "rare shared",
    "rare shared in the clause",
    "rare share of the shorter",
    "prefix of the earlier",
    "prefix of the later",
    "names an issue",
    "rare first noun",
    "one rare noun",
    "same work",
    "work of the earlier",
    "work of the later",
    "other value",
    "modifiers differ",
    "same prefix",
    "names the old",
    "change and rare",
];

const WEIGHTS: [f64; 33] = [
    0.32, -0.39, -0.33, 0.57, -0.52, -0.36, 0.53, -0.51, 0.86, 0.69, 1.04, -0.39, -0.50, -0.36,
    0.62, 0.78, -0.50, 0.78, 0.25, 0.98, -0.54, -0.40, -0.35, 0.58, -1.27, -0.23, -0.55, -0.45,
    0.30, -0.44, 0.51, 0.29, 0.25,
];
const BIAS: f64 = -2.01;

/// Above this score, the earlier statement is marked.
const CHANGES: f64 = 1.25;

/// Above this one, the later statement may stand for both; above the other one, even if it is a remark in a conversation.
const SAME_SUBJECT: f64 = -2.0;
const SURELY_SAME: f64 = -0.5;

/// The most nouns that count.
const MOST_SHARED: usize = 5;
const MOST_SHARED_IN_CLAUSE: usize = 3;
const MOST_NOUNS: usize = 20;
const SHORT: usize = 16;

/// A noun is rare if at most so many of the compared statements have it, or this share of them.
const RARE: u32 = 3;
const RARE_SHARE: u32 = 5;

/// Statements with this share of common words say the same.
const REPEATS: f64 = 0.75;

/// How many of the statements that are compared have a noun: what most of them share says nothing about two.
#[derive(Debug, Default)]
pub struct Compared {
    counts: HashMap<Stem, u32>,
    rare: u32,
}

impl Compared {
    /// Counts the nouns of statements.
    pub fn of<'f>(all: impl IntoIterator<Item = &'f Facts>) -> Self {
        let (mut counts, mut statements) = (HashMap::default(), 0);
        for facts in all {
            statements += 1;
            for (at, noun) in facts.nouns.iter().enumerate() {
                if !facts.nouns[..at].contains(noun) {
                    *counts.entry(*noun).or_default() += 1;
                }
            }
        }
        Self { counts, rare: RARE.max(statements / RARE_SHARE) }
    }

    fn is_rare(&self, noun: Stem) -> bool {
        self.counts.get(&noun).is_none_or(|count| *count <= self.rare)
    }
}

/// Makes the words of the rule ready for use, which the first statement would wait for.
pub fn prepare() {
    LazyLock::force(&LEXICON);
}

/// The replacement of one statement by a later one, if the rule finds it among those that are compared.
pub fn replacement(earlier: &Facts, later: &Facts, compared: &Compared) -> Option<Replacement> {
    if !earlier.is_statement() || !later.is_statement() {
        return None;
    }
    let pair = Pair::of(earlier, later, compared)?;
    if pair.is_exclusive() || pair.repeats() {
        return None;
    }
    let score = pair.score();
    let how = match score {
        _ if score <= SAME_SUBJECT => return None,
        _ if score <= CHANGES => AmendedHow::SameSubject,
        _ if pair.names_old() => AmendedHow::NamesOld,
        _ if pair.other_value || pair.choice() == Choice::Another => AmendedHow::OtherValue,
        _ => AmendedHow::Otherwise,
    };
    Some(Replacement { how, score })
}

/// The features of a pair of statements, for measuring; none if nothing rare is common to both, if they exclude each
/// other, or if they say the same.
pub fn features(earlier: &Facts, later: &Facts, compared: &Compared) -> Option<[f64; 33]> {
    let pair = Pair::of(earlier, later, compared)?;
    (!pair.is_exclusive() && !pair.repeats()).then(|| pair.features())
}

/// What of one kind of things two statements choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Nothing, or the same.
    Same,
    /// The later one chooses more.
    Further,
    Another,
}

/// Two statements, and the two clauses that say most of the same.
struct Pair<'f> {
    earlier: &'f Facts,
    later: &'f Facts,
    old: &'f Clause,
    new: &'f Clause,
    /// Common nouns of the statements, and those that few of the compared ones have.
    shared: HashSet<Stem>,
    rare: HashSet<Stem>,
    other_value: bool,
}

impl<'f> Pair<'f> {
    fn of(earlier: &'f Facts, later: &'f Facts, compared: &Compared) -> Option<Self> {
        let shared = |noun: &Stem| later.nouns.contains(noun);
        let rare = |noun: &Stem| compared.is_rare(*noun);
        // Most pairs end here.
        if !earlier.nouns.iter().any(|noun| shared(noun) && rare(noun)) {
            return None;
        }
        let shared: HashSet<Stem> = earlier.nouns.iter().copied().filter(shared).collect();
        let rare = shared.iter().copied().filter(rare).collect();
        let mut best: Option<(f64, &Clause, &Clause)> = None;
        for old in &earlier.clauses {
            for new in &later.clauses {
                let likeness = likeness(old, new, earlier, later);
                if best.is_none_or(|(most, ..)| likeness > most) {
                    best = Some((likeness, old, new));
                }
            }
        }
        let (_, old, new) = best?;
        let other_value = differ(&old.values, &new.values);
        Some(Self { earlier, later, old, new, shared, rare, other_value })
    }

    fn score(&self) -> f64 {
        BIAS + self
            .features()
            .iter()
            .zip(WEIGHTS)
            .map(|(feature, weight)| feature * weight)
            .sum::<f64>()
    }

    fn features(&self) -> [f64; 33] {
        let Self { earlier, later, old, new, shared, rare, .. } = self;
        let yes = |yes: bool| f64::from(u8::from(yes));
        let share = |count: usize, most: usize| count.min(most) as f64 / most as f64;
        let (of_old, of_new) = (subject(old, later), subject(new, earlier));
        let topic =
            |subject: &[Stem], other: &Facts| subject.first().map(|noun| other.all.contains(noun));
        let (old_topic, new_topic) = (topic(&of_old, later), topic(&of_new, earlier));
        let first = later.nouns.iter().find(|noun| !LEXICON.of_change.contains(noun));
        let in_clause: HashSet<&Stem> = old
            .nouns
            .iter()
            .filter(|noun| rare.contains(noun) && new.nouns.contains(noun))
            .collect();
        let unshared = new.nouns.iter().filter(|noun| !earlier.all.contains(noun)).count();
        let shorter = different(earlier).min(different(later)).max(1) as f64;
        let choice = self.choice();
        [
            share(shared.len(), MOST_SHARED),
            yes(!earlier.heading.is_empty()
                && later.heading.iter().any(|noun| !earlier.all.contains(noun))),
            yes(self.other_kinds()),
            yes(new_topic == Some(true)),
            missing(&of_old, later),
            yes(old_topic == Some(false) && new_topic == Some(false)),
            yes(same_verb(old, new)),
            yes(self.headings_differ()),
            yes(choice == Choice::Another),
            yes(choice == Choice::Further),
            yes(earlier.nouns.len() + later.nouns.len() <= SHORT),
            share(later.nouns.len(), MOST_NOUNS),
            yes(!new.verbs.is_empty()),
            share(unshared, MOST_SHARED),
            shared.len() as f64 / shorter,
            yes(self.same_verb_anywhere()),
            yes(self.chooses_other_things()),
            share(rare.len(), MOST_SHARED),
            share(in_clause.len(), MOST_SHARED_IN_CLAUSE),
            rare.len() as f64 / shorter,
            yes(earlier.prefix.is_some()),
            yes(later.prefix.is_some()),
            yes(earlier.names_issue || later.names_issue),
            yes(first.is_some_and(|noun| rare.contains(noun))),
            yes(rare.len() == 1),
            yes(earlier.work.is_some() && earlier.work == later.work),
            yes(earlier.work.is_some()),
            yes(later.work.is_some()),
            yes(self.other_value),
            yes(self.modified_otherwise()),
            yes(earlier.prefix.is_some() && earlier.prefix == later.prefix),
            yes(self.names_old()),
            yes(!later.changes.is_empty()) * share(rare.len(), MOST_SHARED),
        ]
    }

    /// Whether the change is about one of the earlier statement's names or numbers.
    fn names_old(&self) -> bool {
        let Self { earlier, later, .. } = self;
        later.changes.iter().any(|about| {
            about.words.iter().any(|word| earlier.names.contains(word))
                || earlier.values.iter().any(|value| about.numbers.contains(&value.number))
        })
    }

    /// Whether the statements say the same: with the same words, or with nearly the same, and nothing else is chosen.
    fn repeats(&self) -> bool {
        let (one, other) = (&self.earlier.all, &self.later.all);
        let common = other.iter().filter(|word| one.contains(word)).count();
        let all = one.len() + other.len() - common;
        let adds = common < other.len() && (self.choice() != Choice::Same || self.names_old());
        !self.other_value
            && !adds
            && (common == other.len() || common as f64 >= REPEATS * all as f64)
    }

    fn choice(&self) -> Choice {
        let (old, new) = (&self.earlier.choices, &self.later.choices);
        let of_line = |line: usize| old.iter().filter(move |(other, _)| *other == line);
        let mut choice = Choice::Same;
        for (line, word) in new {
            if of_line(*line).next().is_none() || of_line(*line).any(|(_, other)| other == word) {
                continue;
            }
            let is_common =
                |(other, word): &&(usize, Stem)| other == line && old.contains(&(*line, *word));
            if !new.iter().any(|one| is_common(&one)) {
                return Choice::Another;
            }
            choice = Choice::Further;
        }
        choice
    }

    /// Whether both choose something, but nothing that could stand for a choice of the other.
    fn chooses_other_things(&self) -> bool {
        let (old, new) = (&self.earlier.choices, &self.later.choices);
        let same_line = |line: usize| old.iter().any(|(other, _)| *other == line);
        !old.is_empty() && !new.is_empty() && !new.iter().any(|(line, _)| same_line(*line))
    }

    fn same_verb_anywhere(&self) -> bool {
        let Self { earlier, later, .. } = self;
        earlier.clauses.iter().any(|old| later.clauses.iter().any(|new| same_verb(old, new)))
    }

    /// Whether a common noun has modifiers in both that the other does not have at all.
    fn modified_otherwise(&self) -> bool {
        let modifiers = |facts: &Facts, noun: Stem| -> Vec<Stem> {
            facts
                .phrases
                .iter()
                .filter(|(_, head)| *head == noun)
                .map(|(modifier, _)| *modifier)
                .collect()
        };
        self.shared.iter().any(|noun| {
            let (old, new) = (modifiers(self.earlier, *noun), modifiers(self.later, *noun));
            !old.is_empty()
                && !new.is_empty()
                && !old.iter().any(|word| self.later.all.contains(word))
                && !new.iter().any(|word| self.earlier.all.contains(word))
        })
    }

    /// Whether words that exclude each other, or numbers of names, tell the statements apart.
    fn is_exclusive(&self) -> bool {
        let (one, other) = (&self.earlier.all, &self.later.all);
        let apart = |line: &HashSet<Stem>| {
            let of = |all: &HashSet<Stem>| -> HashSet<Stem> {
                line.iter().copied().filter(|word| all.contains(word)).collect()
            };
            let (of_one, of_other) = (of(one), of(other));
            !of_one.is_empty() && !of_other.is_empty() && of_one.is_disjoint(&of_other)
        };
        LEXICON.exclusive.iter().any(apart) || numbered_apart(self.earlier, self.later)
    }

    /// Whether each heading has a noun that the other statement lacks.
    fn headings_differ(&self) -> bool {
        let foreign =
            |one: &Facts, other: &Facts| one.heading.iter().any(|noun| !other.all.contains(noun));
        foreign(self.earlier, self.later) && foreign(self.later, self.earlier)
    }

    /// Whether both have values, but none that could stand for one of the other.
    fn other_kinds(&self) -> bool {
        let (old, new) = (kinds(self.old, self.later), kinds(self.new, self.earlier));
        let any = |kinds: [bool; 4]| kinds.contains(&true);
        let common = old.iter().zip(new).any(|(one, other)| *one && other);
        let numbers = !self.old.values.is_empty() && !self.new.values.is_empty();
        let comparable =
            self.old.values.iter().any(|old| self.new.values.iter().any(|new| old.compares(new)));
        any(old) && any(new) && (!common || (numbers && !comparable && !(old[3] && new[3])))
    }
}

/// How much two clauses say the same.
fn likeness(old: &Clause, new: &Clause, earlier: &Facts, later: &Facts) -> f64 {
    let shared = old.nouns.iter().filter(|noun| new.nouns.contains(noun)).count() as f64;
    let verbs = f64::from(u8::from(same_verb(old, new)));
    let elsewhere = old.nouns.iter().filter(|noun| later.nouns.contains(noun)).count()
        + new.nouns.iter().filter(|noun| earlier.nouns.contains(noun)).count();
    let values = f64::from(u8::from(differ(&old.values, &new.values)));
    let names = old.names.iter().any(|name| !later.all.contains(name))
        && new.names.iter().any(|name| !earlier.all.contains(name));
    shared + 0.4 * verbs + 0.15 * elsewhere as f64 + 0.6 * values + 0.3 * f64::from(u8::from(names))
}

/// The nouns of a clause that are its subject: what one says with names of its own is its value.
fn subject(clause: &Clause, other: &Facts) -> Vec<Stem> {
    let counts = |noun: &Stem| {
        (!clause.names.contains(noun) || other.all.contains(noun))
            && !LEXICON.of_change.contains(noun)
    };
    clause.nouns.iter().copied().filter(counts).collect()
}

/// How many different nouns a statement has.
fn different(facts: &Facts) -> usize {
    facts.nouns.iter().collect::<HashSet<_>>().len()
}

fn same_verb(old: &Clause, new: &Clause) -> bool {
    old.verbs.iter().any(|verb| new.verbs.contains(verb) || new.nouns.contains(verb))
        || new.verbs.iter().any(|verb| old.nouns.contains(verb))
}

/// Whether the same is measured, with another result.
fn differ(old: &[Value], new: &[Value]) -> bool {
    old.iter().any(|old| new.iter().any(|new| old.compares(new) && old.number != new.number))
}

/// `level 1` and `level 3`.
fn numbered_apart(earlier: &Facts, later: &Facts) -> bool {
    let same_name =
        |(name, _): &(Stem, String)| later.numbered.iter().any(|(other, _)| other == name);
    earlier.numbered.iter().any(same_name)
        && !earlier.numbered.iter().any(|one| later.numbered.contains(one))
}

/// Which kinds of values a clause has: durations, times of the day, other numbers, names of its own.
fn kinds(clause: &Clause, other: &Facts) -> [bool; 4] {
    let is_duration =
        |value: &Value| value.unit.is_some_and(|unit| LEXICON.durations.contains(&unit));
    let is_clock = |value: &Value| value.number.contains(':');
    [
        clause.values.iter().any(is_duration),
        clause.values.iter().any(is_clock),
        clause.values.iter().any(|value| !is_duration(value) && !is_clock(value)),
        clause.names.iter().any(|name| !other.all.contains(name)),
    ]
}

/// The share of words that the other statement does not have.
fn missing(words: &[Stem], other: &Facts) -> f64 {
    let words: HashSet<Stem> = words.iter().copied().collect();
    let missing = words.iter().filter(|word| !other.all.contains(word)).count();
    missing as f64 / words.len().max(1) as f64
}

#[cfg(test)]
mod tests;
