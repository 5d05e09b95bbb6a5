//! The user name next to a password. It is half of the credentials, so it is hidden together with the
//! password; alone, a user name is no secret.
//!
//! Three positions are checked: directly before the password (`curl -u ann:…`), the argument before it
//! (`login("ann", "…")`), and a nearby value named as a user and written in the same style
//! (`user=ann password=…`, `username: "ann"` a few lines above).

use super::allowlist;
use super::bytes::{self, ALNUM};
use super::index::{Letters, Side};
use super::keys;

/// The rule's name in findings.
pub(super) const RULE: &str = "user-name";

/// How far before and after its password a user name may be.
const BEFORE: usize = 400;
const AFTER: usize = 160;
/// The most lines between the two.
const LINES: usize = 6;

/// Endings of names for users.
#[rustfmt::skip]
const NAMES: [&str; 9] = [
    "user", "username", "userid", "login", "loginname", "uid", "usr", "email", "benutzer",
];

/// Rules out nearly every other word at once.
static ENDS: Letters = Letters::new(&[&NAMES, &["name", "id"]], Side::End);

/// Whether a name denotes a user.
pub(super) fn is_name(name: &[u8]) -> bool {
    if !matches!(*name, [.., c, a, b] if ENDS.has(a, b, c)) {
        return false;
    }
    let last = name.iter().rposition(|b| !b.is_ascii_alphabetic());
    let word = &name[last.map_or(0, |at| at + 1)..];
    let ends = |end: &str| {
        let Some(at) = word.len().checked_sub(end.len()) else {
            return false;
        };
        // `ftpUser` and `FTPUSER`, not `superuser`.
        word[at..].eq_ignore_ascii_case(end.as_bytes())
            && (at == 0 || word[at].is_ascii_uppercase())
    };
    // `user_name`, `user-id`
    let two = last.is_some_and(|at| {
        (word.eq_ignore_ascii_case(b"name") || word.eq_ignore_ascii_case(b"id"))
            && name[..at].len() >= 4
            && name[at - 4..at].eq_ignore_ascii_case(b"user")
    });
    two || NAMES.iter().any(|name| ends(name))
}

/// Whether a value may be a user name.
pub(super) fn is_user(value: &[u8]) -> bool {
    // The address `ann@example.com` may be a user, `user@example.com` is a placeholder.
    let local = value.split(|b| *b == b'@').next().unwrap_or_default();
    (2..=128).contains(&value.len())
        && !value.iter().any(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'{' | b'[' | b'$'))
        && !bytes::contains_ignore_case(value, b"://")
        && !value.iter().all(u8::is_ascii_digit)
        && (matches!(value, b"user" | b"username") || !allowlist::placeholder(local))
}

/// The user of the password at `start..end`; `read` is the end of the previous password.
pub(super) fn beside(text: &[u8], start: usize, end: usize, read: usize) -> Option<(usize, usize)> {
    joined(text, start)
        .or_else(|| argument(text, start))
        .or_else(|| named(text, start, end, read))
        .filter(|(from, to)| text.get(*from..*to).is_some_and(is_user))
}

/// `ann:`, `ann%`, `ann,` or `ann/` directly before a password.
fn joined(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let separator = start.checked_sub(1)?;
    matches!(text[separator], b':' | b'%' | b',' | b'/').then_some(())?;
    let len = bytes::run_back(text, separator, 64, |b| {
        bytes::is(b, ALNUM) || matches!(b, b'.' | b'_' | b'-' | b'@' | b'\\' | b'+')
    });
    let from = separator - len;
    let before = from.checked_sub(1).map(|at| text[at]);
    let flag = from >= 4 && text[from.saturating_sub(12)..from].contains(&b'-');
    let sure = flag || matches!(text[separator], b'/' | b'%');
    (len > 0 && sure && matches!(before, Some(b' ' | b'"' | b'\'' | b'=')))
        .then_some((from, separator))
}

