//! Keys of services that are known only by their length and alphabet: one row for each service.
//!
//! A row consists of the service's name and the shapes of its keys, in the classes of
//! [`super::pattern`]: `a32` is 32 lower-case letters and digits, `U36` a UUID, `w24,26` has 24 to 26
//! characters. `name` rows are names that mean nothing else: a string of the right shape shortly after
//! one is a key. `word` rows are words of their own, so the key must be given to the name itself:
//! `box: …`, `new Box("…")`.

use std::ops::Range;

use super::allowlist;
use super::bytes::{self, ALNUM, DIGIT, LOWER, UPPER};
use super::index::{Index, Letters, Side};
use super::keys::{self, Key};
use super::lexicon;
use super::pattern;
use super::random;
use super::values;

/// The rule's name in findings.
pub(super) const RULE: &str = "service-key";

/// What else a service's name may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Nothing else.
    Name,
    /// A word of ordinary text.
    Word,
}

#[derive(Debug)]
struct Service {
    name: &'static str,
    meaning: Meaning,
    shapes: &'static [&'static str],
}

macro_rules! services {
    ($($kind:ident $name:literal: $($shape:literal)|+;)*) => {
        &[$(Service { name: $name, meaning: services!(@$kind), shapes: &[$($shape),+] }),*]
    };
    (@name) => { super::Meaning::Name };
    (@word) => { super::Meaning::Word };
}

mod a_to_e;
mod f_to_o;
mod p_to_z;
#[cfg(test)]
mod tests;

/// In alphabetical order.
const TABLES: [&[Service]; 3] = [a_to_e::TABLE, f_to_o::TABLE, p_to_z::TABLE];

const COUNT: usize = TABLES[0].len() + TABLES[1].len() + TABLES[2].len();

const NAMES: [&str; COUNT] = {
    let mut names = [""; COUNT];
    let mut n = 0;
    let mut t = 0;
    while t < TABLES.len() {
        let mut row = 0;
        while row < TABLES[t].len() {
            names[n] = TABLES[t][row].name;
            n += 1;
            row += 1;
        }
        t += 1;
    }
    names
};

static INDEX: Index<COUNT> = Index::new(&[&NAMES], Side::Start);
static LETTERS: Letters = Letters::new(&[&NAMES], Side::Start);

/// The shortest and the longest key.
pub(super) const SHORTEST: usize = 8;
const LONGEST: usize = 256;
/// The shortest name of a service that a key is joined to without a word for one.
const NAMED: usize = 6;
/// The shortest name with a key joined to it.
const JOINED: usize = 24;
/// How far back to look for the name of the service, and over how many lines.
const WINDOW: usize = 96;
const LINES: usize = 3;
/// How far back to look for words such as `key`.
const HINT: usize = 56;
/// Shorter keys must be given to the name itself, or to a word such as `key`.
const SURE: usize = 16;

/// Whether a text names a service at all; most do not.
pub(super) fn are_named(text: &[u8]) -> bool {
    // The same as asking `begins` at every place, but every byte is read once.
    let mut before = b' ';
    text.windows(3).enumerate().any(|(at, window)| {
        let first = std::mem::replace(&mut before, window[0]);
        starts_word(first, window[0])
            && LETTERS.has(window[0], window[1], window[2])
            && INDEX.at(&text[at..]).next().is_some()
    })
}

/// Whether a name may begin here: at a word, or at a hump of one.
fn begins(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
    let [a, b, c] = [text[at], text[at + 1], text[at + 2]];
    starts_word(before, a) && LETTERS.has(a, b, c)
}

#[inline]
fn starts_word(before: u8, first: u8) -> bool {
    !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && first.is_ascii_uppercase()
}

/// The key of a service in the run `start..end`.
pub(super) fn key(
    text: &[u8],
    start: usize,
    end: usize,
    seen: u8,
    are_named: impl Fn() -> bool,
) -> Option<(usize, usize)> {
    after_name(text, start, end, seen, are_named).or_else(|| joined(text, start, end))
}

/// The last service that is named shortly before `start`.
pub(super) fn of(text: &[u8], start: usize) -> Option<&'static [u8]> {
    let from = window_start(text, start);
    (from..start.saturating_sub(2)).rev().find_map(|at| {
        begins(text, at).then_some(())?;
        INDEX.at(&text[at..start]).map(|(_, name)| name).max_by_key(|name| name.len())
    })
}

