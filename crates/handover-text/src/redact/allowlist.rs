//! Values that are no secrets although they are where one would be: placeholders, code, references, and
//! what is public anyway.

use super::bytes::{self, ALNUM, DIGIT, UPPER};
use super::index::{Index, Side};
use super::keys;
use super::random;
use super::values::wordy_with_number;

/// Version numbers: `1.302103`
pub(super) fn version(value: &[u8]) -> bool {
    value.contains(&b'.') && value.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

/// Paths, URLs and names of secrets: they refer to a secret without being one.
pub(super) fn reference(value: &[u8]) -> bool {
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

/// An unquoted value that is code, not a literal.
pub(super) fn expression(value: &[u8]) -> bool {
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
            | b'?'
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
                    || part.len() <= 8
                    || keys::classify(part).is_some())
        })
}

/// Numbers, dates and type names: `0x00000002`, `1979-05-27T00:32:00`, `__u32`.
pub(super) fn number(value: &[u8]) -> bool {
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
    let hex = match value {
        [b'0', b'x' | b'X', digits @ ..] => {
            digits.iter().take_while(|b| b.is_ascii_hexdigit() || **b == b'_').count() <= 16
        }
        _ => false,
    };
    let start = value.iter().take_while(|b| **b == b'_').count();
    let kind = match &value[start..] {
        [b'u' | b'i' | b'f' | b's', size @ ..] => size,
        _ => b"x",
    };
    let kind = kind.strip_prefix(b"int").unwrap_or(kind);
    let kind = kind.strip_suffix(b"_t").unwrap_or(kind);
    let value = value.strip_prefix(b"-").unwrap_or(value);
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

/// Prefixes of validation rules for form fields.
const RULES: [&[u8]; 4] = [b"required|", b"nullable|", b"string|", b"sometimes|"];

/// `!vault`, `!Ref`: YAML tags that replace a value.
pub(super) fn tag(value: &[u8]) -> bool {
    const TAGS: [&str; 9] =
        ["vault", "ref", "sub", "secret", "env", "getatt", "reference", "importvalue", "join"];
    matches!(value, [b'!', tag @ ..] if TAGS.iter().any(|t| tag.eq_ignore_ascii_case(t.as_bytes())))
}

/// Regular expressions, which may well search for secrets.
pub(super) fn regex(value: &[u8]) -> bool {
    (value.starts_with(b"^")
        && value.iter().any(|b| matches!(b, b'[' | b'(' | b'.' | b'\\' | b'|')))
        || (value.starts_with(b"^") && value.ends_with(b"$"))
        || has(value, b"[^")
        || has(value, b"[a-z")
        || has(value, b"[A-Z")
        || has(value, b"(?")
        || RULES.iter().any(|rule| value.starts_with(rule))
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

/// Words used in place of a value.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "example", "fail", "failed", "correct", "incorrect", "null", "none", "nil", "true", "false",
    "undefined", "string", "str", "password", "passwd", "pass", "secret", "token", "key",
    "required", "optional", "yes", "no", "on", "off", "default", "empty", "unset", "hidden",
    "masked", "enabled", "disabled", "unknown", "n/a", "int", "bytes", "bool", "boolean", "text",
    "any", "object", "number", "type", "value", "redacted", "removed", "todo", "tbd", "env",
    "prompt", "ask", "self", "this", "some", "inherit", "auto", "plain", "basic", "bearer",
    "invalid", "missing", "wrong", "changed", "plaintext", "username", "user", "varchar", "not",
    "the", "is", "and", "or", "for", "set", "new", "old", "field", "input", "define", "undef",
];

/// Substrings that mark a value as a mask or an expression.
#[rustfmt::skip]
const NOT_A_VALUE: &[&str] = &[
    "<your", "redacted", "xxxx", "****", "....", "&lt;", "&quot", "$(", "#{",
    "<%", "secrets.", "process.env", "getenv", "os.environ", "env.", "%env",
    "•••", "…",
];

/// Substrings that mark a value as a placeholder, unless the rest of it is random.
#[rustfmt::skip]
const MADE_UP: &[&str] = &[
    "your_", "your-", "yourp", "yours", "yourt", "yourk", "your ", "my_secret", "placeholder",
    "changeme", "change_me", "change-me", "example_", "example-", "_example", "-example",
    "example.com", "insert_", "replace_", "replace-", "replaceme", "_here", "-here", "todo",
];

/// A mixed word of this length is too long to be part of a placeholder.
const RANDOM_WORD: usize = 10;

static NOT_VALUES: Index<{ NOT_A_VALUE.len() }> = Index::new(&[NOT_A_VALUE], Side::Start);
static MADE_UPS: Index<{ MADE_UP.len() }> = Index::new(&[MADE_UP], Side::Start);

/// Whether a value is a placeholder for a secret.
pub(super) fn placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return true;
    };
    let bracketed = matches!(
        (first, last),
        (b'<', b'>') | (b'[', b']') | (b'{', b'}') | (b'%', b'%') | (b'_', b'_') | (b'@', b'@')
    ) && !kept_in_braces(value);
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
    let format = value.len() <= 4 && *first == b'%'
        || value.contains(&b'%')
            && value.windows(2).enumerate().any(|(at, w)| {
                // `%s` ends a word; in a random string it does not.
                matches!(w, b"%s" | b"%d" | b"%0")
                    && value.get(at + 2).is_none_or(|b| !b.is_ascii_alphanumeric() || w[1] == b'0')
            });
    bracketed
        || variable
        || same
        || marks
        || format
        || interpolated(value)
        || WORDS.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
        || (value.len() <= 200 && (NOT_VALUES.inside(value) || template(value)))
        || (value.len() <= 200
            && MADE_UPS.inside(value)
            && random::longest_mixed_word(value) < RANDOM_WORD)
}

