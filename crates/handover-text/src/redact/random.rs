//! Distinguishes random strings from written ones.
//!
//! The measure is token efficiency: bytes per token of a vocabulary learned from ordinary text. Words
//! and identifiers reach three and more bytes per token, random strings hardly two. Entropy cannot
//! distinguish `collect_changed_refs_to_import` from a key; this can.

use super::bytes::{self, ALNUM, DIGIT, HEX, LOWER, UPPER};
use crate::tokens::{self, Tokenizer};

/// Only this many leading bytes of a long string are judged.
const SAMPLE: usize = 128;

/// Below this many bytes per token a string is random even without a hint.
pub(super) const RANDOM: f32 = 1.9;
/// Below this, a string is random if the context suggests a secret.
pub(super) const LIKELY: f32 = 2.4;

/// So many bytes of a key show that it is one of an example.
const LONGEST_TYPED: usize = 256;

/// Bytes per token of a string, measured on its beginning if it is long.
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

/// Whether a string is random enough, given a hint.
pub(super) fn scattered(s: &[u8]) -> bool {
    efficiency(s) < LIKELY
}

/// Whether a string consists of letters like a name: `db_password`, `apiKey`.
pub(super) fn wordy(s: &[u8]) -> bool {
    s.iter().all(|b| {
        bytes::is(*b, UPPER | LOWER) || matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b' ' | b'+')
    }) && !(s.len() >= 12 && scattered(s))
}

/// Whether a string contains both a digit and a letter.
pub(super) fn mixed(s: &[u8]) -> bool {
    let seen = classes(s);
    seen & DIGIT != 0 && seen & (UPPER | LOWER) != 0
}

/// Whether all bytes are hexadecimal digits of one case, some of them decimal.
pub(super) fn hex(s: &[u8]) -> bool {
    let seen = classes(s);
    s.iter().all(|b| bytes::is(*b, HEX))
        && seen & DIGIT != 0
        && seen & (UPPER | LOWER) != UPPER | LOWER
}

pub(super) fn uuid(s: &[u8]) -> bool {
    s.len() == 36
        && s.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => bytes::is(*b, HEX),
        })
}

/// The union of the byte classes.
pub(super) fn classes(s: &[u8]) -> u8 {
    s.iter().fold(0, |seen, b| seen | bytes::CLASS[usize::from(*b)])
}

/// The longest stretch of letters and digits.
pub(super) fn longest_word(s: &[u8]) -> usize {
    s.split(|b| !bytes::is(*b, ALNUM)).map(<[u8]>::len).max().unwrap_or(0)
}

/// The longest stretch of letters; in SVG path data none is longer than one.
pub(super) fn longest_letters(s: &[u8]) -> usize {
    s.split(|b| !b.is_ascii_alphabetic()).map(<[u8]>::len).max().unwrap_or(0)
}

