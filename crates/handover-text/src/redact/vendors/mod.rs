//! Vendors' token formats: one row each, in the tables next to this file.
//!
//! A row consists of the rule's name, its patterns (see [`super::pattern`]), a text with a token and a
//! text without. In examples, `(a1B2)36` means `a1B2` repeated to 36 bytes, so that the tables contain
//! nothing that looks like a real key.
//!
//! The patterns are indexed by their first three bytes at compile time: at the start of each word the
//! scan consults a bitmap, and a new process has nothing to initialise.

use super::bytes;
use super::index;
use super::keys;
use super::pattern::Pattern;
use super::random;

/// One vendor's format.
#[derive(Debug)]
pub(super) struct Vendor {
    /// The rule's name in findings.
    pub(super) name: &'static str,
    /// The patterns of the vendor's tokens.
    patterns: &'static [&'static str],
    /// A text with a token.
    #[cfg(test)]
    yes: &'static str,
    /// A text without a token.
    #[cfg(test)]
    no: &'static str,
}

macro_rules! vendors {
    ($($name:literal: $($pattern:literal)|+, yes $yes:literal, no $no:literal;)*) => {
        &[$(Vendor {
            name: $name,
            patterns: &[$($pattern),+],
            #[cfg(test)]
            yes: $yes,
            #[cfg(test)]
            no: $no,
        }),*]
    };
}

mod ai;
mod business;
mod cloud;
mod code;
mod data;
mod hooks;
mod talk;

const TABLES: [&[Vendor]; 7] =
    [ai::TABLE, business::TABLE, cloud::TABLE, code::TABLE, data::TABLE, hooks::TABLE, talk::TABLE];

/// A token found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// The name of the rule that matched.
    pub(super) rule: &'static str,
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset one past the last byte.
    pub(super) end: usize,
}

/// Whether a token may start at `at`: cheap, and false for nearly every word.
#[inline]
pub(super) fn may_start(text: &[u8], at: usize) -> bool {
    let (a, b, c) = match *text.get(at..).unwrap_or_default() {
        [a, b, c, ..] => (a, b, c),
        [a, b] => (a, b, 0),
        [_] | [] => return false,
    };
    let slot = slot(a, b, c);
    INDEX.filter[slot >> 6] >> (slot & 63) & 1 == 1
}

/// The longest token that starts at `at`.
pub(super) fn token_at(text: &[u8], at: usize) -> Option<Token> {
    let word = word(text.get(at..)?);
    let slot = index::slot(word[0], word[1]);
    let word = u32::from_le_bytes(word);
    let group = usize::from(INDEX.starts[slot])..usize::from(INDEX.starts[slot + 1]);
    let mut best: Option<(usize, Token)> = None;
    for head in INDEX.heads[group].iter().filter(|h| word & h.mask == h.word) {
        let vendor = &TABLES[usize::from(head.table)][usize::from(head.vendor)];
        let pattern = Pattern::new(vendor.patterns[usize::from(head.pattern)]);
        let literal = pattern.literal().len();
        let Some(end) = pattern.matches(text, at) else {
            continue;
        };
        if ends_public_name(text, at, pattern.literal()) {
            continue;
        }
        // In the middle of base64, a short prefix occurs by chance.
        let plain = literal <= 4 && pattern.literal().bytes().all(|b| b.is_ascii_alphanumeric());
        if plain && in_base64(text, at) {
            continue;
        }
        if pattern.random {
            // A weak prefix only counts at the start of a string, and the body must look random.
            // Base64 has no underscore, so a prefix with one may follow a slash.
            let path = pattern.literal().contains('_') && at > 0 && text[at - 1] == b'/';
            let inside = at > 0 && bytes::is(text[at - 1], bytes::RUN) && !path;
            let body = &text[at + literal..end];
            let random = random::efficiency(body) < random::RANDOM
                || random::mixed(body) && random::scattered(body);
            if inside || !random {
                continue;
            }
        }
        let Some((start, end)) = pattern.extend(text, at, end) else {
            continue;
        };
        if monotonous(text.get(at + literal..end).unwrap_or_default()) {
            continue;
        }
        // Of equally long tokens, the one with the longer literal is more specific.
        if best.is_none_or(|(known, b)| (end, literal) > (b.end, known)) {
            let rule = vendor.name;
            best = Some((literal, Token { rule, start, end }));
        }
    }
    best.map(|(_, token)| token)
}

/// `cache-key-…`: the prefix `key-` is the end of a name whose values are public.
fn ends_public_name(text: &[u8], at: usize, literal: &str) -> bool {
    let Some(key) = literal.strip_suffix('-').filter(|word| *word == "key") else { return false };
    let before =
        bytes::run_back(text, at, 24, |b| bytes::is(b, bytes::ALNUM) || matches!(b, b'-' | b'_'));
    before > 0 && keys::classify(&text[at - before..at + key.len()]).is_none()
}

