//! Configuration files and command lines, where a plain word can be a value.

use super::bytes::{self, ALNUM};
use super::random;
use super::usernames;
use super::values;

/// Settings whose value follows a space.
#[rustfmt::skip]
const SETTINGS: [&str; 13] = [
    "requirepass", "masterauth", "bindpw", "auth_pass", "rootpw", "rcon_password", "-storepass",
    "-keypass", "rootbindpw", "ldap_bindpw", "authpass",
    "insecure-password", "--requirepass",
];

pub(super) fn is_setting(name: &[u8]) -> bool {
    SETTINGS.iter().any(|s| s.as_bytes() == name)
}

/// `DB_PASSWORD`, `--password`: names in shells and `.env` files.
pub(super) fn shell_name(name: &[u8]) -> bool {
    name.starts_with(b"--")
        || (name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase))
}

/// Whether the name follows a command that sets a variable: `ENV NAME value`.
pub(super) fn after_setenv(text: &[u8], start: usize) -> bool {
    let line = &text[bytes::line_start(text, start, 16)..start];
    let word = line.trim_ascii();
    line.ends_with(b" ") && ["ENV", "setenv", "SetEnv", "setx"].iter().any(|w| word == w.as_bytes())
}

/// Whether the name is that of a credential of a package registry in `.npmrc`: `//registry.example.com/:_auth=…`. Nothing
/// else is written in that way, so its value is one whatever it looks like.
pub(super) fn of_registry(text: &[u8], start: usize, end: usize) -> bool {
    let is_name = |name: &[u8]| [&b"_auth"[..], b"_authToken", b"_password"].contains(&name);
    let from = start.saturating_sub(usize::from(text.get(start) != Some(&b'_')));
    text[..from].ends_with(b"/:") && text.get(from..end).is_some_and(is_name)
}

/// Whether a `.netrc` entry precedes the word.
pub(super) fn netrc(text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(160);
    let before = &text[from..at];
    let has = |word: &[u8]| before.windows(word.len()).any(|b| b == word);
    has(b"machine ") && (has(b"login ") || has(b"user "))
        || has(b"\ndefault login ")
        || from == 0 && before.starts_with(b"default login ")
}

/// Whether a password is alone on its line, a few lines after a user or host set in the same way: a
/// configuration file, where plain words are values.
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
        let operator = line.get(name..).and_then(|rest| rest.trim_ascii().first());
        let name = &line[..name];
        matches!(operator, Some(b'=' | b':'))
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

/// Systems in names of machine passwords: `mysql_root_password`, `ansible_become_pass`.
#[rustfmt::skip]
const SYSTEMS: [&str; 22] = [
    "root", "admin", "db", "database", "mysql", "mariadb", "postgres", "postgresql", "mongo", "redis", "ansible",
    "become", "ssh", "sudo", "smtp", "mail", "ldap", "ftp", "vault", "keystore", "truststore", "master",
];

/// Whether the name is that of a machine password.
pub(super) fn of_system(name: &[u8]) -> bool {
    let mut words = name.split(|b| matches!(b, b'_' | b'-' | b'.'));
    words.clone().count() >= 2
        && words.any(|word| SYSTEMS.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes())))
}

/// Whether the line consists of a machine password's name and a plain word: `db_password: word`.
pub(super) fn is_system_line(
    text: &[u8],
    start: usize,
    end: usize,
    at: usize,
    stop: usize,
) -> bool {
    let line = bytes::line_start(text, start, 40);
    let indent = text[line..start].iter().all(|b| matches!(b, b' ' | b'\t'));
    let ends = matches!(text.get(stop), None | Some(b'\n' | b'\r'));
    let value = &text[at..stop.max(at)];
    indent
        && ends
        && of_system(&text[start..end])
        && value.len() >= 5
        && value.iter().all(u8::is_ascii_lowercase)
}

/// The third field of a `chap-secrets` line: `ann * "…" *`.
pub(super) fn chap_secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    (start == 0 || text[start - 1] == b'\n').then_some(())?;
    let server = bytes::run(text, end + 1, 32, |b| bytes::is(b, ALNUM) || b == b'*');
    let at = end + 1 + server + 1;
    (server > 0 && text.get(at - 1) == Some(&b' ')).then_some(())?;
    let quote = bytes::run(text, at, 1, |b| b == b'"');
    let len = bytes::run(text, at + quote, 64, |b| !b.is_ascii_whitespace() && b != b'"');
    let (from, to) = (at + quote, at + quote + len);
    let rest = text.get(to + quote..)?;
    let any = matches!(rest, [b' ', b'*'] | [b' ', b'*', b'\n' | b'\r', ..]);
    let value = text.get(from..to)?;
    (any && (in_prose(value) || values::special(value) && random::mixed(value)))
        .then_some((from, to))
}

/// Words of sentences about flags.
#[rustfmt::skip]
const PROSE: [&str; 18] = [
    "the", "and", "or", "a", "an", "with", "via", "use", "using", "to", "is", "if", "option", "options", "flag",
    "flags", "argument", "prompt",
];

/// Whether a plain word is the value of the flag at `start`: the line has other flags and none of the
/// words of a sentence.
pub(super) fn on_command_line(text: &[u8], start: usize, at: usize, stop: usize) -> bool {
    let plain = |word: &[u8]| !PROSE.iter().any(|p| word.eq_ignore_ascii_case(p.as_bytes()));
    let line = &text[bytes::line_start(text, start, 160)..start];
    let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
    let first = words.clone().next().is_some_and(|w| w[0].is_ascii_lowercase() || w[0] == b'$');
    let flags = words.clone().any(|w| w[0] == b'-')
        || matches!(text.get(stop..stop + 2), Some([b' ', b'-']));
    let value = &text[at..stop.max(at)];
    let rest = &text[stop.min(text.len())..text.len().min(stop + 16)];
    let rest = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let next = rest.split(|b| b.is_ascii_whitespace()).find(|w| !w.is_empty()).unwrap_or_default();
    first
        && flags
        && value.len() >= 4
        && value.iter().all(u8::is_ascii_lowercase)
        && plain(value)
        && plain(next)
        && words.all(plain)
}

