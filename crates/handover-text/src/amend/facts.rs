//! What a statement says, as far as words tell: its nouns, verbs and names by clause, its values, and what it says
//! about a change.

use std::borrow::Cow;

use foldhash::HashSet;

use super::lexicon::{self, LEXICON, NUMBERS, UNITS};
use super::{Stem, hash, stem_of};

/// No single statement is longer.
const MAX_BYTES: usize = 1_600;

/// So many words are read first.
const FIRST_WORDS: usize = 48;

/// A statement has at most so many nouns.
const MAX_NOUNS: usize = 20;

/// No prefix of a commit's subject is longer.
const MAX_PREFIX: usize = 40;
const PREFIX_WORDS: usize = 3;

/// How many nouns before and after words of change are what it is about.
const ABOUT: usize = 3;

/// A number with its unit, and the noun before it if it has none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) number: String,
    pub(super) unit: Option<Stem>,
    before: Option<Stem>,
}

impl Value {
    /// Whether both measure the same.
    pub(super) fn compares(&self, other: &Self) -> bool {
        match (self.unit, other.unit) {
            (Some(one), Some(two)) => one == two,
            (None, None) => self.before.is_some() && self.before == other.before,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// A part of a sentence that says one thing.
#[derive(Debug, Default)]
pub(super) struct Clause {
    /// In order.
    pub(super) nouns: Vec<Stem>,
    pub(super) verbs: Vec<Stem>,
    pub(super) names: HashSet<Stem>,
    pub(super) values: Vec<Value>,
    pub(super) denies: bool,
}

/// What a change is about: the nouns, names and numbers around the words that announce it.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) words: HashSet<Stem>,
    pub(super) numbers: HashSet<String>,
}

/// What a statement says.
#[derive(Debug, Default)]
pub struct Facts {
    pub(super) clauses: Vec<Clause>,
    /// In order, with those of the heading.
    pub(super) nouns: Vec<Stem>,
    pub(super) names: HashSet<Stem>,
    pub(super) values: Vec<Value>,
    /// Nouns, verbs and names.
    pub(super) all: HashSet<Stem>,
    /// The nouns of its heading, without names and words of change.
    pub(super) heading: Vec<Stem>,
    /// Words that follow each other.
    pub(super) phrases: Vec<(Stem, Stem)>,
    /// Such as `level 1`.
    pub(super) numbered: Vec<(Stem, String)>,
    pub(super) changes: Vec<About>,
    /// The words of a line of choices, with the line.
    pub(super) choices: Vec<(usize, Stem)>,
    /// How the heading starts, if as that of a commit: `git: …`, `fix(core): …`.
    pub(super) prefix: Option<Stem>,
    /// It starts with a verb that reports work: `Add …`, `Fix …`.
    pub(super) work: Option<Stem>,
    /// It names an issue: `#12`.
    pub(super) names_issue: bool,
    /// It says too much for one statement; the rest of it was not read.
    pub(super) long: bool,
}

/// A word of the text with what stands before it.
struct Token<'t> {
    text: &'t str,
    lower: String,
    /// Punctuation stands before it.
    parted: bool,
    /// It starts a sentence, so that a capital means nothing.
    starts: bool,
    clause: usize,
    sentence: usize,
}

impl Facts {
    /// Reads a statement; the heading may be empty.
    pub fn of(heading: &str, text: &str) -> Self {
        if heading.len() + text.len() > MAX_BYTES {
            return Self { long: true, ..Self::default() };
        }
        let heading = heading.trim().trim_start_matches('#').trim_start();
        let repeated = text.trim_start_matches(['#', ' ', '\n']).starts_with(heading);
        let whole = match heading {
            "" => Cow::Borrowed(text),
            _ if repeated => Cow::Borrowed(text.trim_start_matches(['#', ' ', '\n'])),
            _ => Cow::Owned(format!("{heading}\n{text}")),
        };
        // Most notes say too much for one statement, and their first words tell.
        let facts = match Self::read(&whole, heading.len(), FIRST_WORDS) {
            (facts, true) => facts,
            (facts, false) if facts.long => facts,
            (_, false) => Self::read(&whole, heading.len(), usize::MAX).0,
        };
        if facts.long {
            return facts;
        }
        let prefix = prefix(&whole);
        Self {
            prefix: (prefix > 0 && prefix < heading.len()).then(|| hash(&whole[..prefix])),
            work: work(&whole[prefix..]),
            names_issue: names_issue(&whole),
            ..facts
        }
    }