/// Whether `at` follows a `+` or `/` after a long stretch of base64.
fn in_base64(text: &[u8], at: usize) -> bool {
    let joined = at > 0 && bytes::is(text[at - 1], bytes::SLASH);
    joined && bytes::run_back(text, at, 48, |b| bytes::is(b, bytes::ALNUM | bytes::SLASH)) == 48
}

/// The first four bytes of a text, or as many as there are.
fn word(text: &[u8]) -> [u8; 4] {
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(text) {
        *to = *from;
    }
    word
}

/// `xxxxxxxx`, `0000-0000` and similar placeholders. Other repeated letters, as in tests, are hidden.
fn monotonous(body: &[u8]) -> bool {
    let mask = |b: &u8| matches!(b, b'x' | b'X' | b'0' | b'*' | b'.' | b'#');
    if !body.iter().take(64).any(mask) {
        return false;
    }
    let mut kinds = [0u8; 2];
    let mut known = 0;
    body.len() > 4
        && body.iter().take(64).all(|b| {
            if kinds[..known].contains(b) {
                return true;
            }
            if known == kinds.len() {
                return false;
            }
            kinds[known] = *b;
            known += 1;
            true
        })
}

/// One pattern of one vendor.
#[derive(Clone, Copy)]
struct Head {
    table: u8,
    vendor: u8,
    pattern: u8,
    /// The first bytes of its literal, at most four, and the mask of those that count.
    word: u32,
    mask: u32,
}

struct Index {
    /// Which hashes of three bytes start a pattern.
    filter: [u64; 1024],
    /// Where the patterns with given first two bytes begin in `heads`.
    starts: [u16; 1025],
    heads: [Head; COUNT],
}

static INDEX: Index = build();

const COUNT: usize = count();

const fn slot(a: u8, b: u8, c: u8) -> usize {
    let word = a as u32 | (b as u32) << 8 | (c as u32) << 16;
    (word.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

const fn count() -> usize {
    let mut n = 0;
    let mut t = 0;
    while t < TABLES.len() {
        let mut v = 0;
        while v < TABLES[t].len() {
            n += TABLES[t][v].patterns.len();
            v += 1;
        }
        t += 1;
    }
    n
}

/// The start of a pattern's literal: after `<36<`, if present.
const fn literal_start(pattern: &[u8]) -> usize {
    let mut i = 0;
    if pattern[0] == b'<' {
        i = 1;
        while pattern[i] != b'<' {
            i += 1;
        }
        i += 1;
    }
    i
}

const fn build() -> Index {
    let mut filter = [0u64; 1024];
    let mut unsorted = [Head { table: 0, vendor: 0, pattern: 0, word: 0, mask: 0 }; COUNT];
    let mut starts = [0u16; 1025];
    let mut n = 0;
    let mut t = 0;
    while t < TABLES.len() {
        let mut v = 0;
        while v < TABLES[t].len() {
            let patterns = TABLES[t][v].patterns;
            let mut p = 0;
            while p < patterns.len() {
                let pattern = patterns[p].as_bytes();
                let at = literal_start(pattern);
                let (a, b, c) = (pattern[at], pattern[at + 1], pattern[at + 2]);
                // A two-byte literal is followed by a class: any byte may be third.
                let (from, to) = if matches!(c, b'{' | b'!') { (0, 255) } else { (c, c) };
                let mut third = from;
                loop {
                    let slot = slot(a, b, third);
                    filter[slot >> 6] |= 1 << (slot & 63);
                    if third == to {
                        break;
                    }
                    third += 1;
                }
                unsorted[n] =
                    Head { table: t as u8, vendor: v as u8, pattern: p as u8, word: 0, mask: 0 };
                let mut i = 0;
                while i < 4 && at + i < pattern.len() && !matches!(pattern[at + i], b'{' | b'!') {
                    unsorted[n].word |= (pattern[at + i] as u32) << (8 * i);
                    unsorted[n].mask |= 0xff << (8 * i);
                    i += 1;
                }
                starts[index::slot(a, b) + 1] += 1;
                n += 1;
                p += 1;
            }
            v += 1;
        }
        t += 1;
    }
    let mut i = 0;
    while i < 1024 {
        starts[i + 1] += starts[i];
        i += 1;
    }
    let mut next = starts;
    let mut heads = unsorted;
    let mut i = 0;
    while i < COUNT {
        let word = unsorted[i].word.to_le_bytes();
        let slot = index::slot(word[0], word[1]);
        heads[next[slot] as usize] = unsorted[i];
        next[slot] += 1;
        i += 1;
    }
    Index { filter, starts, heads }
}

#[cfg(test)]
mod tests;
