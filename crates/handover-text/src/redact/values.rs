//! Values of assignments: secrets, placeholders, expressions of a program.

use super::bytes::{self, ALNUM, DIGIT, LOWER, UPPER};
use super::index::{Index, Side};
use super::keys::{self, Key};
use super::random;

/// How a value stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Between quotes or tags: a literal.
    Quoted,
    /// As in a shell, an `.env` file, a query string: everything after the sign is the value.
    Plain,
    /// Unquoted where a program or a sentence may stand too.
    Loose,
}

/// Whether a value under a telling name is a secret.
pub(super) fn is_secret(key: Key, form: Form, value: &[u8]) -> bool {
    if placeholder(value) || public(value) || regex(value) {
        return false;
    }
    if form != Form::Quoted && (expression(value) || number(value)) {
        return false;
    }
    match key {
        Key::Password => password(form, value),
        Key::Secret => secret(form, value),
        Key::Token => weak(form, value) || token(form, value),
        Key::Weak => weak(form, value),
        Key::Id => id(form, value),
    }
}

/// Invented tokens (`abcdef123456`) are less random than real ones.
fn token(form: Form, value: &[u8]) -> bool {
    let one_word = value.iter().all(|b| bytes::is(*b, ALNUM));
    form != Form::Loose
        && one_word
        && value.len() >= 12
        && random::mixed(value)
        && !wordy_with_number(value)
}

/// Ids are public unless they look like a key.
fn id(form: Form, value: &[u8]) -> bool {
    !random::uuid(value) && !random::hex(value) && value.len() >= 12 && weak(form, value)
}

fn password(form: Form, value: &[u8]) -> bool {
    if names_a_password(value) || value.len() > 256 {
        return false;
    }
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    match form {
        Form::Quoted => value.len() >= 3 && !spaced && !reference(value) && !version(value),
        Form::Plain => value.len() >= 3 && !reference(value),
        Form::Loose => {
            value.len() >= 4 && (random::mixed(value) || special(value)) && !reference(value)
        }
    }
}

/// `1.302103`
fn version(value: &[u8]) -> bool {
    value.contains(&b'.') && value.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

/// `db_password`, `userPassword`, `PASSWORD`: a name again, not a value. `thisismypassword` is one.
fn names_a_password(value: &[u8]) -> bool {
    let joined = value.iter().any(|b| matches!(b, b'_' | b'-' | b'.' | b':'))
        || value[1..].iter().any(u8::is_ascii_uppercase)
        || value.len() <= 9;
    let name = value.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b':'));
    joined && name && !random::mixed(value) && keys::classify(value).is_some()
}

fn secret(form: Form, value: &[u8]) -> bool {
    if value.iter().any(u8::is_ascii_whitespace) || reference(value) {
        return false;
    }
    let random = value.len() >= 12 && random::scattered(value);
    match form {
        Form::Quoted => {
            random || (value.len() >= 6 && !random::wordy(value) && !wordy_with_number(value))
        }
        Form::Plain => random || (value.len() >= 6 && !random::wordy(value)),
        Form::Loose => {
            random || (value.len() >= 8 && random::mixed(value) && !wordy_with_number(value))
        }
    }
}

fn weak(form: Form, value: &[u8]) -> bool {
    let least = match form {
        Form::Quoted => 8,
        Form::Plain | Form::Loose => 10,
    };
    if value.len() < least || value.iter().any(u8::is_ascii_whitespace) || reference(value) {
        return false;
    }
    let digits = value.len() >= 16 && value.iter().all(u8::is_ascii_digit);
    let dense = random::mixed(value)
        && random::scattered(value)
        && !wordy_with_number(value)
        && random::longest_word(value) >= 4;
    let long = form != Form::Loose
        && value.len() >= 20
        && random::mixed(value)
        && random::longest_word(value) >= 16
        && random::changes(value) >= 4
        && random::efficiency(value) < 3.0;
    digits || random::uuid(value) || dense || long
}

/// `item_2`, `sha256`, `utf8-decoder-v3`: words with a number at the end of some.
pub(super) fn wordy_with_number(value: &[u8]) -> bool {
    let name =
        |b: &u8| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b' ');
    value.iter().all(name)
        && value.split(|b| !bytes::is(*b, ALNUM)).all(|part| {
            let digits = part.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let letters = &part[..part.len() - digits];
            let one_case =
                random::classes(letters) & (UPPER | LOWER) != UPPER | LOWER || camel(letters);
            letters.iter().all(u8::is_ascii_alphabetic)
                && one_case
                && digits <= 4
                && !(letters.len() >= 8 && random::scattered(letters))
        })
}

/// `apiKey`, not `skWu`: words of three letters and more.
fn camel(letters: &[u8]) -> bool {
    let upper = letters.iter().filter(|b| b.is_ascii_uppercase()).count();
    let words = upper + usize::from(letters.first().is_some_and(u8::is_ascii_lowercase));
    words * 3 <= letters.len()
}

