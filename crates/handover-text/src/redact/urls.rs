//! Credentials in URLs: `scheme://user:password@host`, `user:password@tcp(host)`.

use memchr::memmem;

use super::Hit;
use super::allowlist;
use super::bytes::{self, ALNUM};
use super::random;
use super::values;
use super::weak;

pub(super) const RULE: &str = "url-credentials";

/// The longest authority that is read.
const AUTHORITY: usize = 2048;

/// Adds the credentials of every URL.
pub(super) fn find(text: &[u8], hits: &mut Vec<Hit>) {
    let mut read = 0;
    for colon in memmem::find_iter(text, b"://") {
        let start = colon + 3;
        // A word with thousands of `://` is read once.
        if start < read {
            continue;
        }
        let len = bytes::run(text, start, AUTHORITY, authority_byte);
        read = start + len;
        if let Some((from, to)) = credentials(&text[start..start + len]) {
            hits.push(Hit::new(RULE, start + from, start + to));
        }
    }
    oracle(text, hits);
    bare(text, hits);
    let sockets = memmem::find_iter(text, b"@tcp(").chain(memmem::find_iter(text, b"@unix("));
    for at in sockets {
        let back = bytes::run_back(text, at, 256, |b| authority_byte(b) && b != b'=');
        let user = &text[at - back..at];
        if let Some(colon) = user.iter().position(|b| *b == b':')
            && !weak::is_shown(&user[colon + 1..])
        {
            hits.push(Hit::new(RULE, at - back, at));
        }
    }
}

/// `user:password@host:port`, without a scheme.
fn bare(text: &[u8], hits: &mut Vec<Hit>) {
    let user_byte = |b: u8| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.');
    for at in memchr::memchr_iter(b'@', text) {
        // `user:password@/database` on the local machine
        let local = text.get(at + 1) == Some(&b'/');
        let named = text.get(at + 1).is_some_and(|b| bytes::is(*b, ALNUM));
        if !(local || named && host(&text[at + 1..])) {
            continue;
        }
        let len = bytes::run_back(text, at, 48, |b| authority_byte(b) && !matches!(b, b':' | b'/'));
        let from = at - len;
        if from == 0 || text[from - 1] != b':' {
            continue;
        }
        let user = bytes::run_back(text, from - 1, 48, user_byte);
        let start = from - 1 - user;
        let opens =
            start == 0 || matches!(text[start - 1], b'"' | b'\'' | b'`' | b' ' | b'=' | b'\n');
        let rest = &text[at + 1..];
        let name = bytes::run(rest, 0, 128, |b| bytes::is(b, ALNUM) || matches!(b, b'.' | b'-'));
        let numbers = rest[..name].iter().all(|b| b.is_ascii_digit() || *b == b'.');
        let goes_on = matches!(rest.get(name), Some(b':' | b'/')) || numbers;
        let value = &text[from..at];
        let looks = value.len() >= 6
            && random::mixed(value)
            && !allowlist::version(value)
            && !weak::is_shown(value)
            && (!values::wordy_with_number(value) || values::made_up(value));
        let quoted = start > 0 && matches!(text[start - 1], b'"' | b'\'' | b'`');
        if user > 0 && opens && goes_on && looks && (!local || quoted) {
            hits.push(Hit::new(RULE, start, at));
        }
    }
}

/// `jdbc:oracle:thin:scott/tiger@host`
fn oracle(text: &[u8], hits: &mut Vec<Hit>) {
    let needle = b"oracle:thin:";
    for at in memmem::find_iter(text, needle) {
        let start = at + needle.len();
        let user = bytes::run(text, start, 64, |b| bytes::is(b, ALNUM) || b == b'_');
        let from = start + user + 1;
        if user == 0 || text.get(start + user) != Some(&b'/') {
            continue;
        }
        let rest = &text[from..from + bytes::run(text, from, 128, authority_byte)];
        let Some(len) = rest.iter().rposition(|b| *b == b'@') else {
            continue;
        };
        if len >= 3 && !weak::is_shown(&rest[..len]) {
            hits.push(Hit::new(RULE, start, from + len));
        }
    }
}

/// User and password in a line of `.pgpass`, `host:5432:database:user:password`, whose port ends at
/// `at`.
pub(super) fn pgpass(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let part = |b: u8| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b'*');
    let colon = |at: usize| (text.get(at) == Some(&b':')).then_some(at + 1);
    let database = colon(at)?;
    let user = colon(database + bytes::run(text, database, 64, part))?;
    let password = colon(user + bytes::run(text, user, 64, part))?;
    let len = bytes::run(text, password, 128, |b| authority_byte(b) && b != b':');
    let value = &text[password..password + len];
    (password > user + 1 && len >= 3 && !weak::is_shown(value)).then_some((user, password + len))
}

fn authority_byte(b: u8) -> bool {
    !b.is_ascii_whitespace()
        && !matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|' | b'\0'..=b'\x1f')
}

