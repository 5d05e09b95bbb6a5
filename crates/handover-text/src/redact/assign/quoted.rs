//! Quoted values: reading the literal, and deciding whether the name before it is given that value.

use memchr::memmem;

use super::{Assignment, QUOTED, Value};
use crate::redact::bytes::{self, ALNUM};
use crate::redact::keys::Key;
use crate::redact::operators::Operator;
use crate::redact::random;
use crate::redact::settings::shell_name;
use crate::redact::syntax::{opens, setter};
use crate::redact::values::{self, Form};

/// The longest literal between entities.
const ENTITY: usize = 256;

/// The quoted literal at `at`.
pub(super) fn literal(text: &[u8], mut at: usize, key: Key) -> Option<Value> {
    // r"…", b'…', N'…', @"…", f"…"
    let prefix = bytes::run(text, at, 2, |b| {
        matches!(b, b'r' | b'b' | b'f' | b'u' | b'N' | b'L' | b'@' | b'$' | b'R' | b'B')
    });
    if matches!(text.get(at + prefix), Some(b'"' | b'\'')) {
        at += prefix;
    }
    if let Some(value) = entity(text, at, key) {
        return Some(value);
    }
    let mut escaped = false;
    if text.get(at) == Some(&b'\\') && matches!(text.get(at + 1), Some(b'"' | b'\'')) {
        escaped = true;
        at += 1;
    }
    if let Some(value) = typographic(text, at, key) {
        return Some(value);
    }
    let quote = *text.get(at)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let mut start = at + 1;
    if !escaped && text.get(start) == Some(&quote) && text.get(start + 1) == Some(&quote) {
        start += 2;
    }
    let mut end = start;
    let stop = text.len().min(start + QUOTED);
    while end < stop {
        match text[end] {
            b'\n' => break,
            b'\\' if escaped => break,
            b'\\' => end += 1,
            b if b == quote => break,
            _ => {}
        }
        end += 1;
    }
    let end = end.min(text.len());
    // `{noop}…` names the encoding.
    let encoding = if text[start..end].starts_with(b"{noop}") { 6 } else { 0 };
    Some(Value { start: start + encoding, end, form: Form::Quoted, key })
}

/// A literal between the entities that stand for quotes in HTML: `&quot;…&quot;`.
fn entity(text: &[u8], at: usize, key: Key) -> Option<Value> {
    const QUOTES: [&[u8]; 5] = [b"&quot;", b"&#34;", b"&#39;", b"&#x27;", b"&apos;"];
    let rest = text.get(at..)?;
    let quote = *QUOTES.iter().find(|quote| rest.starts_with(quote))?;
    let start = at + quote.len();
    let line = bytes::run(text, start, ENTITY, |b| b != b'\n');
    let len = memmem::find(&text[start..start + line], quote)?;
    Some(Value { start, end: start + len, form: Form::Quoted, key })
}

/// A literal between the quotes of a word processor: `“…”`, `‘…’`.
fn typographic(text: &[u8], at: usize, key: Key) -> Option<Value> {
    let close = match text.get(at..at + 3)? {
        [0xe2, 0x80, 0x9c..=0x9e] => 0x9c..=0x9d,
        [0xe2, 0x80, 0x98 | 0x99] => 0x98..=0x99,
        _ => return None,
    };
    let start = at + 3;
    let line = bytes::run(text, start, ENTITY, |b| b != b'\n');
    let mut windows = text[start..start + line].windows(3);
    let len = windows.position(|w| matches!(w, [0xe2, 0x80, last] if close.contains(last)))?;
    Some(Value { start, end: start + len, form: Form::Quoted, key })
}

/// The literal as the value of the name, unless the code or sentence around it means something else.
pub(super) fn accept(text: &[u8], assignment: &Assignment, mut value: Value) -> Option<Value> {
    let &Assignment { start, end, key, operator, quoted_name, is_verb, .. } = assignment;
    let name = text.get(start..end)?;
    let literal = text.get(value.start..value.end)?;
    match operator {
        Operator::Comma | Operator::Call => {
            value.form = argument_form(text, assignment, &value)?;
        }
        // `pass == "first"`: one of several passes.
        Operator::Compare if is_verb && literal.iter().all(u8::is_ascii_lowercase) => return None,
        Operator::Compare => value.form = Form::Compared,
        // `password "x"` in prose is as good as an operator; `token "x"` is not.
        Operator::Space | Operator::Words => {
            let prose = key == Key::Password
                && (end - start > 4 || quoted_name || name == b"PSK")
                && text.get(value.start - 1) != Some(&b'`');
            // `secret "…";` in the configuration of a name server
            let random = matches!(key, Key::Secret | Key::Token)
                && literal.len() >= 16
                && random::mixed(literal)
                && random::scattered(literal);
            (prose || random).then_some(())?;
        }
        Operator::Equals | Operator::Colon | Operator::Tag | Operator::Word => {}
    }
    Some(value)
}

/// How to judge a literal that is an argument. `["user", "password", "email"]` is a list of names and
/// `get("password")` returns one, so the call must set the name or the literal must not be a word.
fn argument_form(text: &[u8], assignment: &Assignment, value: &Value) -> Option<Form> {
    let &Assignment { start, end, key, operator, .. } = assignment;
    let name = text.get(start..end)?;
    let literal = text.get(value.start..value.end)?;
    if operator == Operator::Comma && key == Key::Weak && !opens(text, start) {
        return None;
    }
    // `define('DB_PASSWORD', '…')` sets one name; a value with a digit is no name.
    let sets = if operator == Operator::Call {
        setter(name) && !more_strings(text, value.end)
    } else {
        shell_name(name) && text.get(value.end + 1) == Some(&b')') && random::mixed(literal)
            || key == Key::Password && property(text, start, value)
    };
    let list = !sets && values::wordy_with_number(literal) && !values::made_up(literal);
    (!list && !name.contains(&b'/')).then_some(if sets { Form::Quoted } else { Form::Loose })
}

/// Whether another string argument follows the one that ends at `at`: this one is then a name.
fn more_strings(text: &[u8], at: usize) -> bool {
    let next = at + 1 + bytes::run(text, at + 1, 2, |b| matches!(b, b',' | b' '));
    next > at + 1 && matches!(text.get(next), Some(b'"' | b'\''))
}

/// `setProperty("password", "…")`, `map.put("password", "…")`: a call that sets a named value.
fn property(text: &[u8], start: usize, value: &Value) -> bool {
    let open = bytes::run_back(text, start, 4, |b| matches!(b, b'"' | b'\'' | b' ' | b'('));
    let name = bytes::run_back(text, start - open, 32, |b| bytes::is(b, ALNUM) || b == b'_');
    let name = &text[start - open - name..start - open];
    let starts = |word: &[u8]| name.get(..word.len()).is_some_and(|n| n.eq_ignore_ascii_case(word));
    text[start - open..start].contains(&b'(')
        && ["set", "put", "define", "getenv", "env"].iter().any(|word| starts(word.as_bytes()))
        && text.get(value.end + 1) == Some(&b')')
}
