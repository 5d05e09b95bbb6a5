//! Files of settings: where nothing but settings stands, plain words are values.

use super::bytes::{self, ALNUM};
use super::random;
use super::users;
use super::values;

/// Settings that a space separates from their value.
#[rustfmt::skip]
const SETTINGS: [&str; 11] = [
    "requirepass", "masterauth", "bindpw", "auth_pass", "rootpw", "rcon_password", "-storepass",
    "-keypass", "rootbindpw", "ldap_bindpw", "authpass",
];

/// Whether a space separates a name from its value.
pub(super) fn is_setting(name: &[u8]) -> bool {
    SETTINGS.iter().any(|s| s.as_bytes() == name)
}

/// `DB_PASSWORD`, `--password`: names that shells and `.env` files use.
pub(super) fn shell_name(name: &[u8]) -> bool {
    name.starts_with(b"--")
        || (name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase))
}

/// Whether a `.netrc` entry stands before a word.
pub(super) fn netrc(text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(160);
    let before = &text[from..at];
    let has = |word: &[u8]| before.windows(word.len()).any(|b| b == word);
    has(b"machine ") && (has(b"login ") || has(b"user ")) || has(b"default login ")
}

/// Whether a password stands alone on its line, some lines after a user or a host that is set in
/// the same way: a file of settings, where plain words are values.
pub(super) fn in_settings(text: &[u8], start: usize, at: usize, stop: usize) -> bool {
    let line = bytes::line_start(text, start, 40);
    let indent = text[line..start].iter().all(|b| matches!(b, b' ' | b'\t'));
    let ends = matches!(text.get(stop), None | Some(b'\n' | b'\r'));
    // A capital starts the name of a type.
    let word = text.get(at).is_some_and(|b| !b.is_ascii_uppercase());
    if !(indent && ends && word) || line == 0 {
        return false;
    }
    let before = &text[line.saturating_sub(300)..line];
    before.split(|b| *b == b'\n').rev().take(6).any(|line| {
        let line = line.trim_ascii();
        let name =
            bytes::run(line, 0, 32, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.'));
        let sign = line.get(name..).and_then(|rest| rest.trim_ascii().first());
        let name = &line[..name];
        matches!(sign, Some(b'=' | b':'))
            && [
                "user", "username", "login", "host", "hostname", "server", "account", "email",
                "database",
            ]
            .iter()
            .any(|w| {
                name.len() >= w.len()
                    && name[name.len() - w.len()..].eq_ignore_ascii_case(w.as_bytes())
            })
    })
}

/// What keeps a password for itself: `mysql_root_password`, `ansible_become_pass`.
#[rustfmt::skip]
const SYSTEMS: [&str; 22] = [
    "root", "admin", "db", "database", "mysql", "mariadb", "postgres", "postgresql", "mongo", "redis", "ansible",
    "become", "ssh", "sudo", "smtp", "mail", "ldap", "ftp", "vault", "keystore", "truststore", "master",
];

/// Whether a plain word stands alone after the name of a machine's password: `db_password: word`.
pub(super) fn kept(text: &[u8], start: usize, end: usize, at: usize, stop: usize) -> bool {
    let line = bytes::line_start(text, start, 40);
    let indent = text[line..start].iter().all(|b| matches!(b, b' ' | b'\t'));
    let ends = matches!(text.get(stop), None | Some(b'\n' | b'\r'));
    let mut words = text[start..end].split(|b| matches!(b, b'_' | b'-' | b'.'));
    let system = words.clone().count() >= 2
        && words.any(|word| SYSTEMS.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes())));
    let value = &text[at..stop.max(at)];
    indent && ends && system && value.len() >= 5 && value.iter().all(u8::is_ascii_lowercase)
}

/// Whether a user is named before a password on the same line, with nothing but spaces between:
/// `user=ann password=word`, `--user ann --password word`.
pub(super) fn after_user(text: &[u8], start: usize) -> bool {
    let line = &text[bytes::line_start(text, start, 160)..start];
    let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).rev();
    let plain = |word: &[u8]| {
        !word.is_empty()
            && word
                .iter()
                .all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b'@' | b'\\'))
    };
    let Some(last) = words.next() else {
        return false;
    };
    match last.iter().position(|b| matches!(b, b'=' | b':')) {
        Some(sign) => users::is_name(&last[..sign]) && plain(&last[sign + 1..]),
        // `--user ann`, `login: ann`
        None => {
            let name = words.next().unwrap_or_default();
            let flag = matches!(name, b"-u" | b"-U") || name.starts_with(b"--");
            let told = name.strip_suffix(b":").or_else(|| flag.then_some(name)).unwrap_or_default();
            // `--username and --password`
            let prose = matches!(last, b"and" | b"or" | b"with" | b"as");
            plain(last) && !prose && (matches!(name, b"-u" | b"-U") || users::is_name(told))
        }
    }
}

/// Whether a word in a sentence can only be a password.
pub(super) fn in_prose(literal: &[u8]) -> bool {
    (6..=40).contains(&literal.len())
        && random::mixed(literal)
        && (!values::wordy_with_number(literal) || values::word_and_number(literal))
}

/// Whether words go on after a value.
pub(super) fn sentence(text: &[u8], at: usize) -> bool {
    match text.get(at..) {
        Some([b' ', b, ..]) => b.is_ascii_lowercase(),
        Some(_) | None => false,
    }
}