/// The user and password in an authority; without a password, a user that is a token.
fn credentials(rest: &[u8]) -> Option<(usize, usize)> {
    // A password may contain a slash or an `@`, a host may not: the last `@` before the path counts,
    // and a path may contain one too (`/@scope/name`).
    let slash = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let at = match rest[..slash].iter().rposition(|b| *b == b'@') {
        Some(at) => at,
        None => {
            let at = slash + rest[slash..].iter().take(128).position(|b| *b == b'@')?;
            let colon = rest[..slash].iter().position(|b| *b == b':')?;
            // `host:8080/path@x` has a port, not a password.
            let port = colon + 1 < slash && rest[colon + 1..slash].iter().all(u8::is_ascii_digit);
            (!port && host(&rest[at + 1..])).then_some(at)?
        }
    };
    let user = &rest[..at];
    let Some(colon) = user.iter().position(|b| *b == b':') else {
        return is_token(user).then_some((0, at));
    };
    let password = &user[colon + 1..];
    // `redis://[user:password@]host`
    let optional = user.starts_with(b"[") && rest.get(at + 1) == Some(&b']');
    let template = optional
        || weak::is_shown(password)
        || password.iter().any(|b| matches!(b, b'{' | b'}' | b'$' | b'(' | b')' | b'[' | b']'))
            && !random::mixed(password);
    let shown = matches!(password, b"p" | b"pw");
    if template || shown {
        // `https://TOKEN:x-oauth-basic@host`: the user may be the secret.
        return is_token(&user[..colon]).then_some((0, colon));
    }
    // The user name is half of the credentials.
    Some((usize::from(colon == 0), at))
}

/// Whether a user name is a token.
fn is_token(user: &[u8]) -> bool {
    user.len() >= 16
        && random::mixed(user)
        && (random::scattered(user) || (user.len() >= 20 && !values::wordy_with_number(user)))
}

fn host(rest: &[u8]) -> bool {
    let len = bytes::run(rest, 0, 256, |b| bytes::is(b, ALNUM) || matches!(b, b'.' | b'-'));
    len >= 3 && rest[..len].contains(&b'.')
        || len > 0 && matches!(rest.get(len..len + 2), Some([b':', b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority(rest: &str) -> Option<&str> {
        credentials(rest.as_bytes()).map(|(from, to)| &rest[from..to])
    }

    #[test]
    fn finds_user_and_password_in_an_authority() {
        for (rest, expected) in [
            ("bob:sesame@ftp.example.org/", "bob:sesame"),
            (":mypass1@redis:6379/0", "mypass1"),
            ("u:p@ss@host/db", "u:p@ss"),
            ("u:pa/ss1w@host.example.org", "u:pa/ss1w"),
            ("a1b2c3d4e5f6a7b8c9d0:x@git.example.org/", "a1b2c3d4e5f6a7b8c9d0"),
            ("a1b2c3d4e5f6a7b8c9d0:pw@git.example.org/", "a1b2c3d4e5f6a7b8c9d0"),
            ("user:password@host", "user:password"),
        ] {
            assert_eq!(authority(rest), Some(expected), "{rest}");
        }
    }

    #[test]
    fn ports_paths_and_placeholders_are_no_credentials() {
        for rest in [
            "host:8080/path@x",
            "example.org/@scope/name",
            "example.org",
            "user@host",
            "user:PASSWORD@host",
            "user:${PASS}@host",
            "user:<secret>@host",
            "user:{password}@host",
            "[user:password@]host",
        ] {
            assert_eq!(authority(rest), None, "{rest}");
        }
    }

    #[test]
    fn reads_lines_of_pgpass() {
        let found = |text: &'static str| {
            let end = text.find("5432").unwrap() + 4;
            pgpass(text.as_bytes(), end).map(|(from, to)| &text[from..to])
        };
        assert_eq!(found("h:5432:db:ann:sesame"), Some("ann:sesame"));
        assert_eq!(found("h:5432:*:ann:sesame\n"), Some("ann:sesame"));
        for other in ["h:5432:db:ann", "h:5432:db::sesame", "h:5432:db:ann:xx", "h:5432/db"] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn a_bare_pair_needs_a_host_and_a_likely_password() {
        let found = |text: &str| {
            let mut hits = Vec::new();
            bare(text.as_bytes(), &mut hits);
            hits.iter().map(|hit| text[hit.start..hit.end].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("dsn=bob:s3sam3!9@db.example.org:5432/x"), ["bob:s3sam3!9"]);
        assert_eq!(found("\"bob:s3sam3!9@/shop\""), ["bob:s3sam3!9"]);
        for other in [
            "bob:s3sam3!9@/shop",
            "bob:sesame@db.example.org:5432",
            "x/bob:s3sam3!9@db.example.org:5432",
            "bob:s3sam3!9@db",
            "bob@db.example.org:5432",
        ] {
            assert_eq!(found(other), [""; 0], "{other}");
        }
    }
}