/// The string argument before the one that contains the password.
fn argument(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let quote = |b: u8| matches!(b, b'"' | b'\'');
    let open = start.checked_sub(1).filter(|at| quote(text[*at]))?;
    let gap = bytes::run_back(text, open, 40, |b| b.is_ascii_whitespace() || b == b',');
    let close = (open - gap).checked_sub(1).filter(|at| gap > 0 && quote(text[*at]))?;
    text[close + 1..open].contains(&b',').then_some(())?;
    let len = bytes::run_back(text, close, 128, |b| b != text[close] && b != b'\n');
    let from = close - len;
    let first = from.checked_sub(1).is_some_and(|at| text[at] == text[close]);
    // `{"password", "…"}` and `set("password", "…")`: the string before is the name of the password.
    let name = keys::classify(&text[from..close]).is_some();
    // `createHmac("sha256", "…")`
    let algorithm = matches!(&text[from..close], [b's', b'h', b'a', ..] | [b'm', b'd', b'5', ..]);
    (first && !name && !algorithm).then_some((from, close))
}

/// A nearby value whose name denotes a user.
fn named(text: &[u8], start: usize, end: usize, read: usize) -> Option<(usize, usize)> {
    let quoted = start > 0 && matches!(text[start - 1], b'"' | b'\'');
    let reach = start.saturating_sub(BEFORE).max(read.min(start));
    let from = lines_before(text, reach, start);
    let to = lines_after(text, end, text.len().min(end + AFTER));
    let value = |name: (usize, usize)| {
        let value = value(text, name.1)?;
        let same = quoted == matches!(text[value.0 - 1], b'"' | b'\'');
        same.then_some(value)
    };
    let users = |from: usize, to: usize| {
        words(text, from, to).filter(|(from, to)| {
            let name = &text[*from..*to];
            is_name(name)
                || matches!(name, b"-u" | b"-U" | b"-gu")
                || name.eq_ignore_ascii_case(b"id") && after_user(text, *from)
        })
    };
    let before = users(from, start).filter_map(value).filter(|v| v.1 <= start).last();
    before.or_else(|| users(end, to).find_map(value))
}

/// `User Id`, `User name`
fn after_user(text: &[u8], at: usize) -> bool {
    text[..at].len() >= 5 && text[at - 5..at].eq_ignore_ascii_case(b"user ")
}

/// The earliest offset with few lines before `end`, none of them empty.
pub(super) fn lines_before(text: &[u8], from: usize, end: usize) -> usize {
    let mut lines = 0;
    let mut last = end;
    for at in (from..end).rev().filter(|at| text[*at] == b'\n') {
        lines += 1;
        if lines > LINES || text[at + 1..last].trim_ascii().is_empty() && lines > 1 {
            return at + 1;
        }
        last = at;
    }
    from
}

pub(super) fn lines_after(text: &[u8], from: usize, end: usize) -> usize {
    let mut lines = 0;
    let mut last = from;
    for at in (from..end).filter(|at| text[*at] == b'\n') {
        lines += 1;
        if lines > LINES / 2 || text[last..at].trim_ascii().is_empty() && lines > 1 {
            return at;
        }
        last = at + 1;
    }
    end
}

/// The words between two offsets.
pub(super) fn words(text: &[u8], from: usize, to: usize) -> impl Iterator<Item = (usize, usize)> {
    let part = |b: u8| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.');
    let mut at = from;
    std::iter::from_fn(move || {
        at += bytes::run(text, at, to.saturating_sub(at), |b| !part(b));
        let start = at;
        at += bytes::run(text, at, to.saturating_sub(at), part);
        (at > start).then_some((start, at))
    })
}