/// `%(name)s`
fn interpolated(value: &[u8]) -> bool {
    value.windows(2).enumerate().any(|(at, w)| {
        let name = || bytes::run(value, at + 2, 40, |b| bytes::is(b, ALNUM) || b == b'_');
        w == b"%(" && value.get(at + 2 + name()).is_none_or(|b| *b == b')')
    })
}

/// `${VAR}`, `{{ name }}`: braces around a name, or a text cut off after it. Passwords may contain
/// braces too.
fn template(value: &[u8]) -> bool {
    let after = |open: &'static [u8; 2]| {
        let windows = value.windows(2).enumerate();
        windows.filter(move |(_, w)| *w == open).map(|(at, _)| &value[at + 2..])
    };
    let variable = after(b"${").any(|inner| {
        let len = bytes::run(inner, 0, inner.len(), |b| !matches!(b, b'{' | b'}' | b']'));
        matches!(inner.get(len), None | Some(b'}'))
    });
    // Two closing braces, unless the text was cut off.
    let expression = || {
        after(b"{{").any(|inner| {
            let len = bytes::run(inner, 0, inner.len(), |b| !matches!(b, b'{' | b'}'));
            matches!(inner.get(len..len + 2), None | Some(b"}}"))
        })
    };
    let braces = || !value.contains(&b'{') && has(value, b"}}");
    variable || braces() || expression()
}

/// `{AQAAABAAAAAQ…}`: an encrypted value in the configuration of some servers.
fn kept_in_braces(value: &[u8]) -> bool {
    let [b'{', inner @ .., b'}'] = value else {
        return false;
    };
    inner.len() >= 20
        && inner
            .iter()
            .all(|b| bytes::is(*b, ALNUM) || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_' | b'.'))
        && random::mixed(inner)
        && !wordy_with_number(inner)
        && random::scattered(inner)
}

/// First characters of DER public keys in base64.
const PUBLIC_DER: &[&[u8]] = &[b"MFkwEwYH", b"MIIBIjAN", b"MIICIjAN", b"MCowBQYD", b"MIGfMA0G"];

/// Published hashes, keys, advisories and versions: `sha256-…`, `ssh-rsa …`, `CVE-…`.
pub(super) fn public(value: &[u8]) -> bool {
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
        "cve-",
        "ghsa-",
        "rustsec-",
    ];
    STARTS
        .iter()
        .any(|s| value.get(..s.len()).is_some_and(|v| v.eq_ignore_ascii_case(s.as_bytes())))
        || PUBLIC_DER.iter().any(|s| value.starts_with(s))
        || commit_version(value)
}