/// The key at the end of a run that begins with the name of its service and the word for a key:
/// `datadog-apikey-…`. Without a known name, only hexadecimal digits are a key.
fn joined(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let run = &text[start..end];
    (JOINED..=LONGEST).contains(&run.len()).then_some(())?;
    let name = INDEX.at(run).map(|(_, name)| name).max_by_key(|name| name.len());
    let shapes = name.and_then(service).map_or(&[][..], |service| service.shapes);
    let from = name.map_or(0, <[u8]>::len);
    let separator = |(_, b): &(usize, &u8)| matches!(b, b'-' | b'_' | b'.');
    // From the end: a UUID contains four of them.
    let separators = run.iter().enumerate().skip(from).rev().filter(separator).take(6);
    let key = separators.map(|(at, _)| run.split_at(at)).find_map(|(before, key)| {
        let key = &key[1..];
        let digits = key.len() >= 32 && random::hex(key) || random::uuid(key);
        let fits = digits || shapes.iter().any(|shape| has_shape(shape, key));
        let invented = || random::typed_key(key) || random::is_drawn_out(key);
        let stated = match keys::classify(before) {
            Some(Key::Secret | Key::Token) => true,
            // `cache-key-…` ends in a hash.
            Some(Key::Weak) => !shapes.is_empty() || invented(),
            None if states_key(before) => {
                !shapes.is_empty() || invented() || !ends_in(before, b"key")
            }
            // `infuraKEYofTheShop-…`
            None if from >= NAMED && contains_key(&before[from..]) => true,
            // `fastforex-…`
            None => before.len() == from && from >= NAMED && fits && invented(),
            Some(Key::Id | Key::Password) => false,
        };
        (stated && (fits || invented())).then_some(key)
    })?;
    let random = random::mixed(key) && !values::wordy_with_number(key);
    ((random || random::typed_key(key) || random::is_drawn_out(key))
        && !allowlist::placeholder(key))
    .then_some((end - key.len(), end))
}

/// Whether the run `start..end` is a key that somebody invented, after a word for one or after a vendor:
/// `SECRET abcd1234…`.
pub(super) fn is_invented(text: &[u8], start: usize, end: usize) -> bool {
    let Some([head @ .., b' ' | b'=' | b'-']) = text.get(..start) else { return false };
    let word = bytes::run_back(head, head.len(), 16, |b| b.is_ascii_alphabetic());
    let (word, run) = (&head[head.len() - word..], &text[start..end]);
    let invented = if states_key(word) {
        random::typed_key(run) || random::is_drawn_out(run)
    } else {
        random::typed_key(run) && lexicon::hint(word).vendor
    };
    invented && !random::is_alphabet(run)
}

/// A key after the name of its service.
fn after_name(
    text: &[u8],
    start: usize,
    end: usize,
    seen: u8,
    are_named: impl Fn() -> bool,
) -> Option<(usize, usize)> {
    let run = &text[start..end];
    let mixed = seen & (UPPER | LOWER) != 0 && seen & DIGIT != 0;
    let digits = seen & (UPPER | LOWER) == 0;
    (SHORTEST..=LONGEST).contains(&run.len()).then_some(())?;
    let counted = random::counted(run) || random::typed_key(run);
    let counted = counted || !digits && are_named() && random::is_drawn_out(run);
    (mixed || counted || digits && run.len() >= SURE).then_some(())?;
    let around = (start.checked_sub(1).map(|at| text[at]), text.get(end));
    if matches!(around, (Some(b'@' | b'#' | b'$' | b'/'), _) | (_, Some(b'(' | b'@' | b'['))) {
        return None;
    }
    are_named().then_some(())?;
    let from = window_start(text, start);
    let (service, name, given) = (from..start.saturating_sub(1)).rev().find_map(|at| {
        begins(text, at).then_some(())?;
        let (_, name) = INDEX.at(&text[at..start]).max_by_key(|(_, name)| name.len())?;
        let service = service(name)?;
        let name = at..at + name.len();
        let given = is_given(&text[name.end..start]) || in_braces(text, &name, start, end);
        let meant = service.meaning == Meaning::Name || given;
        let fits = |shape: &&str| {
            has_shape(shape, run) && (mixed || counted || digits && shape.starts_with('d'))
        };
        // A key that somebody invented has any number of characters.
        let invented = counted && run.len() >= SURE;
        (meant && (invented || service.shapes.iter().any(fits))).then_some((service, name, given))
    })?;
    let hint = lexicon::hint(&text[from.max(start.saturating_sub(HINT))..start]);
    // The name itself says nothing about hashes and ids: BRAINTREE, PLAID.
    let after = lexicon::hint(&text[name.end..start]);
    let hash = after.hash || lexicon::hint(&text[from..name.start]).hash;
    let stated = given || hint.secret;
    let sure = service.meaning == Meaning::Name;
    let hex = random::hex(run) || random::uuid(run);
    // Nothing but an example counts, and after a name that means nothing else it is an example of a key.
    let typed = sure && random::typed_key(run);
    let commit = run.len() == 40 && hex && !typed && is_checksum(text, start, given);
    let other = hash
        || after.id && hex && !hint.secret
        || commit && !hint.secret
        || hex && !stated && !typed
        || run.len() < SURE && !(stated && sure)
        || allowlist::placeholder(run)
        || allowlist::public(run)
        || values::wordy_with_number(run) && !counted
        || (counted || digits) && !stated && !typed;
    (!other && (hex || counted || digits || random::efficiency(run) < 3.0))
        .then(|| (start, end + bytes::run(text, end, 2, |b| b == b'=')))
}