/// Paths, addresses and names of other places: they lead to a secret, they are none.
fn reference(value: &[u8]) -> bool {
    let slashes = value.iter().filter(|b| **b == b'/').count();
    let rooted = value.starts_with(b"/")
        || value.starts_with(b"./")
        || value.starts_with(b"~/")
        || value.starts_with(b"../");
    (rooted && slashes >= 1 && !random::scattered(value))
        || bytes::contains_ignore_case(value, b"://")
        || value.starts_with(b"arn:")
        || value.starts_with(b"data:")
        || value.starts_with(b"op://")
        || value.starts_with(b"vault:")
        || value.starts_with(b"projects/")
        || (value.contains(&b'@') && email(value))
}

/// `someone@example.com`
pub(super) fn email(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|b| *b == b'@') else {
        return false;
    };
    let (local, host) = (&value[..at], &value[at + 1..]);
    let plain = |s: &[u8]| {
        s.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'.' | b'-' | b'_' | b'+' | b'%'))
    };
    let dot = host.iter().rposition(|b| *b == b'.');
    !local.is_empty()
        && plain(local)
        && plain(host)
        && dot.is_some_and(|dot| {
            let top = &host[dot + 1..];
            (2..=12).contains(&top.len()) && top.iter().all(u8::is_ascii_alphabetic)
        })
}

fn special(value: &[u8]) -> bool {
    value
        .iter()
        .any(|b| matches!(b, b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'*' | b'?' | b'+' | b'~'))
        && value.iter().filter(|b| b.is_ascii_alphanumeric()).count() >= 4
}

/// An unquoted value that is a piece of program, not a literal.
fn expression(value: &[u8]) -> bool {
    let Some(first) = value.first() else {
        return true;
    };
    if matches!(
        first,
        b'&' | b'*'
            | b'('
            | b'['
            | b'{'
            | b'|'
            | b'<'
            | b'>'
            | b'\\'
            | b','
            | b';'
            | b')'
            | b'='
            | b':'
    ) {
        return true;
    }
    if value.iter().any(|b| matches!(b, b'(' | b'[' | b'{' | b'<' | b'>' | b'|' | b'`'))
        || has(value, b"::")
        || has(value, b"->")
        || has(value, b"=>")
    {
        return true;
    }
    let constant = value.contains(&b'_')
        && value[0].is_ascii_uppercase()
        && value.iter().all(|b| bytes::is(*b, UPPER | DIGIT) || *b == b'_');
    if constant && !random::scattered(value) {
        return true;
    }
    // `self.token`, `config.db.password2`: names joined by dots.
    value.contains(&b'.')
        && value.split(|b| *b == b'.').all(|part| {
            part.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
                && part.iter().all(|b| bytes::is(*b, ALNUM) || *b == b'_')
                && (random::wordy(part)
                    || wordy_with_number(part)
                    || keys::classify(part).is_some())
        })
}

/// Numbers, dates and types of a program: `0x00000002`, `1979-05-27T00:32:00`, `__u32`.
fn number(value: &[u8]) -> bool {
    let date = matches!(
        value,
        [
            b'0'..=b'9',
            b'0'..=b'9',
            b'0'..=b'9',
            b'0'..=b'9',
            b'-',
            b'0'..=b'9',
            b'0'..=b'9',
            b'-',
            b'0'..=b'9',
            b'0'..=b'9',
            ..
        ]
    );
    let hex = value.len() <= 18 && (value.starts_with(b"0x") || value.starts_with(b"0X"));
    let start = value.iter().take_while(|b| **b == b'_').count();
    let kind = match &value[start..] {
        [b'u' | b'i' | b'f' | b's', size @ ..] => size,
        _ => b"x",
    };
    let kind = kind.strip_prefix(b"int").unwrap_or(kind);
    let kind = kind.strip_suffix(b"_t").unwrap_or(kind);
    let digits = value.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let suffixed = digits > 0
        && digits < value.len()
        && matches!(
            &value[digits..],
            b"u8"
                | b"u16"
                | b"u32"
                | b"u64"
                | b"u128"
                | b"usize"
                | b"i8"
                | b"i16"
                | b"i32"
                | b"i64"
                | b"i128"
                | b"isize"
                | b"L"
                | b"UL"
                | b"f32"
                | b"f64"
        );
    date || hex || suffixed || matches!(kind, b"8" | b"16" | b"32" | b"64" | b"128")
}