/// The version of a Go module between two tags: `v0.0.0-20180821212333-d2e6202438be`.
fn commit_version(value: &[u8]) -> bool {
    let time = |part: &[u8]| part.len() == 14 && part.iter().all(u8::is_ascii_digit);
    let commit = |part: &[u8]| bytes::run(part, 0, part.len(), |b| bytes::is(b, bytes::HEX)) == 12;
    let mut parts = value.split(|b| *b == b'-').skip(1);
    parts.by_ref().any(time) && parts.next().is_some_and(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(test: fn(&[u8]) -> bool, yes: &[&str], no: &[&str]) {
        for value in yes {
            assert!(test(value.as_bytes()), "{value}");
        }
        for value in no {
            assert!(!test(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn versions_are_digits_and_dots() {
        check(version, &["1.302103", "1.2.3"], &["1302103", "v1.2", "1.2a", ""]);
    }

    #[test]
    fn references_lead_elsewhere() {
        check(
            reference,
            &[
                "/etc/passwd",
                "./config/app.yml",
                "~/projects/app",
                "../common/config",
                "https://x",
                "HTTPS://x",
                "arn:aws:x",
                "data:x",
                "op://vault/x",
                "vault:secret/x",
                "projects/x",
                "ann@example.com",
            ],
            &["hunter2", "a/b", "@x", "x@", "ann@example", "a b@example.com"],
        );
    }

    #[test]
    fn expressions_are_code() {
        check(
            expression,
            &[
                "",
                "&x",
                "*x",
                "(x)",
                "[x]",
                "{x}",
                "f(x)",
                "a::b",
                "a->b",
                "a=>b",
                "x|y",
                "`x`",
                "MAX_LENGTH",
                "self.token",
                "config.db.password2",
                "<x>",
            ],
            &["hunter2", "a.b!", "sesame", "x-y", "1.2"],
        );
    }

    #[test]
    fn numbers_dates_and_types_are_code() {
        check(
            number,
            &[
                "0x00000002",
                "1979-05-27T00:32:00",
                "2020-01-02",
                "__u32",
                "uint64_t",
                "10u8",
                "5L",
                "-3f64",
            ],
            &["12345", "hunter2", "2020-1-2", "u33", "u8x"],
        );
        // More digits than a number has: a key.
        assert!(!number(b"0x0123456789abcdef0"));
        assert!(number(b"0x0123456789abcdef"));
    }

    #[test]
    fn yaml_tags_replace_values() {
        check(tag, &["!vault", "!Ref", "!GetAtt"], &["vault", "!other", "!"]);
    }

    #[test]
    fn regular_expressions_are_recognised() {
        check(
            regex,
            &["^x$", "^[a]", "[^x]", "[a-z]+", "(?i)x", "\\\\w+", "required|min:8"],
            &["hunter2", "x$", "a^b", "\\\\q"],
        );
    }

    #[test]
    fn placeholders_are_recognised() {
        check(
            placeholder,
            &[
                "",
                "<key>",
                "[key]",
                "{key}",
                "%KEY%",
                "__KEY__",
                "@KEY@",
                "$KEY",
                "$_x",
                "$ab",
                "xxxx",
                "****",
                "x-x-x",
                "aaaaaa",
                "%s",
                "%(x)s",
                "password",
                "PASSWORD",
                "null",
                "changeme",
                "your_key",
                "${KEY}",
                "{{ key }}",
                "}}x",
                "process.env.KEY",
                "secrets.KEY",
                "…",
                "ab%sc-%d ",
                "example-key",
            ],
            &[
                "hunter2",
                "sesame",
                "abc%strange",
                "$2b$10$abc",
                "your-Zk8vXq2LmN5pR7",
                "p{a}ss",
                "pass1",
                "{AQAAABAAAAAQk3j9fK2mQ7vLp4RzX8cWn3b}",
            ],
        );
    }

    #[test]
    fn published_hashes_and_keys_are_public() {
        check(
            public,
            &["sha256-abc", "SHA512:abc", "h1:x", "md5:x", "ssh-rsa AAAA", "ecdsa-x", "MIIBIjANBg"],
            &["sha256", "xsha256-", "MIIEpQIBAAK"],
        );
        check(
            public,
            &["CVE-2021-38561", "GHSA-abcd-1234", "v0.0.0-20180821212333-d2e6202438be/go.mod"],
            &[
                "v0.0.0-20180821-d2e6202438be",
                "20180821212333-d2e6202438be",
                "x-20180821212333-d2e6",
            ],
        );
    }
}
