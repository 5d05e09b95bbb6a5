//! Whether a later statement replaces an earlier one: a rule over subject and contradiction.
//!
//! Both are split into clauses, and the two that say most of the same are compared. What speaks for one subject is
//! counted (common nouns, the same topic), and so is what speaks against it (other topics, headings, modifiers, and
//! words that exclude each other). To replace the earlier one, the later one must name what it changes or give another
//! value of the same unit: in real conversations, whatever else sounds like a change is mostly a later remark about
//! the same thing, and is found as that. The weights were fitted on statements written for it (`xtask/data/amended-development`); in doubt, nothing is
//! replaced. Who said what, and when, callers know.

mod facts;
mod lexicon;

use std::sync::LazyLock;

use foldhash::HashSet;

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
    /// How sure it is; above 0.
    pub score: f64,
}

/// FNV-1a: short words, and nobody chooses them to collide. Words that mean the same are one.
fn stem_of(word: &str) -> Stem {
    let mut stem = word.to_owned();
    if stem.is_ascii() {
        crate::stem::stem(&mut stem);
    }
    let same = synonyms::of(&stem).iter().map(String::as_str);
    let stem = same.fold(stem.as_str(), |one, other| one.min(other));
    stem.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The names of the features, in the order of their weights.
pub const FEATURES: [&str; 19] = [
    "shared in the text",
    "words that exclude each other",
    "heading about something else",
    "values of other kinds",
    "topic of the later",
    "earlier words missing",
    "topics differ",
    "modifiers differ",
    "shared in the clause",
    "change about something else",
    "same verb",
    "first noun",
    "other value",
    "change and shared",
    "old value named",
    "denial and shared",
    "change about it",
    "later words missing",
    "both headings about something else",
];

const WEIGHTS: [f64; 19] = [
    1.35, -0.81, -0.37, -0.64, 0.94, -0.69, -0.78, -0.52, 0.6, -0.34, 0.62, 0.5, 0.4, 0.47, 0.3,
    0.33, 0.29, 0.03, -0.6,
];

/// What a pair of statements must exceed.
const THRESHOLD: f64 = 1.3;

/// The same for two statements that are about one subject, and for those that need not have a share of common nouns.
const SAME_SUBJECT: f64 = 0.9;
const SURELY_SAME: f64 = 2.0;

/// The share of common nouns that a replacement needs.
const COMMON: f64 = 0.3;
const COMMON_SUBJECT: f64 = 0.2;
const SHARED_SUBJECT: usize = 2;

/// The most common nouns that count.
const MOST_SHARED: usize = 5;
const MOST_SHARED_IN_CLAUSE: usize = 3;

/// Makes the words of the rule ready for use, which the first statement would wait for.
pub fn prepare() {
    LazyLock::force(&LEXICON);
}

/// The replacement of one statement by a later one, if the rule finds it.
pub fn replacement(earlier: &Facts, later: &Facts) -> Option<Replacement> {
    if !earlier.is_statement() || !later.is_statement() {
        return None;
    }
    let pair = Pair::of(earlier, later)?;
    if pair.exclusive() > 0 {
        return None;
    }
    let score = pair.score();
    match pair.how() {
        Some(how) if score > THRESHOLD && pair.common() >= COMMON => {
            Some(Replacement { how, score })
        }
        // What adds no word of its own stands for nothing.
        _ if later.all.is_subset(&earlier.all) => None,
        _ => (score > SURELY_SAME || score > SAME_SUBJECT && pair.has_common_subject())
            .then_some(Replacement { how: AmendedHow::SameSubject, score }),
    }
}

/// The features of a pair of statements, for measuring.
pub fn features(earlier: &Facts, later: &Facts) -> [f64; 19] {
    Pair::of(earlier, later).map_or([0.0; 19], |pair| pair.features())
}

/// Two statements, and the two clauses that say most of the same.
struct Pair<'f> {
    earlier: &'f Facts,
    later: &'f Facts,
    old: &'f Clause,
    new: &'f Clause,
    /// Common nouns of the statements.
    shared: HashSet<Stem>,
    /// The change is about something in the earlier statement; about one of its names or numbers.
    about_it: bool,
    names_old: bool,
    other_value: bool,
}

impl<'f> Pair<'f> {
    fn of(earlier: &'f Facts, later: &'f Facts) -> Option<Self> {
        let nouns: HashSet<Stem> = earlier.nouns.iter().copied().collect();
        let shared: HashSet<Stem> =
            later.nouns.iter().copied().filter(|noun| nouns.contains(noun)).collect();
        let of_later: HashSet<Stem> = later.nouns.iter().copied().collect();
        let mut best: Option<(f64, &Clause, &Clause)> = None;
        for old in &earlier.clauses {
            for new in &later.clauses {
                let likeness = likeness(old, new, &nouns, &of_later, earlier, later);
                if best.is_none_or(|(most, ..)| likeness > most) {
                    best = Some((likeness, old, new));
                }
            }
        }
        let (_, old, new) = best?;
        let about_it = later
            .changes
            .iter()
            .any(|about| about.words.iter().any(|word| earlier.all.contains(word)));
        let names_old = later.changes.iter().any(|about| {
            about.words.iter().any(|word| earlier.names.contains(word))
                || earlier.values.iter().any(|value| about.numbers.contains(&value.number))
        });
        let other_value = differ(&old.values, &new.values) && !numbered_apart(earlier, later);
        Some(Self { earlier, later, old, new, shared, about_it, names_old, other_value })
    }

