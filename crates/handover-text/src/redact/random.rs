//! Telling machine-made strings from written ones.
//!
//! The measure is token efficiency: bytes per token of a vocabulary that was learned from ordinary
//! text. Words and identifiers give three bytes per token and more, random strings hardly two.
//! Entropy cannot tell `collect_changed_refs_to_import` from a key; this can.

use super::bytes::{self, ALNUM, DIGIT, HEX, LOWER, UPPER};
use crate::tokens::{self, Tokenizer};

/// Longer strings are judged by their start.
const SAMPLE: usize = 128;

/// Below this many bytes per token a string is random even without a hint.
pub(super) const RANDOM: f32 = 1.9;
/// Below this it is random where something says that a secret stands there.
pub(super) const LIKELY: f32 = 2.4;

/// Bytes per token of a string; its start stands for all of a long one.
pub(super) fn efficiency(s: &[u8]) -> f32 {
    let sample = &s[..s.len().min(SAMPLE)];
    match std::str::from_utf8(sample) {
        Ok(text) if text.is_ascii() => {
            let tokens = tokens::count(Tokenizer::Cl100k, text).max(1);
            sample.len() as f32 / tokens as f32
        }
        Ok(_) | Err(_) => f32::MAX,
    }
}

/// Whether a string looks random where a hint says so.
pub(super) fn scattered(s: &[u8]) -> bool {
    efficiency(s) < LIKELY
}

/// Whether a string is made of letters in the way that names are: `db_password`, `apiKey`.
pub(super) fn wordy(s: &[u8]) -> bool {
    s.iter().all(|b| {
        bytes::is(*b, UPPER | LOWER) || matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b' ' | b'+')
    }) && !(s.len() >= 12 && scattered(s))
}

/// Whether a string has a digit and a letter.
pub(super) fn mixed(s: &[u8]) -> bool {
    let seen = classes(s);
    seen & DIGIT != 0 && seen & (UPPER | LOWER) != 0
}

/// Whether every byte is a hexadecimal digit (of one case) and some are decimal ones.
pub(super) fn hex(s: &[u8]) -> bool {
    let seen = classes(s);
    s.iter().all(|b| bytes::is(*b, HEX))
        && seen & DIGIT != 0
        && seen & (UPPER | LOWER) != UPPER | LOWER
}

/// Whether the string is a UUID.
pub(super) fn uuid(s: &[u8]) -> bool {
    s.len() == 36
        && s.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => bytes::is(*b, HEX),
        })
}

/// The union of the classes of all bytes.
pub(super) fn classes(s: &[u8]) -> u8 {
    s.iter()
        .fold(0, |seen, b| seen | bytes::CLASS[usize::from(*b)])
}

/// The longest stretch of letters and digits.
pub(super) fn longest_word(s: &[u8]) -> usize {
    s.split(|b| !bytes::is(*b, ALNUM))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// The longest stretch of letters; the data of a drawing has none longer than one.
pub(super) fn longest_letters(s: &[u8]) -> usize {
    s.split(|b| !b.is_ascii_alphabetic())
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// The longest stretch of letters and digits that has both.
pub(super) fn longest_mixed_word(s: &[u8]) -> usize {
    s.split(|b| !bytes::is(*b, ALNUM))
        .filter(|word| mixed(word))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// How many times letters and digits, or upper and lower case, change places.
pub(super) fn changes(s: &[u8]) -> usize {
    let kind = |b: u8| bytes::CLASS[usize::from(b)] & (DIGIT | UPPER | LOWER);
    s.windows(2).filter(|w| kind(w[0]) != kind(w[1])).count()
}
