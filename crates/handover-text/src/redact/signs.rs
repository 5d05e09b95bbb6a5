//! Signs between a name and its value: `=`, `:`, `=>`, a tag, a bracket, a word.

use super::bytes::{self, ALNUM};

/// How much white space may stand around a sign.
const SPACE: usize = 40;

/// Words that give a value to a name.
const WORDS: [&str; 8] = ["is ", "was ", "is: ", "string = ", "str = ", "String = ", "TO ", "to "];

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`, `:=`, `=>`
    Equals,
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
            if colons > 1 {
                return None;
            }
            match annotated(text, at + 1) {
                Some(at) => Some((Sign::Equals, at)),
                None => Some((Sign::Colon, at + 1)),
            }
        }
        b'=' => {
            Some((Sign::Equals, at + bytes::run(text, at, 3, |b| matches!(b, b'=' | b'>' | b'~'))))
        }
        b'?' | b'.' | b'+' | b'|' | b'!' | b'-'
            if matches!(rest.get(1), Some(b'='))
                || rest.starts_with(b"->")
                || rest.starts_with(b"||=") =>
        {
            Some((
                Sign::Equals,
                at + bytes::run(text, at, 3, |b| {
                    matches!(b, b'?' | b'.' | b'+' | b'|' | b'=' | b'>' | b'-' | b'!')
                }),
            ))
        }
        b'|' if spaced => Some((Sign::Colon, at + 1)),
        b'%' if rest.starts_with(b"%3D") || rest.starts_with(b"%3d") => {
            Some((Sign::Equals, at + 3))
        }
        b'&' if rest.starts_with(b"&quot;:&quot;") => Some((Sign::Equals, at + 13)),
        b'>' if start > 0 && text.get(start - 1) == Some(&b'<') => Some((Sign::Tag, at + 1)),
        b'>' if quoted_name => Some((Sign::Tag, at + 1)),
        b'(' if !spaced && matches!(rest.get(1), Some(b'"' | b'\'')) => Some((Sign::Call, at + 1)),
        b'<' if rest.starts_with(b"</key>") => plist(text, at + 6).map(|at| (Sign::Tag, at)),
        b')' | b']' if quoted_name => filled(text, at).map(|at| (Sign::Equals, at)),
        // `set :password, "…"`
        b',' if !spaced && symbol(text, start) => Some((Sign::Comma, at + 1)),
        b'<' if rest.starts_with(b"<- ") => Some((Sign::Equals, at + 3)),
        b'{' if quoted_name => default(text, at).map(|at| (Sign::Equals, at)),
        b',' if quoted_name => Some((Sign::Comma, at + 1)),
        b'\n' | b'\r' => value_line(text, at).map(|at| (Sign::Equals, at)),
        _ if spaced => {
            if quoted_name && let Some(at) = value_line(text, at) {
                return Some((Sign::Equals, at));
            }
            for word in WORDS {
                if rest.starts_with(word.as_bytes()) {
                    let sign = if word.ends_with("= ") { Sign::Equals } else { Sign::Word };
                    return Some((sign, at + word.len()));
                }
            }
            Some((Sign::Space, at))
        }
        _ => None,
    }
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

/// `<key>name</key> <string>` of property lists.
fn plist(text: &[u8], at: usize) -> Option<usize> {
    let at = at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace());
    (text.get(at..at + 8) == Some(b"<string>")).then_some(at + 8)
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
