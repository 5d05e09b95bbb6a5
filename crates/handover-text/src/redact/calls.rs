//! Credentials given to functions: `NetworkCredential("user", "password")`.

use super::bytes;
use super::innocent;
use super::random;
use super::values;

/// Ends of names whose second argument is a password, whatever it looks like.
const SURE: &[&str] = &[
    "credential",
    "credentials",
    "basicauth",
    "basic_auth",
    "passwordauthentication",
    "passwordtoken",
    "setcredentials",
    "withcredentials",
];

/// Ends of names whose second argument is one if it looks like one.
const LIKELY: &[&str] =
    &["login", "authenticate", "signin", "sign_in", "auth", "connect", "logon", "wifi.begin"];

/// Ends of names whose third argument is one if it looks like one: host, user, password.
const THIRD: &[&str] = &["connect", "mysqli", "getconnection", "pdo"];

/// The password among the arguments of the function whose name is `start..end`.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    if text.get(end) != Some(&b'(') || !matches!(text.get(end + 1), Some(b'"' | b'\'')) {
        return None;
    }
    let name = text.get(start..end)?;
    let ends = |words: &[&str]| {
        words.iter().any(|w| {
            let from = name.len().checked_sub(w.len());
            from.is_some_and(|from| name[from..].eq_ignore_ascii_case(w.as_bytes()))
        })
    };
    let sure = ends(SURE);
    if !sure && !ends(LIKELY) && !ends(THIRD) {
        return None;
    }
    let (user, (mut from, mut to)) = arguments(text, end + 1)?;
    let third = ends(THIRD).then(|| string(text, next_argument(text, to))).flatten();
    if let Some(password) = third {
        (from, to) = password;
    }
    let value = text.get(from..to)?;
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    let looks = sure
        || (random::mixed(value) || values::special(value) && value.len() >= 6 && value[0] != b'-')
            && (third.is_some() || !user.contains(&b'/'));
    (looks && value.len() >= 3 && !spaced && !innocent::placeholder(value)).then_some((from, to))
}

/// The password of a pair: `auth=("user", "password")`.
pub(super) fn pair(text: &[u8], at: usize) -> Option<(usize, usize)> {
    (text.get(at) == Some(&b'(')).then_some(())?;
    arguments(text, at + 1).map(|(_, password)| password)
}

/// The first of two strings, and where the second stands.
fn arguments(text: &[u8], at: usize) -> Option<(&[u8], (usize, usize))> {
    let (from, to) = string(text, at)?;
    let first = text.get(from..to)?;
    let mut at = next_argument(text, to);
    if text.get(at..at + 5) == Some(b"Some(") {
        at += 5;
    }
    Some((first, string(text, at)?))
}

/// Where the argument after the string that ends at `to` begins.
fn next_argument(text: &[u8], to: usize) -> usize {
    to + 1 + bytes::run(text, to + 1, 8, |b| matches!(b, b' ' | b',' | b'\n' | b'\t'))
}

fn string(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let len = bytes::run(text, at + 1, 256, |b| b != quote && b != b'\n');
    (text.get(at + 1 + len) == Some(&quote)).then_some((at + 1, at + 1 + len))
}
