//! Signs between a name and its value: `=`, `:`, `=>`, a tag, a bracket, a word.

use super::bytes::{self, ALNUM};

/// How much white space may stand around a sign.
const SPACE: usize = 40;

/// Words that give a value to a name.
#[rustfmt::skip]
const WORDS: [&str; 16] = [
    "is ", "was ", "is: ", "string = ", "str = ", "String = ", "As String = ", "TO ", "to ", "ist ", "lautet ",
    "lautet: ", "est ", "es ", "è ", "é ",
];

/// Signs before the value that a name has if it has no other.
const OTHERWISE: [&[u8]; 6] = [b"|| \"", b"|| '", b"?? \"", b"?? '", b"?: \"", b"?: '"];

/// Words and flags before a value between quotes.
const GIVEN: [&str; 6] =
    ["-String \"", "-String '", "-AsPlainText \"", "-AsPlainText '", "or \"", "or '"];

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`, `:=`, `=>`
    Equals,
    /// `==`, `!=`, `===`
    Compare,
    /// `:`
    Colon,
    /// `<name>`
    Tag,
    /// `("name", "value")`
    Comma,
    /// `name("value")`
    Call,
    /// `is`, `was`, `to`
    Word,
    /// `for the staging host is`
    Words,
    /// A space
    Space,
}

/// The sign at `at` after the name that starts at `start`, and where it ends.
pub(super) fn sign(
    text: &[u8],
    start: usize,
    at: usize,
    spaced: bool,
    quoted_name: bool,
) -> Option<(Sign, usize)> {
    let rest = text.get(at..)?;
    match rest.first()? {
        b':' => {
            let colons = bytes::run(text, at, 4, |b| b == b':');
            if text.get(at + colons) == Some(&b'=') {
                return Some((Sign::Equals, at + colons + 1));
            }
            // `userPassword:: …` of LDIF
            if colons == 2 && text.get(at + 2) == Some(&b' ') {
                return Some((Sign::Colon, at + 2));
            }
            if colons > 1 {
                return None;
            }
            let given = annotated(text, at + 1).or_else(|| nested(text, start, at + 1));
            match given {
                Some(at) => Some((Sign::Equals, at)),
                None => Some((Sign::Colon, at + 1)),
            }
        }
        b'=' | b'!' if rest.get(1) == Some(&b'=') => {
            Some((Sign::Compare, at + bytes::run(text, at, 3, |b| matches!(b, b'=' | b'!'))))
        }
        b'=' => {
            Some((Sign::Equals, at + bytes::run(text, at, 3, |b| matches!(b, b'=' | b'>' | b'~'))))
        }
        b'?' | b'.' | b'+' | b'|' | b'-'
            if matches!(rest.get(1), Some(b'='))
                || rest.starts_with(b"->")
                || rest.starts_with(b"||=") =>
        {
            Some((
                Sign::Equals,
                at + bytes::run(text, at, 3, |b| {
                    matches!(b, b'?' | b'.' | b'+' | b'|' | b'=' | b'>' | b'-')
                }),
            ))
        }
        // `env.PASSWORD || "…"`: what it is if it is not set.
        b'|' | b'?' if OTHERWISE.iter().any(|sign| rest.starts_with(sign)) => {
            Some((Sign::Equals, at + 3))
        }
        b'|' if spaced => Some((Sign::Colon, at + 1)),
        b'%' if rest.starts_with(b"%3D") || rest.starts_with(b"%3d") => {
            Some((Sign::Equals, at + 3))
        }
        b'&' if rest.starts_with(b"&quot;:&quot;") => Some((Sign::Equals, at + 13)),
        b'>' if tag(text, start) => Some((Sign::Tag, at + 1)),
        b'>' if quoted_name => Some((Sign::Tag, at + 1)),
        b'(' if !spaced && matches!(rest.get(1), Some(b'"' | b'\'')) => Some((Sign::Call, at + 1)),
        b'<' if rest.starts_with(b"</key>") => {
            tagged(text, at + 6, b"<string>").map(|at| (Sign::Tag, at))
        }
        b'<' if rest.starts_with(b"</name>") => {
            tagged(text, at + 7, b"<value>").map(|at| (Sign::Tag, at))
        }
        b')' | b']' if quoted_name => {
            filled(text, at).or_else(|| otherwise(text, at)).map(|at| (Sign::Equals, at))
        }
        // `set :password, "…"`
        b',' if !spaced && symbol(text, start) => Some((Sign::Comma, at + 1)),
        b'<' if rest.starts_with(b"<- ") => Some((Sign::Equals, at + 3)),
        b'{' if quoted_name => default(text, at).map(|at| (Sign::Equals, at)),
        // `{"key": "password", "value": "…"}`
        b',' if quoted_name => match value_line(text, at).or_else(|| option_default(text, at)) {
            Some(at) => Some((Sign::Equals, at)),
            // `fill_in "Password", with: "…"`
            None if rest.starts_with(b", with: ") => Some((Sign::Equals, at + 8)),
            None => Some((Sign::Comma, at + 1)),
        },
        b'\n' | b'\r' => value_line(text, at).map(|at| (Sign::Equals, at)),
        _ if spaced && tag(text, start) => {
            let len = bytes::run(text, at, 80, |b| !matches!(b, b'<' | b'>' | b'\n'));
            let closed = text[at + len - 1] == b'/';
            (text.get(at + len) == Some(&b'>') && !closed).then_some((Sign::Tag, at + len + 1))
        }
        _ if spaced => {
            if quoted_name && let Some(at) = value_line(text, at) {
                return Some((Sign::Equals, at));
            }
            // `I fill in "Password" with "…"`
            if quoted_name && matches!(rest, [b'w', b'i', b't', b'h', b' ', b'"' | b'\'', ..]) {
                return Some((Sign::Equals, at + 5));
            }
            if let Some(given) = GIVEN.iter().find(|given| rest.starts_with(given.as_bytes())) {
                return Some((Sign::Equals, at + given.len() - 1));
            }
            for word in WORDS {
                if rest.starts_with(word.as_bytes()) {
                    let after = at + word.len();
                    if word.ends_with("= ") {
                        return Some((Sign::Equals, after));
                    }
                    // `is generated for root: …`
                    let next = bytes::run(text, after, 20, |b| b.is_ascii_lowercase());
                    if next > 0
                        && text.get(after + next) == Some(&b' ')
                        && let Some(at) = words_and_is(text, after)
                    {
                        return Some((Sign::Words, at));
                    }
                    let colon = if text[after..].starts_with(b": ") { 2 } else { 0 };
                    return Some((Sign::Word, after + colon));
                }
            }
            match words_and_is(text, at) {
                Some(at) => Some((Sign::Words, at)),
                None => Some((Sign::Space, at)),
            }
        }
        _ => None,
    }
}

/// Past some words and one that gives a value: `password for the staging host is …`.
pub(super) fn words_and_is(text: &[u8], mut at: usize) -> Option<usize> {
    const IS: [&str; 8] = ["is", "was", "to", "ist", "lautet", "est", "es", "é"];
    for _ in 0..6 {
        let len = bytes::run(text, at, 20, |b| {
            bytes::is(b, ALNUM) || !b.is_ascii() || matches!(b, b'-' | b'_' | b'@' | b'.')
        });
        let word = text.get(at..at + len)?;
        at += len;
        let space = bytes::run(text, at, 1, |b| b == b' ');
        if text.get(at + space) == Some(&b':') {
            return (text.get(at + space + 1) == Some(&b' ')).then_some(at + space + 2);
        }
        (len > 0 && space > 0).then_some(())?;
        at += space;
        if IS.iter().any(|w| w.as_bytes() == word) && text.get(at) != Some(&b':') {
            return Some(at);
        }
    }
    None
}

/// `<password>`, `<wsse:Password>`
fn tag(text: &[u8], start: usize) -> bool {
    let space = match start.checked_sub(1).and_then(|at| text.get(at)) {
        Some(b':') => 1 + bytes::run_back(text, start - 1, 16, |b| bytes::is(b, ALNUM)),
        Some(_) | None => 0,
    };
    start > space && text.get(start - space - 1) == Some(&b'<')
}

/// `option("--password", default="…")`
fn option_default(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + 120))?;
    let rest = &rest[..bytes::run(rest, 0, rest.len(), |b| !matches!(b, b')' | b'\n'))];
    let word = rest.windows(8).position(|w| w == b"default=")?;
    Some(at + word + 8)
}

/// Whether the name that starts at `start` is a symbol: `:name`, not `path::NAME`.
fn symbol(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(2)..start];
    matches!(before, [b' ' | b'(' | b'[' | b'\n', b':'])
}

/// `variable "password" { default = "…" }`
fn default(text: &[u8], at: usize) -> Option<usize> {
    let block = text.get(at..text.len().min(at + 240))?;
    let block = &block[..bytes::run(block, 0, block.len(), |b| b != b'}')];
    let word = block.windows(8).position(|w| w == b"default ")?;
    let sign = skip_space(text, at + word + 8);
    (text.get(sign) == Some(&b'=')).then_some(sign + 1)
}

/// `find("password").send_keys("…")`, `$("#password").val("…")`: a field of a form is filled.
fn filled(text: &[u8], at: usize) -> Option<usize> {
    let at = at + bytes::run(text, at, 3, |b| matches!(b, b')' | b']' | b'"' | b'\''));
    let rest = text.get(at..)?;
    let verb = [".send_keys(", ".sendKeys(", ".fill(", ".type(", ".val(", ".setValue("]
        .iter()
        .find(|verb| rest.starts_with(verb.as_bytes()))?;
    Some(at + verb.len())
}

/// `getenv("PASSWORD") ?: "…"`
fn otherwise(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at + 1);
    let rest = text.get(at..)?;
    let word = [&b"or \""[..], b"or '"].iter().any(|sign| rest.starts_with(sign));
    (word || OTHERWISE.iter().any(|sign| rest.starts_with(sign))).then_some(at + 3)
}

/// `<key>name</key> <string>` of property lists, `<name>…</name> <value>` of Hadoop.
fn tagged(text: &[u8], at: usize, tag: &[u8]) -> Option<usize> {
    let at = at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace());
    text.get(at..)?.starts_with(tag).then_some(at + tag.len())
}

/// `name: FOO_TOKEN` and on the next line, or in the next attribute, `value: "…"`.
fn value_line(text: &[u8], at: usize) -> Option<usize> {
    let at =
        at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace() || b == b'"' || b == b',');
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = at + 5 + bytes::run(text, at + 5, 3, |b| matches!(b, b' ' | b'"'));
    matches!(text.get(at), Some(b'=' | b':')).then_some(at + 1)
}

/// The value of a name that has fields: `Password: {"Type": "String", "Default": "…"}`, or the same
/// on lines that are indented more.
fn nested(text: &[u8], start: usize, at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    let rest = text.get(at..text.len().min(at + 240))?;
    let line = bytes::line_start(text, start, SPACE);
    let indent = bytes::run(text, line, SPACE, |b| b == b' ');
    let lines = match rest.first()? {
        b'{' => rest.split(|b| *b == b'}').next()?,
        b'\n' if line + indent >= start.saturating_sub(1) => rest,
        _ => return None,
    };
    let yaml = lines.first() == Some(&b'\n');
    let mut from = 0;
    for field in lines.split(|b| matches!(b, b'\n' | b',')) {
        let depth = bytes::run(field, 0, SPACE, |b| matches!(b, b' ' | b'{' | b'"'));
        if yaml && from > 0 && depth <= indent {
            return None;
        }
        let name = bytes::run(field, depth, SPACE, |b| b.is_ascii_alphabetic());
        let colon = depth + name + bytes::run(field, depth + name, 2, |b| matches!(b, b'"' | b' '));
        let names = ["default", "value", "defaultValue"];
        if names.iter().any(|n| field[depth..depth + name].eq_ignore_ascii_case(n.as_bytes()))
            && field.get(colon) == Some(&b':')
        {
            return Some(at + from + colon + 1);
        }
        from += field.len() + 1;
    }
    None
}

/// Skips a type between a name and its value: `: &str = "…"`.
fn annotated(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    let len = bytes::run(text, at, 48, |b| {
        bytes::is(b, ALNUM)
            || matches!(b, b'&' | b'\'' | b'<' | b'>' | b'*' | b'?' | b' ' | b'_' | b'[' | b']')
    });
    let kind = text.get(at..at + len)?;
    let typed = kind.ends_with(b" ");
    let sign = text.get(at + len) == Some(&b'=') && text.get(at + len + 1) != Some(&b'=');
    (typed && sign).then_some(at + len + 1)
}

/// Past the spaces and tabs at `at`.
pub(super) fn skip_space(text: &[u8], at: usize) -> usize {
    at + bytes::run(text, at, SPACE, |b| matches!(b, b' ' | b'\t'))
}
