//! What stands between a name and its value, or around the value, and is no part of it.

use super::bytes::{self, ALNUM};
use super::keys::Key;
use super::signs::skip_space;

/// How far a value is read for the pair after it.
const JUDGED: usize = 300;

/// `Authorization: Bearer …`: the scheme is no part of the secret.
pub(super) fn skip_scheme(text: &[u8], at: usize, key: Key) -> usize {
    if !matches!(key, Key::Token | Key::Weak) {
        return at;
    }
    for scheme in [
        "Bearer ",
        "bearer ",
        "Basic ",
        "basic ",
        "Token ",
        "token ",
        "ApiKey ",
        "Digest ",
        "GenieKey ",
        "SSWS ",
        "Key ",
    ] {
        let quoted = matches!(text.get(at), Some(b'"' | b'\'')) as usize;
        if text.get(at + quoted..).is_some_and(|rest| rest.starts_with(scheme.as_bytes())) {
            return at + quoted + scheme.len();
        }
    }
    at
}

/// Past the brackets between a declared name and a literal.
pub(super) fn declared(text: &[u8], at: usize) -> Option<usize> {
    let size = bytes::run(text, at + 1, 20, |b| bytes::is(b, ALNUM) || b == b'_');
    let close = match text.get(at)? {
        b'[' if text.get(at + 1 + size) == Some(&b']') => at + 2 + size,
        b')' => at + 1,
        _ => return None,
    };
    let sign = skip_space(text, close);
    let literal = skip_space(text, sign + 1);
    (text.get(sign) == Some(&b'=') && matches!(text.get(literal), Some(b'"' | b'\'')))
        .then_some(close)
}

/// Functions that take a password or compare one: `set_password("…")`, `PASSWORD('…')`.
pub(super) fn setter(name: &[u8]) -> bool {
    let last = name.rsplit(|b| matches!(b, b'.' | b'>' | b':')).next().unwrap_or_default();
    let starts = |word: &[u8]| last.get(..word.len()).is_some_and(|l| l.eq_ignore_ascii_case(word));
    starts(b"set") || starts(b"with") || starts(b"equals") || name == b"PASSWORD"
}

/// Whether a bracket stands before a quoted name: the first of a pair, not one of a list.
pub(super) fn opens(text: &[u8], start: usize) -> bool {
    let at = start
        - bytes::run_back(text, start, 24, |b| {
            b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\')
        });
    at > 0 && matches!(text[at - 1], b'(' | b'[' | b'{')
}

/// Where a value of `a=…&b=…` ends.
pub(super) fn before_pair(text: &[u8], at: usize, stop: usize) -> usize {
    let value = text.get(at..stop.min(at + JUDGED)).unwrap_or_default();
    let pair = value.iter().enumerate().find(|(i, b)| {
        let name = bytes::run(value, i + 1, 40, |b| bytes::is(b, ALNUM) || b == b'_');
        **b == b'&' && name > 1 && value.get(i + 1 + name) == Some(&b'=')
    });
    pair.map_or(stop, |(i, _)| at + i)
}

/// Past what makes a value of another type out of a literal: `[]byte("…")`, `String::from("…")`.
pub(super) fn skip_wrapper(text: &[u8], at: usize) -> usize {
    const WRAPPERS: [&[u8]; 10] = [
        b"[]byte(",
        b"Some(",
        b"String::from(",
        b"Secret::new(",
        b"SecretString::new(",
        b"SecretString::from(",
        b"Buffer.from(",
        b"std::string(",
        b"new String(",
        b"bytes(",
    ];
    let skip = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        let len = WRAPPERS.iter().find(|w| rest.starts_with(w)).map_or(0, |w| w.len());
        let quoted = matches!(rest.get(len), Some(b'"' | b'\''));
        if quoted || len > 0 && rest[len..].starts_with(b"String::from(") { at + len } else { at }
    };
    skip(skip(at))
}

/// Whether `-passin` stands before a name.
pub(super) fn after_passin(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(9)..start];
    before.ends_with(b"-passin ") || before.ends_with(b"-passout ")
}