    /// Reads so many words of a text; whether that were all.
    fn read(whole: &str, heading: usize, words: usize) -> (Self, bool) {
        let (tokens, all) = tokens(whole, words);
        let mut reader = Reader { facts: Self::default(), whole };
        reader.read(&tokens, heading);
        if !reader.facts.long {
            reader.find_changes(&tokens);
        }
        (reader.facts, all)
    }
}

impl Facts {
    /// Whether it is one statement; what says many things is not, and words do not tell which of them changed.
    pub fn is_statement(&self) -> bool {
        !self.long
    }
}

/// How much of a text is the prefix of a commit's subject.
fn prefix(text: &str) -> usize {
    let end = text.find(": ").filter(|end| *end <= MAX_PREFIX && !text[..*end].contains('\n'));
    end.filter(|end| text[..*end].split(' ').count() <= PREFIX_WORDS).map_or(0, |end| end + 2)
}

/// The verb at the beginning of a text, if it reports work.
fn work(text: &str) -> Option<Stem> {
    let word = text.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    Some(stem_of(&word.to_lowercase())).filter(|stem| LEXICON.work.contains(stem))
}

fn names_issue(text: &str) -> bool {
    text.match_indices('#').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}

struct Reader<'t> {
    facts: Facts,
    whole: &'t str,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[Token<'_>], heading: usize) {
        let clauses = tokens.last().map_or(0, |token| token.clause + 1);
        self.facts.clauses = (0..clauses).map(|_| Clause::default()).collect();
        let start = self.whole.as_ptr() as usize;
        let (mut last, mut different): (Option<Stem>, _) = (None, 0);
        self.facts.all.reserve(tokens.len());
        for (at, token) in tokens.iter().enumerate() {
            let previous = at.checked_sub(1).map_or("", |at| tokens[at].lower.as_str());
            let clause = &mut self.facts.clauses[token.clause];
            clause.denies |= lexicon::denies(&token.lower);
            if let Some(value) = self.value(tokens, at) {
                if lexicon::NUMBERED.binary_search(&previous).is_ok() {
                    let name = stem_of(previous);
                    self.facts.numbered.push((name, value.number));
                } else {
                    self.facts.clauses[token.clause].values.push(value.clone());
                    self.facts.values.push(value);
                }
                last = None;
                if token.text.starts_with(|c: char| c.is_ascii_digit()) {
                    continue;
                }
            }
            let in_heading = (token.text.as_ptr() as usize).saturating_sub(start) < heading;
            let name = is_name(token);
            for part in token.lower.split(joins) {
                if part.is_empty() || part.bytes().all(|b| b.is_ascii_digit()) {
                    continue;
                }
                let stem = stem_of(part);
                if LEXICON.general.contains(&stem) {
                    continue;
                }
                if name && part == token.lower {
                    for inner in humps(token.text) {
                        let inner = stem_of(&inner.to_lowercase());
                        self.facts.all.insert(inner);
                    }
                }
                let verb =
                    !name && LEXICON.verbs.contains(&stem) && stands_as_verb(token, part, previous);
                if self.facts.all.insert(stem) {
                    let lines = LEXICON.choices.get(&stem);
                    self.facts
                        .choices
                        .extend(lines.into_iter().flatten().map(|line| (*line, stem)));
                }
                if let Some(before) = last.filter(|before| !token.parted && *before != stem) {
                    self.facts.phrases.push((before, stem));
                }
                last = (!verb).then_some(stem);
                let clause = &mut self.facts.clauses[token.clause];
                if verb {
                    clause.verbs.push(stem);
                    continue;
                }
                clause.nouns.push(stem);
                // There are too few for a set.
                different += usize::from(!self.facts.nouns.contains(&stem));
                self.facts.nouns.push(stem);
                if different > MAX_NOUNS {
                    self.facts.long = true;
                    return;
                }
                if name {
                    clause.names.insert(stem);
                    self.facts.names.insert(stem);
                } else if in_heading && !LEXICON.of_change.contains(&stem) {
                    self.facts.heading.push(stem);
                }
            }
        }
    }

    /// The value that a token is, with the unit after it.
    fn value(&self, tokens: &[Token<'_>], at: usize) -> Option<Value> {
        let word = tokens[at].lower.as_str();
        let unit_of = |word: &str| {
            let long =
                UNITS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| *long);
            stem_of(long)
        };
        if matches!(word, "hourly" | "daily" | "nightly" | "weekly" | "monthly") {
            return Some(Value {
                number: word.to_owned(),
                unit: Some(unit_of(word)),
                before: None,
            });
        }
        let in_words = NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
        let (number, mut unit) = match in_words {
            Some(number) => (number.to_owned(), None),
            None if word.starts_with(|c: char| c.is_ascii_digit()) => {
                let end =
                    word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ':' | ',')));
                let (number, rest) = word.split_at(end.unwrap_or(word.len()));
                let is_unit =
                    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c == '%');
                match is_unit {
                    true => (number.to_owned(), Some(unit_of(rest))),
                    false => (word.to_owned(), None),
                }
            }
            None => return None,
        };
        let next = tokens.get(at + 1).filter(|next| !next.parted).map(|next| next.lower.as_str());
        if unit.is_none() {
            let next = next.filter(|next| !is_filler(next));
            unit = next.map(unit_of);
        }
        if word == "one" && unit.is_none() {
            return None;
        }
        let before = tokens[..at].iter().rev().take(4).map(|token| stem_of(&token.lower));
        let before = before.into_iter().find(|stem| !LEXICON.general.contains(stem));
        Some(Value { number, unit, before })
    }

    /// Finds words of change, and what stands around them in their sentence.
    fn find_changes(&mut self, tokens: &[Token<'_>]) {
        let words: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        let mut at = 0;
        while at < words.len() {
            let sentence = tokens[at].sentence;
            let end =
                at + tokens[at..].iter().take_while(|token| token.sentence == sentence).count();
            let length = LEXICON.change(&words[at..end]);
            if length == 0 {
                at += 1;
                continue;
            }
            let start = tokens[..at].iter().rposition(|token| token.sentence != sentence);
            let start = start.map_or(0, |before| before + 1);
            let mut about = About::default();
            self.add_around(tokens[start..at].iter().rev(), &mut about);
            self.add_around(tokens[at + length..end].iter(), &mut about);
            self.facts.changes.push(about);
            at += length;
        }
    }

    fn add_around<'a, 't: 'a>(
        &self,
        tokens: impl Iterator<Item = &'a Token<'t>>,
        about: &mut About,
    ) {
        let mut nouns = 0;
        for token in tokens {
            if token.lower.starts_with(|c: char| c.is_ascii_digit()) {
                about
                    .numbers
                    .insert(token.lower.trim_end_matches(|c: char| c.is_alphabetic()).to_owned());
                continue;
            }
            if let Some((_, number)) = NUMBERS.iter().find(|(name, _)| *name == token.lower) {
                about.numbers.insert((*number).to_owned());
            }
            for part in token.lower.split(['-', '.', '/', ':', '_']) {
                let stem = stem_of(part);
                let noun = self.facts.nouns.contains(&stem);
                if noun && (nouns < ABOUT || self.facts.names.contains(&stem)) {
                    nouns += 1;
                    about.words.insert(stem);
                }
            }
        }
    }
}

