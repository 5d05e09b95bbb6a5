//! Passwords that everybody knows. Examples are full of them, and somewhere each of them is in use.

use super::allowlist;
use super::bytes::{self, ALNUM};
use super::keys::Key;
use super::settings::shell_name;
use super::values::Form;

/// In lower case: `PASSWORD` and `Password` are names and labels.
const KNOWN: [&str; 10] = [
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "changeme",
    "change_me",
    "change-me",
    "example",
    "replaceme",
];

/// Names of the other settings in a connection string.
#[rustfmt::skip]
const CONNECTION: [&str; 22] = [
    "server", "host", "hostname", "data source", "datasource", "user id", "userid", "user", "uid", "username",
    "database", "initial catalog", "provider", "driver", "port", "address", "addr", "accountname", "endpoint",
    "defaultendpointsprotocol", "sharedaccesskeyname", "databasename",
];

/// How far back a connection string is read.
const BACK: usize = 240;

/// Whether a value is a known password.
pub(super) fn is_known(value: &[u8]) -> bool {
    KNOWN.iter().any(|known| known.as_bytes() == value)
}

/// Whether a value only shows where the password would be.
pub(super) fn is_shown(value: &[u8]) -> bool {
    !is_known(value) && allowlist::placeholder(value)
}

/// Whether a known password can be the value of such a name.
pub(super) fn fits(key: Key, form: Form, value: &[u8]) -> bool {
    let literal = matches!(form, Form::Quoted | Form::Plain);
    let named = match key {
        Key::Password => true,
        Key::Secret => !value.starts_with(b"p") && value != b"example",
        Key::Token | Key::Weak | Key::Id => false,
    };
    literal && named
}

/// Whether a known password is given to the name at `start..end`, rather than the name itself again:
/// `PASSWORD = "password"` declares a constant, and `password=password` passes a variable on.
pub(super) fn is_given(
    text: &[u8],
    (start, end): (usize, usize),
    (at, stop): (usize, usize),
    form: Form,
) -> bool {
    let (name, between) = (&text[start..end], &text[end..at]);
    let colon = between.contains(&b':');
    let quoted = matches!(text.get(end), Some(b'"' | b'\''));
    let tight = text.get(end) == Some(&b'=');
    let capital = name.first().is_some_and(u8::is_ascii_uppercase);
    match form {
        Form::Quoted => !capital || quoted && colon || tight || !between.contains(&b'=') && !colon,
        Form::Plain => {
            let separated = start.checked_sub(1).map(|at| text[at]);
            matches!(separated, Some(b';' | b'&' | b'?'))
                || shell_name(name) && (tight || name.starts_with(b"-"))
                || name.iter().filter(|b| **b == b'.').count() >= 2
                || colon && !name.ends_with(&text[at..stop])
        }
        Form::Compared | Form::Loose => false,
    }
}

/// Whether the value `at..stop` of the name that begins at `start` is a part of a connection string, where
/// every word is literal: `Server=db;User Id=me;Password=myPassword;`.
pub(super) fn in_connection(text: &[u8], start: usize, (at, stop): (usize, usize)) -> bool {
    let ends = matches!(text.get(stop), None | Some(b';' | b'"' | b'\'' | b'\n' | b'\r' | b'<'));
    let value = &text[at..stop.max(at)];
    let word =
        value.len() >= 3 && value.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-'));
    let list = &text
        [start - bytes::run_back(text, start, BACK, |b| !matches!(b, b'"' | b'\'' | b'\n'))..start];
    let separated = list.trim_ascii_end().ends_with(b";");
    separated && ends && word && list.split(|b| *b == b';').any(is_setting_of_connection)
}

fn is_setting_of_connection(pair: &[u8]) -> bool {
    let Some(equals) = pair.iter().position(|b| *b == b'=') else { return false };
    // `jdbc:sqlserver://host:1433` or a name may precede the first pair.
    let name = pair[..equals].trim_ascii();
    CONNECTION.iter().any(|setting| name.eq_ignore_ascii_case(setting.as_bytes()))
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn known_passwords_are_hidden_where_they_are_values() {
        for text in [
            "password: \"«password»\"",
            "password = '«secret»'",
            "db.connect(password=\"«changeme»\")",
            "MYSQL_ROOT_PASSWORD=«example»",
            "spring.datasource.password=«password»",
            "<password>«secret»</password>",
            "{\"Password\": \"«password»\"}",
            "session({ secret: '«secret»' })",
            "postgres://«user:password»@db.example.org/x",
            "Server=h;Port=5432;User Id=«username»;Password=«secret»;Database=x",
            "Provider=SQLNCLI;Server=h;Uid=«myUsername»;Pwd=«myPassword»;",
        ] {
            let plain = text.replace(['«', '»'], "");
            let mut marked = String::new();
            let mut at = 0;
            for finding in Redactor::default().find(&plain) {
                marked.push_str(&plain[at..finding.start]);
                marked.extend(["«", &plain[finding.start..finding.end], "»"]);
                at = finding.end;
            }
            assert_eq!(marked + &plain[at..], text);
        }
    }

    #[test]
    fn names_types_and_variables_are_kept() {
        for text in [
            "password: string",
            "password = getPassword()",
            "token: Option<String>",
            "password: password",
            "login(user, password=password)",
            "self.password = password",
            "public static final String PASSWORD = \"password\";",
            "enum Kind { Password = 'password', Secret = 'secret' }",
            "<input type=\"password\" name=\"password\" id=\"password\">",
            "if (field === \"password\") {",
            "\"password\": \"Password\"",
            "required: [\"secret\", \"password\"]",
            "type: \"password\"",
            "https://USERNAME:PASSWORD@host.example.org",
            "https://user:${PASSWORD}@host.example.org",
            "https://user:{{ password }}@host.example.org",
            "a = 1;password=myPassword;",
            "Pass the secret to the password field.",
        ] {
            assert_eq!(Redactor::default().clean(text).as_str(), text);
        }
    }
}