/// The longest stretch of letters and digits that contains both.
pub(super) fn longest_mixed_word(s: &[u8]) -> usize {
    s.split(|b| !bytes::is(*b, ALNUM))
        .filter(|word| mixed(word))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// Whether a string counts: `abcdef0123456789`, `a1b2c3d4`. People write such keys in examples.
pub(super) fn counted(s: &[u8]) -> bool {
    let follows = |a: u8, b: u8| {
        let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
        b == a.wrapping_add(1) || matches!((a, b), (b'9', b'0') | (b'z', b'a'))
    };
    // Every second character in `a1b2c3`.
    let steps =
        |apart: usize| s.iter().zip(s.iter().skip(apart)).filter(|(a, b)| follows(**a, **b));
    s.len() >= 8 && (steps(1).count() * 3 >= s.len() * 2 || steps(2).count() * 3 >= s.len() * 2)
}

/// Whether a string is a key that somebody typed for an example: letters and digits that count, not an alphabet.
pub(super) fn typed_key(s: &[u8]) -> bool {
    let s = &s[..s.len().min(LONGEST_TYPED)];
    if s.len() < 16 || !mixed(s) {
        return false;
    }
    // Separators do not interrupt the sequence: `ABCD1234-EFGH5678`.
    let mut joined = [0; LONGEST_TYPED];
    let mut len = 0;
    for b in s.iter().filter(|b| bytes::is(**b, ALNUM)) {
        joined[len] = *b;
        len += 1;
    }
    counted(&joined[..len]) && !alphabet(s)
}

/// Whether a key is one character, or a few, again and again: `aaaaaaaaaaaaaaaa`, `abcabcabcabcabcabc`, or an
/// alphabet. Masks are written with `x` and `0`.
pub(super) fn is_drawn_out(s: &[u8]) -> bool {
    let s = &s[..s.len().min(LONGEST_TYPED)];
    if s.len() < 16 {
        return false;
    }
    let key = |b: &u8| bytes::is(*b, ALNUM);
    let mut joined = [0; LONGEST_TYPED];
    let mut len = 0;
    let mut separators = 0;
    for b in s {
        if key(b) {
            joined[len] = *b;
            len += 1;
        } else if matches!(b, b'-' | b'.') {
            separators += 1;
        } else {
            return false;
        }
    }
    let s = &joined[..len];
    let masked = s.iter().filter(|b| matches!(b, b'x' | b'X' | b'0')).count() * 2 >= len;
    let follows = |(a, b): &(&u8, &u8)| *b == *a || **b == a.wrapping_add(1);
    let steps = s.iter().zip(s.iter().skip(1)).filter(follows).count();
    let repeats =
        |period: usize| s.iter().zip(s.iter().skip(period)).filter(|(a, b)| a == b).count();
    len >= 16
        && separators * 4 <= len
        && !masked
        && (steps * 4 >= len * 3
            || (2..=8).any(|period| len >= 3 * period && (repeats(period) + period) * 8 >= len * 7))
}

/// Every letter in its order, and perhaps every digit, as programs list them.
pub(super) fn is_alphabet(s: &[u8]) -> bool {
    matches!(s.len(), 26 | 36 | 52 | 62..=65)
        && bytes::contains_ignore_case(s, b"abcdefghijklmnopqrstuvwxyz")
}

/// `0123456789abcdef`: every digit and letter once, as programs list them.
fn alphabet(s: &[u8]) -> bool {
    let mut seen = [false; 256];
    s.windows(10).any(|w| w == b"0123456789")
        && s.iter().all(|b| !std::mem::replace(&mut seen[usize::from(*b)], true))
}

/// How often the kind changes between neighbours: digits, upper case, lower case.
pub(super) fn changes(s: &[u8]) -> usize {
    let kind = |b: u8| bytes::CLASS[usize::from(b)] & (DIGIT | UPPER | LOWER);
    s.windows(2).filter(|w| kind(w[0]) != kind(w[1])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_separates_words_from_keys() {
        for words in ["collect_changed_refs_to_import", "the quick brown fox", "getUserById"] {
            assert!(!scattered(words.as_bytes()), "{words} {}", efficiency(words.as_bytes()));
        }
        for key in ["Zk8vXq2LmN5pR7wT", "9f8e7d6c5b4a39281706f5e4", "xK2pQ9vB7mW4nR8t"] {
            assert!(scattered(key.as_bytes()), "{key} {}", efficiency(key.as_bytes()));
        }
        assert_eq!(efficiency("пароль".as_bytes()), f32::MAX);
    }

    #[test]
    fn only_the_beginning_of_a_long_string_is_judged() {
        let words = "collect_changed_refs_to_import_".repeat(5);
        let mixed = format!("{}{}", &words[..SAMPLE], "Zk8vXq2LmN5pR7wT".repeat(20));
        assert_eq!(efficiency(mixed.as_bytes()), efficiency(&words.as_bytes()[..SAMPLE]));
    }

    #[test]
    fn strings_are_classified_by_their_bytes() {
        assert!(mixed(b"a1") && !mixed(b"ab") && !mixed(b"12") && !mixed(b""));
        assert!(hex(b"0a1f") && hex(b"0A1F") && !hex(b"0A1f") && !hex(b"abcd") && !hex(b"0g"));
        assert!(uuid(b"550e8400-e29b-41d4-a716-446655440000"));
        assert!(!uuid(b"550e8400-e29b-41d4-a716-44665544000"));
        assert!(!uuid(b"550e8400ee29b-41d4-a716-446655440000"));
        assert!(wordy(b"db_password") && wordy(b"apiKey") && !wordy(b"key1"));
    }

    #[test]
    fn counting_is_no_randomness() {
        for text in ["abcdef0123456789", "a1b2c3d4e5f6", "12345678901234567890", "XYZABCDEFGHI"] {
            assert!(counted(text.as_bytes()), "{text}");
        }
        for text in ["abc", "Zk8vXq2LmN5pR7wT", "collect_changed_refs", "550e8400e29b41d4a716", ""]
        {
            assert!(!counted(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn keys_may_be_drawn_out() {
        for key in [
            "aaaaaaaaaaaaaaaaaaaaaaa-",
            "00-aaaaaaaaaaaaa-aaaaaaaaaaaaaaaaaaaaaaaaa",
            "abcdefghijklmnopqrstuvwxyz",
            "aaaabbbbccccddddeeeeffff",
            "xyzxyzxyzxyzxyzxyzxyz12",
        ] {
            assert!(is_drawn_out(key.as_bytes()), "{key}");
        }
        for other in [
            "xxxxxxxxxxxxxxxxxxxxxxxx",
            "0000000000000000",
            "----------------",
            "aaaaaaaa",
            "my_access_token_for_tests",
            "session.session_key",
            "is_quite_long_zzzzzzzzzzzzzzzzzzzzzzzzzzz",
            "Zk8vXq2LmN5pR7wT",
        ] {
            assert!(!is_drawn_out(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn typed_keys_are_no_alphabets() {
        for key in ["abcdef1234567890", "ABCD1234-EFGH5678", "0123456789abcdef0123456789abcdef"] {
            assert!(typed_key(key.as_bytes()), "{key}");
        }
        for other in [
            "0123456789abcdef",
            "abcdefghijklmnopqrstuvwxyz0123456789",
            "abcdefghijklmnopqr",
            "abc123",
        ] {
            assert!(!typed_key(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn stretches_are_measured() {
        assert_eq!(longest_word(b"ab-cde1_f"), 4);
        assert_eq!(longest_letters(b"ab1cde_f"), 3);
        assert_eq!(longest_mixed_word(b"abcdef-a1-b2c"), 3);
        assert_eq!(longest_mixed_word(b"abc-123"), 0);
        assert_eq!([longest_word(b""), longest_letters(b"12"), changes(b"")], [0, 0, 0]);
        assert_eq!(changes(b"aA1-b"), 4);
        assert_eq!(changes(b"aaa"), 0);
    }
}
