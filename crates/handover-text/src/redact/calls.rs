//! Credentials given to functions: `NetworkCredential("user", "password")`.

use super::bytes;
use super::innocent;
use super::keys::{self, Key};
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
const LIKELY: &[&str] = &[
    "login",
    "authenticate",
    "signin",
    "sign_in",
    "auth",
    "connect",
    "logon",
    "wifi.begin",
    "createhmac",
];

/// Ends of names whose third argument is one if it looks like one: host, user, password.
const THIRD: &[&str] = &["connect", "mysqli", "getconnection", "pdo", "directoryentry"];

/// Ends of names whose second argument is a secret if it looks like one, whatever the first is.
const SECOND: &[&str] = &[
    "jwt.sign",
    "jwt.verify",
    "jwt.encode",
    "jwt.decode",
    "createhmac",
    "check_password",
    "checkpassword",
    "verify_password",
    "verifypassword",
    "set_password",
    "setpassword",
    "change_password",
    "changepassword",
    "reset_password",
    "resetpassword",
];

/// Functions that compare their arguments.
const COMPARE: &[&str] = &["strcmp", "strncmp", "strcasecmp", "compare_digest", "timingsafeequal"];

/// The password among the arguments of the function whose name is `start..end`.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    if text.get(end) != Some(&b'(') {
        return None;
    }
    let name = text.get(start..end)?;
    let ends = |words: &[&str]| {
        words.iter().any(|w| {
            let from = name.len().checked_sub(w.len());
            from.is_some_and(|from| name[from..].eq_ignore_ascii_case(w.as_bytes()))
        })
    };
    if matches!(name, b".equals" | b".equalsIgnoreCase") {
        return before_name(text, start, end + 1);
    }
    if !matches!(text.get(end + 1), Some(b'"' | b'\'')) {
        let second = ends(SECOND);
        return if second || ends(COMPARE) { after_name(text, end + 1, second) } else { None };
    }
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

/// The string after a first argument that is a name: `strcmp(password, "…")`.
fn after_name(text: &[u8], at: usize, any: bool) -> Option<(usize, usize)> {
    let len = bytes::run(text, at, 64, |b| {
        bytes::is(b, bytes::ALNUM) || matches!(b, b'_' | b'.' | b'$' | b'>' | b'-')
    });
    let told = any || keys::classify(text.get(at..at + len)?) == Some(Key::Password);
    (told && len > 0 && text.get(at + len) == Some(&b',')).then_some(())?;
    let (from, to) = string(text, next_argument(text, at + len))?;
    let value = text.get(from..to)?;
    let looks = if any { random::mixed(value) } else { !keys::classify(value).is_some() };
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    let kind = value.len() <= 6 && value.to_ascii_lowercase().starts_with(b"hs");
    (looks && value.len() >= 4 && !spaced && !kind && !innocent::placeholder(value))
        .then_some((from, to))
}

/// The string that is asked whether it equals a password: `"…".equals(password)`.
fn before_name(text: &[u8], start: usize, at: usize) -> Option<(usize, usize)> {
    let len = bytes::run(text, at, 64, |b| bytes::is(b, bytes::ALNUM) || matches!(b, b'_' | b'.'));
    let close = start.checked_sub(1).filter(|at| text[*at] == b'"')?;
    let from = close - bytes::run_back(text, close, 64, |b| b != b'"' && b != b'\n');
    let value = text.get(from..close)?;
    let told = keys::classify(text.get(at..at + len)?) == Some(Key::Password);
    (told && values::is_secret(Key::Password, values::Form::Quoted, value)).then_some((from, close))
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
    let gap = |at| at + bytes::run(text, at, 12, |b| matches!(b, b' ' | b',' | b'\n' | b'\t'));
    let at = gap(to + 1);
    // A port stands between a host and a user.
    let number = bytes::run(text, at, 6, |b| b.is_ascii_digit());
    if number > 0 { gap(at + number) } else { at }
}

fn string(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let len = bytes::run(text, at + 1, 256, |b| b != quote && b != b'\n');
    (text.get(at + 1 + len) == Some(&quote)).then_some((at + 1, at + 1 + len))
}