/// Whether words are joined by a character.
fn joins(c: char) -> bool {
    matches!(c, '-' | '.' | '/' | ':' | '_' | '<' | '>' | '@' | '+')
}

/// The words of a name such as `DeviceRegistry`.
fn humps(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, c) in name.char_indices() {
        if before.is_lowercase() && c.is_uppercase() {
            words.push(&name[start..at]);
            start = at;
        }
        before = c;
    }
    if start > 0 {
        words.push(&name[start..]);
    }
    words
}

/// Words that stand between a number and what it counts.
fn is_filler(word: &str) -> bool {
    const FILLERS: &[&str] = &[
        "and", "are", "as", "for", "from", "in", "is", "more", "of", "on", "or", "per", "the",
        "times", "to", "with",
    ];
    FILLERS.contains(&word)
}

/// Names are written with capitals, digits, or as code.
fn is_name(token: &Token<'_>) -> bool {
    let text = token.text;
    let mut before = ' ';
    let mixed = text.chars().any(|c| {
        let mixed = (before.is_ascii_lowercase() && c.is_ascii_uppercase())
            || (before.is_ascii_alphabetic() && c.is_ascii_digit())
            || (before.is_ascii_digit() && c.is_ascii_alphabetic())
            || (before.is_ascii_uppercase() && c.is_ascii_uppercase())
            || matches!(c, '_' | '/')
            || (before == '.' && c.is_ascii_lowercase());
        before = c;
        mixed
    });
    mixed || (text.starts_with(char::is_uppercase) && !token.starts)
}