/// Whether a user immediately precedes the password on its line: `user=ann password=word`,
/// `--user ann --password word`.
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
        Some(at) => usernames::is_name(&last[..at]) && plain(&last[at + 1..]),
        // `--user ann`, `login: ann`
        None => {
            let name = words.next().unwrap_or_default();
            let flag = matches!(name, b"-u" | b"-U") || name.starts_with(b"--");
            let key = name.strip_suffix(b":").or_else(|| flag.then_some(name)).unwrap_or_default();
            // `--username and --password`
            let prose = matches!(last, b"and" | b"or" | b"with" | b"as");
            plain(last) && !prose && (matches!(name, b"-u" | b"-U") || usernames::is_name(key))
        }
    }
}

/// Whether a word in a sentence is unmistakably a password.
pub(super) fn in_prose(literal: &[u8]) -> bool {
    (6..=40).contains(&literal.len())
        && random::mixed(literal)
        && (!values::wordy_with_number(literal) || values::made_up(literal))
}

/// Whether the sentence continues after a value.
pub(super) fn continues_sentence(text: &[u8], at: usize) -> bool {
    match text.get(at..) {
        Some([b' ', b, ..]) => b.is_ascii_lowercase(),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_shells_are_upper_case_or_flags() {
        for name in ["DB_PASSWORD", "--password", "X"] {
            assert!(shell_name(name.as_bytes()), "{name}");
        }
        for name in ["password", "dbPassword", "-p", "_", "1"] {
            assert!(!shell_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn machine_passwords_name_a_system() {
        for name in ["mysql_root_password", "ansible_become_pass", "DB-PASSWORD", "smtp.password"] {
            assert!(of_system(name.as_bytes()), "{name}");
        }
        for name in ["password", "db", "user_password", "dbpassword"] {
            assert!(!of_system(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_user_directly_before_counts() {
        for line in ["user=ann ", "login: ann ", "tool --user ann ", "x -u ann ", "username:ann "] {
            assert!(after_user(line.as_bytes(), line.len()), "{line}");
        }
        for line in ["", "ann ", "host=h ", "user=ann host=h ", "--username and ", "user=$(x) "] {
            assert!(!after_user(line.as_bytes(), line.len()), "{line}");
        }
        let lines = "user=ann\nx ";
        assert!(!after_user(lines.as_bytes(), lines.len()));
    }

    #[test]
    fn netrc_entries_have_a_machine_and_a_login() {
        for text in ["machine h login ann ", "default login ann ", "x\ndefault login ann "] {
            assert!(netrc(text.as_bytes(), text.len()), "{text}");
        }
        for text in ["machine h ", "login ann ", "x default login ann "] {
            assert!(!netrc(text.as_bytes(), text.len()), "{text}");
        }
    }

    #[test]
    fn environment_commands_set_the_next_word() {
        for text in ["ENV ", "  setenv ", "x\nSetEnv "] {
            assert!(after_setenv(text.as_bytes(), text.len()), "{text}");
        }
        for text in ["ENV", "env ", "RUN ENV "] {
            assert!(!after_setenv(text.as_bytes(), text.len()), "{text}");
        }
    }

    #[test]
    fn a_plain_word_is_a_value_in_a_configuration_file() {
        let inside = |text: &str| {
            let start = text.rfind("password").unwrap();
            let at = text.rfind("sesame").unwrap();
            in_settings(text.as_bytes(), start, at, at + 6)
        };
        assert!(inside("user: ann\npassword: sesame\n"));
        assert!(inside("[db]\nhost = h\nport = 1\n  password = sesame"));
        assert!(!inside("password: sesame"));
        assert!(!inside("x: 1\npassword: sesame"));
        assert!(!inside("user: ann\nthe password: sesame"));
        assert!(!inside("user: ann\npassword: sesame oil"));
    }

    #[test]
    fn a_flag_takes_a_word_on_a_command_line_but_not_in_a_sentence() {
        let given = |text: &str| {
            let start = text.find("--password").unwrap();
            let at = start + 11;
            let stop = at + text[at..].find(' ').unwrap_or(text.len() - at);
            on_command_line(text.as_bytes(), start, at, stop)
        };
        assert!(given("tool -v --password sesame"));
        assert!(given("$ tool --password sesame --yes"));
        assert!(!given("tool --password sesame"));
        assert!(!given("Use -v and --password sesame"));
        assert!(!given("tool -v --password with care"));
        assert!(!given("tool -v --password abc"));
        assert!(!given("tool -v --password Sesame"));
    }

    #[test]
    fn unmistakable_words_mix_letters_and_digits() {
        for word in ["Pepper!2801", "dragon4711", "k9Zx2w"] {
            assert!(in_prose(word.as_bytes()), "{word}");
        }
        for word in ["sesame", "item2", "a1b2c", "version3", &"a1".repeat(21)] {
            assert!(!in_prose(word.as_bytes()), "{word}");
        }
        assert!(continues_sentence(b"x and", 1) && !continues_sentence(b"x And", 1));
        assert!(!continues_sentence(b"x", 1) && !continues_sentence(b"x  y", 1));
    }
}
