//! Syntax between a name and its value, or around the value.

use super::bytes::{self, ALNUM};
use super::keys::Key;
use super::operators::skip_space;

/// How many bytes of a value are searched for the next pair.
const JUDGED: usize = 300;

/// Skips the scheme of `Authorization: Bearer …`, which is not part of the secret.
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

/// Skips the brackets between a declared name and a literal.
pub(super) fn declared(text: &[u8], at: usize) -> Option<usize> {
    let size = bytes::run(text, at + 1, 20, |b| bytes::is(b, ALNUM) || b == b'_');
    let close = match text.get(at)? {
        b'[' if text.get(at + 1 + size) == Some(&b']') => at + 2 + size,
        b')' => at + 1,
        _ => return None,
    };
    let equals = skip_space(text, close);
    let literal = skip_space(text, equals + 1);
    (text.get(equals) == Some(&b'=') && matches!(text.get(literal), Some(b'"' | b'\'')))
        .then_some(close)
}

/// Whether a function sets a password or compares one: `set_password("…")`, `PASSWORD('…')`.
pub(super) fn setter(name: &[u8]) -> bool {
    let last = name.rsplit(|b| matches!(b, b'.' | b'>' | b':')).next().unwrap_or_default();
    let starts = |word: &[u8]| last.get(..word.len()).is_some_and(|l| l.eq_ignore_ascii_case(word));
    starts(b"set") || starts(b"with") || starts(b"equals") || name == b"PASSWORD"
}

/// Whether a bracket precedes a quoted name: it starts a pair rather than being one of a list.
pub(super) fn opens(text: &[u8], start: usize) -> bool {
    let at = start
        - bytes::run_back(text, start, 24, |b| {
            b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\')
        });
    at > 0 && matches!(text[at - 1], b'(' | b'[' | b'{')
}

/// The end of a value in `a=…&b=…`.
pub(super) fn before_pair(text: &[u8], at: usize, stop: usize) -> usize {
    let value = text.get(at..stop.min(at + JUDGED)).unwrap_or_default();
    let named = |i: &usize| {
        let name = bytes::run(value, i + 1, 40, |b| bytes::is(b, ALNUM) || b == b'_');
        name > 1 && value.get(i + 1 + name) == Some(&b'=')
    };
    // The semicolon of an entity ends the value anyway.
    const ENTITIES: [&[u8]; 5] = [b"&quot", b"&apos", b"&#39", b"&#34", b"&lt"];
    let entity = |i: &usize| ENTITIES.contains(&&value[*i..]) && text.get(stop) == Some(&b';');
    let pair = memchr::memchr_iter(b'&', value).find(|i| *i > 0 && (named(i) || entity(i)));
    pair.map_or(stop, |i| at + i)
}

/// Skips a conversion around a literal: `[]byte("…")`, `String::from("…")`.
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

/// Skips the name of a variable up to its default: `getenv("NAME", "…")`.
pub(super) fn skip_variable(text: &[u8], at: usize) -> usize {
    const READERS: [&[u8]; 7] = [
        b"os.getenv(",
        b"getenv(",
        b"os.environ.get(",
        b"environ.get(",
        b"ENV.fetch(",
        b"env(",
        b"config(",
    ];
    let rest = text.get(at..).unwrap_or_default();
    let Some(reader) = READERS.iter().find(|reader| rest.starts_with(reader)) else { return at };
    let name = at + reader.len() + 1;
    let end = name + bytes::run(text, name, 64, |b| bytes::is(b, ALNUM) || b == b'_');
    let comma = skip_space(text, end + 1);
    let quotes = matches!((text.get(name - 1), text.get(end)),
        (Some(a @ (b'"' | b'\'')), Some(b)) if a == b);
    let default = skip_space(text, comma + 1);
    let literal = matches!(text.get(default), Some(b'"' | b'\''));
    if quotes && literal && text.get(comma) == Some(&b',') { default } else { at }
}

/// Whether `-passin` or `-passout` precedes a name.
pub(super) fn after_passin(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(9)..start];
    before.ends_with(b"-passin ") || before.ends_with(b"-passout ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_skipped_for_tokens_only() {
        let rest = |text: &'static str, key| &text[skip_scheme(text.as_bytes(), 0, key)..];
        assert_eq!(rest("Bearer abc", Key::Token), "abc");
        assert_eq!(rest("\"Basic abc\"", Key::Weak), "abc\"");
        assert_eq!(rest("Bearer abc", Key::Password), "Bearer abc");
        assert_eq!(rest("Bearerabc", Key::Token), "Bearerabc");
    }

    #[test]
    fn wrappers_are_skipped_twice_at_most() {
        let rest = |text: &'static str| &text[skip_wrapper(text.as_bytes(), 0)..];
        assert_eq!(rest("[]byte(\"x\")"), "\"x\")");
        assert_eq!(rest("Some(String::from(\"x\"))"), "\"x\"))");
        assert_eq!(rest("Some(x)"), "Some(x)");
        assert_eq!(rest("\"x\""), "\"x\"");
    }

    #[test]
    fn variables_are_skipped_up_to_their_default() {
        let rest = |text: &'static str| &text[skip_variable(text.as_bytes(), 0)..];
        assert_eq!(rest("os.getenv('X', 'y')"), "'y')");
        assert_eq!(rest("ENV.fetch(\"X\", \"y\")"), "\"y\")");
        for other in
            ["getenv('X')", "getenv(x, 'y')", "getenv('X', y)", "getenv('X\", 'y')", "env("]
        {
            assert_eq!(rest(other), other);
        }
    }

    #[test]
    fn declarations_end_before_the_equals_sign() {
        let rest = |text: &'static str| declared(text.as_bytes(), 0).map(|at| &text[at..]);
        assert_eq!(rest("[] = \"x\""), Some(" = \"x\""));
        assert_eq!(rest("[32]=\"x\""), Some("=\"x\""));
        assert_eq!(rest(") = 'x'"), Some(" = 'x'"));
        for other in ["[i] = x", "[a b] = \"x\"", ") == \"x\"", "x", ""] {
            assert_eq!(rest(other), None, "{other}");
        }
    }

    #[test]
    fn setters_are_known_by_their_last_name() {
        for name in
            ["set_password", "user.setPassword", "b.withPassword", "equalsIgnoreCase", "PASSWORD"]
        {
            assert!(setter(name.as_bytes()), "{name}");
        }
        for name in ["password", "reset_password", "set.password", "Password"] {
            assert!(!setter(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_first_of_a_pair_follows_a_bracket() {
        for text in ["(\"x", "[ 'x", "{\n  \"x"] {
            assert!(opens(text.as_bytes(), text.len() - 1), "{text}");
        }
        for text in ["\"x", "a, \"x", "x"] {
            assert!(!opens(text.as_bytes(), text.len() - 1), "{text}");
        }
    }

    #[test]
    fn values_of_query_strings_end_before_the_next_pair() {
        let value = |text: &'static str| &text[..before_pair(text.as_bytes(), 0, text.len())];
        assert_eq!(value("abc&x_y=1"), "abc");
        assert_eq!(value("a&b=1"), "a&b=1");
        assert_eq!(value("tr0ub4dor&3"), "tr0ub4dor&3");
        assert_eq!(value("abc&&xy=1"), "abc&");
    }
}