fn stands_as_verb(token: &Token<'_>, part: &str, previous: &str) -> bool {
    let ending = part.len() > 4 && (part.ends_with("ed") || part.ends_with("ing"));
    let allowed = lexicon::precedes_verb(previous);
    if part.ends_with('s') && !token.parted && !allowed {
        return false;
    }
    token.parted || allowed || ending
}

/// The first words of a text, and whether they are all.
fn tokens(text: &str, most: usize) -> (Vec<Token<'_>>, bool) {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let (mut clause, mut sentence) = (0, 0);
    let (mut from, mut end) = (0, 0);
    while let Some(found) = text[from..].find(is_start) {
        if tokens.len() == most {
            return (tokens, false);
        }
        let start = from + found;
        let rest = &text[start..];
        let length = rest.find(|c: char| !is_inner(c)).unwrap_or(rest.len());
        let word = rest[..length]
            .trim_end_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '>' | '%')));
        let word = if word.is_empty() {
            &rest[..rest.chars().next().map_or(1, char::len_utf8)]
        } else {
            word
        };
        let gap = &text[end..start];
        let first = tokens.is_empty();
        let lower = word.to_lowercase();
        // Between most words is a space.
        let apart = gap != " ";
        let has = |characters: &[char]| apart && gap.contains(characters);
        let ends_sentence = has(&['.', '!', '?', '\n', ';']) || (apart && gap.contains(": "));
        let ends_clause = ends_sentence
            || has(&['(', ')', '–'])
            || (apart && gap.contains(" - "))
            || is_reason(&lower)
            || (has(&[',']) && starts_clause(&lower));
        if !first {
            sentence += usize::from(ends_sentence);
            clause += usize::from(ends_clause);
        }
        tokens.push(Token {
            text: word,
            lower,
            parted: first || has(&['.', '!', '?', ':', ';', ',', '\n', '(', ')']),
            starts: first || ends_clause || has(&['.', '!', '?', ':', '\n']),
            clause,
            sentence,
        });
        end = start + word.len();
        from = end;
    }
    (tokens, true)
}

fn is_start(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '<')
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '<' | '>' | '@' | '+' | ':' | '-' | '%')
}

fn is_reason(word: &str) -> bool {
    matches!(word, "because" | "since" | "otherwise" | "due")
}

/// Whether a word after a comma starts a clause.
fn starts_clause(word: &str) -> bool {
    const STARTS: &[&str] = &[
        "a", "and", "as", "but", "it", "its", "nobody", "not", "nothing", "one", "our", "people",
        "so", "that", "the", "they", "we",
    ];
    STARTS.contains(&word)
}