/// A regular expression that looks for secrets is none.
fn regex(value: &[u8]) -> bool {
    value.starts_with(b"^")
        || has(value, b"[^")
        || has(value, b"[a-z")
        || has(value, b"[A-Z")
        || has(value, b"(?")
        || value.windows(2).any(|w| {
            w[0] == b'\\'
                && matches!(
                    w[1],
                    b'w' | b'd' | b's' | b'W' | b'D' | b'S' | b'b' | b'B' | b'u' | b'x' | b'p'
                )
        })
}

fn has(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len()).any(|w| w == needle)
}

/// Words that stand where a value would.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "fail", "failed", "correct", "incorrect", "null", "none", "nil", "true", "false", "undefined",
    "string", "str", "password", "passwd", "pass", "secret", "token", "key", "required",
    "optional", "yes", "no", "on", "off", "default", "empty", "unset", "hidden", "masked",
    "enabled", "disabled", "unknown", "n/a", "int", "bytes", "bool", "boolean", "text", "any",
    "object", "number", "type", "value", "redacted", "removed", "todo", "tbd", "env", "prompt",
    "ask", "self", "this", "some", "inherit", "auto", "plain", "basic", "bearer", "invalid",
    "missing", "wrong", "changed", "plaintext", "username", "user", "varchar", "not", "the", "is",
    "and", "or", "for", "set", "new", "old", "field", "input",
];

/// Parts of a value that show that it is made up.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "your_", "your-", "yourp", "yours", "yourt", "yourk", "your ", "<your", "my_secret",
    "placeholder", "changeme", "change_me", "change-me", "redacted", "xxxx", "****", "....",
    "example", "insert_", "replace_", "replace-", "replaceme", "_here", "-here", "todo", "${",
    "{{", "}}", "%(", "%s", "%d", "%0", "&lt;", "&quot", "$(", "#{", "<%", "secrets.",
    "process.env", "getenv", "os.environ", "env.", "%env", "•••", "…",
];

static MADE_UP: Index<{ PARTS.len() }> = Index::new(&[PARTS], Side::Start);

/// Whether a value only stands where a secret would.
pub(super) fn placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return true;
    };
    let bracketed = matches!(
        (first, last),
        (b'<', b'>') | (b'[', b']') | (b'{', b'}') | (b'%', b'%') | (b'_', b'_')
    );
    let variable = matches!(first, b'$')
        && value.len() > 1
        && value[1..].iter().all(|b| bytes::is(*b, ALNUM) || *b == b'_')
        && (value[1].is_ascii_uppercase()
            || value[1] == b'_'
            || random::wordy(&value[1..])
            || value.len() <= 3);
    let same = value.iter().all(|b| b == first);
    let marks = value
        .iter()
        .all(|b| matches!(b, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'#' | b'?' | b'=' | b'0'));
    let format = value.len() <= 4 && *first == b'%';
    bracketed
        || variable
        || same
        || marks
        || format
        || WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
        || (value.len() <= 200 && MADE_UP.inside(value))
}

/// Starts of public keys in base64 of DER.
const PUBLIC_DER: &[&[u8]] = &[b"MFkwEwYH", b"MIIBIjAN", b"MIICIjAN", b"MCowBQYD", b"MIGfMA0G"];

/// Hashes and keys that are published: `sha256-…`, `ssh-rsa …`.
fn public(value: &[u8]) -> bool {
    const STARTS: &[&str] = &[
        "sha256-",
        "sha256:",
        "sha512-",
        "sha512:",
        "sha1-",
        "sha384-",
        "h1:",
        "md5:",
        "ssh-rsa",
        "ssh-ed25519",
        "ecdsa-",
    ];
    STARTS
        .iter()
        .any(|s| value.get(..s.len()).is_some_and(|v| v.eq_ignore_ascii_case(s.as_bytes())))
        || PUBLIC_DER.iter().any(|s| value.starts_with(s))
}

/// Whether a JSON value under a telling key is a secret: it is a literal, and alone.
pub(super) fn is_json_secret(key: Key, value: &[u8]) -> bool {
    if placeholder(value) || public(value) {
        return false;
    }
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    match key {
        Key::Password => !reference(value) && (!spaced || !random::wordy(value)),
        Key::Secret => {
            let name = value.len() > 4 && random::wordy(value) && keys::classify(value).is_some();
            !spaced && !reference(value) && !name
        }
        Key::Token => weak(Form::Quoted, value) || token(Form::Quoted, value),
        Key::Weak => weak(Form::Quoted, value),
        Key::Id => id(Form::Quoted, value),
    }
}

/// Whether a number under a telling key is a secret: a PIN, not a limit.
pub(super) fn is_json_number_secret(key: Key, digits: &[u8]) -> bool {
    match key {
        Key::Password => digits.len() >= 3,
        Key::Secret => digits.len() >= 6,
        Key::Id => false,
        Key::Token | Key::Weak => digits.len() >= 16 && digits.iter().all(|b| bytes::is(*b, DIGIT)),
    }
}
