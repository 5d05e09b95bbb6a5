//! Byte classes, and runs of bytes.

use std::borrow::Cow;

/// A letter or a digit.
pub(super) const ALNUM: u8 = 1;
/// A decimal digit.
pub(super) const DIGIT: u8 = 2;
/// An upper-case letter.
pub(super) const UPPER: u8 = 4;
/// A lower-case letter.
pub(super) const LOWER: u8 = 8;
/// Part of a run: anything a machine-made word may contain (`=` only pads its end).
pub(super) const RUN: u8 = 16;
/// Joins words of base64 or of a path: `+`, `/`.
pub(super) const SLASH: u8 = 32;
/// A tilde, which few tokens use.
pub(super) const TILDE: u8 = 64;
/// A hexadecimal letter or digit.
pub(super) const HEX: u8 = 128;

/// The classes of each byte value.
pub(super) static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        table[i] = match b {
            b'0'..=b'9' => ALNUM | DIGIT | RUN | HEX,
            b'A'..=b'F' => ALNUM | UPPER | RUN | HEX,
            b'a'..=b'f' => ALNUM | LOWER | RUN | HEX,
            b'G'..=b'Z' => ALNUM | UPPER | RUN,
            b'g'..=b'z' => ALNUM | LOWER | RUN,
            b'_' | b'-' | b'.' => RUN,
            b'+' | b'/' => RUN | SLASH,
            b'~' => RUN | TILDE,
            _ => 0,
        };
        i += 1;
    }
    table
}

/// Whether the byte is in any of the classes.
#[inline]
pub(super) fn is(b: u8, classes: u8) -> bool {
    CLASS[b as usize] & classes != 0
}

/// The length of the run of bytes from `at` that satisfy `test`, at most `cap`.
#[inline]
pub(super) fn run(bytes: &[u8], at: usize, cap: usize, test: impl Fn(u8) -> bool) -> usize {
    let tail = bytes.get(at..).unwrap_or_default();
    tail.iter().take(cap).take_while(|b| test(**b)).count()
}

/// The length of the run of bytes that ends before `at` and satisfies `test`, at most `cap`.
#[inline]
pub(super) fn run_back(bytes: &[u8], at: usize, cap: usize, test: impl Fn(u8) -> bool) -> usize {
    let head = bytes.get(..at).unwrap_or_default();
    head.iter().rev().take(cap).take_while(|b| test(**b)).count()
}

/// The start of the line that contains `at`, looking back at most `cap` bytes.
pub(super) fn line_start(bytes: &[u8], at: usize, cap: usize) -> usize {
    at - run_back(bytes, at, cap, |b| b != b'\n')
}

/// Whether `hay` contains `needle` (given in lower case), ignoring case.
pub(super) fn contains_ignore_case(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len()).any(|w| w.eq_ignore_ascii_case(needle))
}

/// Bytes as text of the same length; each invalid byte becomes a control character.
pub(super) fn as_text(input: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(input) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(input.len());
    for chunk in input.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('\u{1a}', chunk.invalid().len()));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_are_capped_and_stay_inside() {
        let digit = |b: u8| b.is_ascii_digit();
        assert_eq!(run(b"a123b", 1, 9, digit), 3);
        assert_eq!(run(b"a123b", 1, 2, digit), 2);
        assert_eq!(run(b"a123b", 0, 9, digit), 0);
        assert_eq!(run(b"a123", 9, 9, digit), 0);
        assert_eq!(run_back(b"a123b", 4, 9, digit), 3);
        assert_eq!(run_back(b"a123b", 4, 1, digit), 1);
        assert_eq!(run_back(b"a123b", 0, 9, digit), 0);
        assert_eq!(run_back(b"a123b", 9, 9, digit), 0);
    }

    #[test]
    fn lines_start_after_a_line_break() {
        let text = b"one\ntwo\n";
        assert_eq!([line_start(text, 0, 9), line_start(text, 3, 9)], [0, 0]);
        assert_eq!([line_start(text, 4, 9), line_start(text, 6, 9)], [4, 4]);
        assert_eq!(line_start(text, 7, 2), 5);
    }

    #[test]
    fn searches_ignore_case() {
        assert!(contains_ignore_case(b"The PassWord", b"password"));
        assert!(!contains_ignore_case(b"pass word", b"password"));
        assert!(!contains_ignore_case(b"pass", b"password"));
    }

    #[test]
    fn classes_are_those_of_ascii() {
        for b in 0..=255_u8 {
            assert_eq!(is(b, DIGIT), b.is_ascii_digit(), "{b}");
            assert_eq!(is(b, UPPER), b.is_ascii_uppercase(), "{b}");
            assert_eq!(is(b, LOWER), b.is_ascii_lowercase(), "{b}");
            assert_eq!(is(b, ALNUM), b.is_ascii_alphanumeric(), "{b}");
            assert_eq!(is(b, HEX), b.is_ascii_hexdigit(), "{b}");
            let run = b.is_ascii_alphanumeric() || b"_-.+/~".contains(&b);
            assert_eq!(is(b, RUN), run, "{b}");
        }
    }

    proptest! {
        #[test]
        fn text_has_the_length_of_the_bytes(input: Vec<u8>) {
            let text = as_text(&input);
            prop_assert_eq!(text.len(), input.len());
            for (shown, byte) in text.bytes().zip(&input) {
                prop_assert!(shown == *byte || shown == 0x1a);
            }
        }
    }
}