/// The value of the name that ends at `at`.
pub(super) fn value(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let space = |b: u8| matches!(b, b' ' | b'\t');
    let name = at;
    let at = at + bytes::run(text, at, 3, |b| matches!(b, b'"' | b'\'' | b'\\' | b']' | b'`'));
    let at = at + bytes::run(text, at, 16, space);
    let operator = bytes::run(text, at, 3, |b| matches!(b, b'=' | b':' | b'>'));
    // `--user ann`, and `login ann` in a `.netrc`
    let spaced =
        operator == 0 && at > name && text.get(at).is_some_and(|b| bytes::is(*b, ALNUM)) && {
            let start =
                name - bytes::run_back(text, name, 24, |b| bytes::is(b, ALNUM) || b == b'-');
            text[start] == b'-' || &text[start..name] == b"login"
        };
    (operator > 0 || spaced).then_some(())?;
    let at = at + operator;
    let at = at + bytes::run(text, at, 16, space);
    let at = at + bytes::run(text, at, 1, |b| b == b'\\');
    let quote = text.get(at).copied().filter(|b| matches!(b, b'"' | b'\''));
    let (start, len) = match quote {
        Some(quote) => {
            (at + 1, bytes::run(text, at + 1, 128, |b| b != quote && b != b'\n' && b != b'\\'))
        }
        None => (
            at,
            bytes::run(text, at, 128, |b| {
                !b.is_ascii_whitespace()
                    && !matches!(b, b';' | b',' | b'&' | b'<' | b'>' | b')' | b'}' | b'"' | b'\'')
                    && !matches!(b, b'|' | b'`')
            }),
        ),
    };
    let value = text.get(start..start + len)?;
    let expression = quote.is_none() && allowlist::expression(value) && !value.contains(&b'@');
    (!expression).then_some((start, start + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_user_names_in_every_spelling() {
        for name in ["user", "DB_USER", "smtpUser", "user-name", "USERNAME", "User_Id", "ftp.login"]
        {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for name in ["superuser", "users", "name", "id", "userAgent", "blogin", ""] {
            assert!(!is_name(name.as_bytes()), "{name}");
        }
    }

    /// The user of the password in «».
    fn user(text: &str, read: usize) -> Option<String> {
        let start = text.find('«').unwrap();
        let end = text.find('»').unwrap() - '«'.len_utf8();
        let plain = text.replace(['«', '»'], "");
        beside(plain.as_bytes(), start, end, read).map(|(from, to)| plain[from..to].to_owned())
    }

    #[test]
    fn finds_the_user_in_every_position() {
        for text in [
            "curl -u ann:«sesame» https://x",
            "smbclient //h/s -U ann%«sesame»",
            "sqlplus ann/«sesame»@orcl",
            "login(\"ann\", \"«sesame»\")",
            "user=ann password=«sesame»",
            "password=«sesame» user=ann",
            "username: \"ann\"\npassword: \"«sesame»\"",
            "db_user = ann\nhost = h\ndb_password = «sesame»",
            "tool --user ann --password «sesame»",
            "{\"user\": \"ann\", \"password\": \"«sesame»\"}",
        ] {
            assert_eq!(user(text, 0).as_deref(), Some("ann"), "{text}");
        }
    }

    #[test]
    fn other_values_are_no_users() {
        for text in [
            "set(\"password\", \"«sesame»\")",
            "createHmac(\"sha256\", \"«sesame»\")",
            "user=$USER password=«sesame»",
            "user=12345 password=«sesame»",
            "username: ann\npassword: \"«sesame»\"",
            "user=ann\n\npassword=«sesame»",
            "user=ann\na=1\nb=2\nc=3\nd=4\ne=5\nf=6\ng=7\npassword=«sesame»",
            "password=«sesame»",
        ] {
            assert_eq!(user(text, 0), None, "{text}");
        }
    }

    #[test]
    fn a_user_belongs_to_one_password() {
        let text = "user=ann password=first password=«second»";
        assert_eq!(user(text, 0).as_deref(), Some("ann"));
        assert_eq!(user(text, text.find("first").unwrap() + 5), None);
    }

    #[test]
    fn placeholders_are_no_users() {
        for user in ["ann", "ann@example.com", "DOMAIN\\\\ann", "svc-1"] {
            assert!(is_user(user.as_bytes()), "{user}");
        }
        for other in
            ["a", "user@example.com", "12345", "<user>", "$USER", "f(x)", "https://x", "a b"]
        {
            assert!(!is_user(other.as_bytes()), "{other}");
        }
    }
}