    fn score(&self) -> f64 {
        self.features().iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum::<f64>()
    }

    fn features(&self) -> [f64; 19] {
        let Self { earlier, later, old, new, shared, .. } = self;
        let yes = |yes: bool| f64::from(u8::from(yes));
        let of_shared = shared.len().min(MOST_SHARED) as f64 / MOST_SHARED as f64;
        let new_nouns: HashSet<Stem> = new.nouns.iter().copied().collect();
        let in_clause: HashSet<Stem> =
            old.nouns.iter().copied().filter(|noun| new_nouns.contains(noun)).collect();
        let in_clause =
            in_clause.len().min(MOST_SHARED_IN_CLAUSE) as f64 / MOST_SHARED_IN_CLAUSE as f64;
        // What one says with names of its own is its value, not its subject.
        let subject = |clause: &Clause, other: &Facts| -> Vec<Stem> {
            let counts = |noun: &Stem| {
                (!clause.names.contains(noun) || other.all.contains(noun))
                    && !LEXICON.of_change.contains(noun)
            };
            clause.nouns.iter().copied().filter(counts).collect()
        };
        let (of_old, of_new) = (subject(old, later), subject(new, earlier));
        let topic =
            |subject: &[Stem], other: &Facts| subject.first().map(|noun| other.all.contains(noun));
        let (old_topic, new_topic) = (topic(&of_old, later), topic(&of_new, earlier));
        let first = later.nouns.iter().find(|noun| !LEXICON.of_change.contains(noun));
        let changes = !later.changes.is_empty();
        let with_changes = later.changes.iter().any(|about| !about.words.is_empty());
        [
            of_shared,
            self.exclusive().min(2) as f64,
            yes(!earlier.heading.is_empty()
                && later.heading.iter().any(|noun| !earlier.all.contains(noun))),
            yes(self.other_kinds()),
            yes(new_topic == Some(true)),
            missing(&of_old, later),
            yes(old_topic == Some(false) && new_topic == Some(false)),
            yes(self.modified_otherwise()),
            in_clause,
            yes(with_changes && !self.about_it),
            yes(same_verb(old, new)),
            yes(first.is_some_and(|noun| earlier.all.contains(noun))),
            yes(self.other_value),
            yes(changes) * of_shared,
            yes(self.names_old),
            yes(old.denies != new.denies) * of_shared,
            yes(self.about_it) * of_shared,
            missing(&of_new, earlier),
            yes(self.headings_differ()),
        ]
    }

    /// The share of the shorter statement's nouns that the other has, too.
    fn common(&self) -> f64 {
        let count = |facts: &Facts| facts.nouns.iter().collect::<HashSet<_>>().len();
        let least = count(self.earlier).min(count(self.later)).max(1);
        self.shared.len() as f64 / least as f64
    }

    /// Whether the statements have nouns enough in common to be about one subject.
    fn has_common_subject(&self) -> bool {
        self.shared.len() >= SHARED_SUBJECT && self.common() >= COMMON_SUBJECT
    }

    /// How many lines of words that exclude each other tell the statements apart.
    fn exclusive(&self) -> usize {
        let (one, other) = (&self.earlier.all, &self.later.all);
        let apart = |line: &&HashSet<Stem>| {
            let of_one: HashSet<&Stem> = line.iter().filter(|word| one.contains(word)).collect();
            let of_other: HashSet<&Stem> =
                line.iter().filter(|word| other.contains(word)).collect();
            !of_one.is_empty() && !of_other.is_empty() && of_one.is_disjoint(&of_other)
        };
        LEXICON.exclusive.iter().filter(apart).count()
            + usize::from(numbered_apart(self.earlier, self.later))
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

    /// What says that both cannot hold.
    fn how(&self) -> Option<AmendedHow> {
        if self.names_old {
            Some(AmendedHow::NamesOld)
        } else {
            self.other_value.then_some(AmendedHow::OtherValue)
        }
    }
}

/// How much two clauses say the same.
fn likeness(
    old: &Clause,
    new: &Clause,
    nouns: &HashSet<Stem>,
    of_later: &HashSet<Stem>,
    earlier: &Facts,
    later: &Facts,
) -> f64 {
    let shared = old.nouns.iter().filter(|noun| new.nouns.contains(noun)).count() as f64;
    let verbs = f64::from(u8::from(same_verb(old, new)));
    let elsewhere = old.nouns.iter().filter(|noun| of_later.contains(noun)).count()
        + new.nouns.iter().filter(|noun| nouns.contains(noun)).count();
    let values = f64::from(u8::from(differ(&old.values, &new.values)));
    let names = old.names.iter().any(|name| !later.all.contains(name))
        && new.names.iter().any(|name| !earlier.all.contains(name));
    shared + 0.4 * verbs + 0.15 * elsewhere as f64 + 0.6 * values + 0.3 * f64::from(u8::from(names))
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