/// Whether 40 hexadecimal digits are a commit or a checksum: after white space, unless they are given
/// to a name. Lock files give them to packages: `  Name: …`.
fn is_checksum(text: &[u8], start: usize, given: bool) -> bool {
    let spaced = start == 0 || text[start - 1].is_ascii_whitespace();
    let line = &text[bytes::line_start(text, start, WINDOW)..start];
    let locked = matches!(line, [b' ', b' ', first, .., b':', b' '] if *first != b' ')
        && !line.iter().any(|b| matches!(b, b'=' | b'"'));
    spaced && (!given || locked)
}

fn service(name: &[u8]) -> Option<&'static Service> {
    TABLES.iter().find_map(|table| {
        let row = table.binary_search_by(|row| row.name.as_bytes().cmp(name)).ok()?;
        table.get(row)
    })
}

/// The start of the text that may name the service: a few lines at most.
fn window_start(text: &[u8], start: usize) -> usize {
    let far = start.saturating_sub(WINDOW);
    let breaks = (far..start).rev().filter(|at| text[*at] == b'\n').nth(LINES - 1);
    breaks.map_or(far, |at| at + 1)
}

/// Whether what stands between a name and a string gives the string to the name: `_api = "`,
/// `Client('`, `: `.
fn is_given(between: &[u8]) -> bool {
    let operator = |b: &u8| {
        matches!(b, b' ' | b'\t' | b'=' | b':' | b'"' | b'\'' | b'(' | b'>' | b'{' | b'`' | b'\\')
    };
    let len = between.iter().rev().take_while(|b| operator(b)).count();
    let (rest, operators) = between.split_at(between.len() - len);
    let assigned = operators.iter().any(|b| matches!(b, b'=' | b':' | b'(' | b'>' | b'"' | b'\''));
    let words = rest.iter().filter(|b| **b == b' ').count();
    (assigned || states_key(rest))
        && len <= 8
        && rest.len() <= 24
        && words <= 2
        && rest
            .iter()
            .all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.') || operator(b))
}

/// `{wepay …}`: how some servers store a key.
fn in_braces(text: &[u8], name: &Range<usize>, start: usize, end: usize) -> bool {
    let between = &text[name.end..start];
    name.start > 0
        && text[name.start - 1] == b'{'
        && text.get(end) == Some(&b'}')
        && between.len() <= 12
        && between.ends_with(b" ")
}

/// Whether a word for a key in capitals is a part of a name.
fn contains_key(name: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"KEY", b"SECRET", b"TOKEN", b"PRIVATE", b"ACCESS"];
    WORDS.iter().any(|word| name.windows(word.len()).any(|w| w == *word))
}

/// Whether a name ends in a word for a key.
fn states_key(name: &[u8]) -> bool {
    matches!(keys::classify(name), Some(Key::Secret | Key::Token))
        || [&b"key"[..], b"access", b"private"].into_iter().any(|word| ends_in(name, word))
}

fn ends_in(name: &[u8], word: &[u8]) -> bool {
    let at = name.len().checked_sub(word.len());
    at.is_some_and(|at| name[at..].eq_ignore_ascii_case(word))
}

/// Whether a string has exactly this shape.
fn has_shape(shape: &str, s: &[u8]) -> bool {
    let Some((class, len)) = shape.as_bytes().split_first() else {
        return false;
    };
    let mut bounds = len.split(|b| *b == b',').map(number);
    let least = bounds.next().unwrap_or(0);
    let most = bounds.next().unwrap_or(least);
    (least..=most).contains(&s.len())
        && match class {
            b'U' => is_grouped(s),
            _ => s.iter().all(|b| pattern::class_has(*class, *b)),
        }
}

/// The groups of a UUID; some services use letters other than hexadecimal ones.
fn is_grouped(s: &[u8]) -> bool {
    s.iter().enumerate().all(|(i, b)| match i {
        8 | 13 | 18 | 23 => *b == b'-',
        _ => bytes::is(*b, ALNUM),
    })
}

fn number(digits: &[u8]) -> usize {
    digits.iter().fold(0, |n, d| n * 10 + usize::from(d.wrapping_sub(b'0')))
}
