//! Values assigned to sensitive names, in every spelling that files, shells and people use.

mod identified_by;
mod quoted;
mod unquoted;

use super::allowlist;
use super::beside;
use super::bytes::{self, ALNUM};
use super::calls;
use super::keys::{self, Key};
use super::languages;
use super::operators::{self, Operator, skip_space};
use super::phrases;
use super::settings::{self, is_setting};
use super::syntax::{declared, skip_scheme, skip_variable, skip_wrapper};
use super::usernames;
use super::values::{self, Form};
use super::weak;
use identified_by::identified_by;

/// The longest quoted value that is read.
const QUOTED: usize = 4096;
/// How many bytes of a value are judged.
const JUDGED: usize = 300;
/// The most white space allowed after a tag.
const SPACE: usize = 40;

const CDATA: &[u8] = b"<![CDATA[";

/// Finds the values of names. Remembers where unquoted values end, so that a line of nothing but
/// `password=password=…` takes linear time.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    /// An unquoted value starting in this range ends at its end.
    known: (usize, usize),
    /// How many values that end there were judged.
    judged: usize,
}

/// The most values with the same end that are judged: `password=password=…` has any number.
const SAME_END: usize = 8;

/// The value of a name.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    form: Form,
    key: Key,
}

/// A name, its operator, and where its value should begin.
#[derive(Debug, Clone, Copy)]
struct Assignment {
    /// The name: `start..end`.
    start: usize,
    end: usize,
    key: Key,
    operator: Operator,
    /// Where the value begins.
    at: usize,
    /// Exactly one byte separates name and value.
    tight: bool,
    quoted_name: bool,
    /// The name ends in `pass`, which in a sentence is a verb.
    is_verb: bool,
}

impl Assignments {
    /// The secret after a name in another script: `密码：…`, `пароль: …`.
    pub(super) fn foreign(&mut self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let (from, words) = languages::value_at(text, at)?;
        let value = quoted::literal(text, from, Key::Password).unwrap_or_else(|| Value {
            start: from,
            end: self.unquoted_end(text, from, false),
            form: Form::Loose,
            key: Key::Password,
        });
        let literal = text.get(value.start..value.end.min(value.start + JUDGED))?;
        let ascii = literal.iter().all(u8::is_ascii);
        (ascii
            && (!words || settings::in_prose(literal))
            && values::is_secret(Key::Password, value.form, literal))
        .then_some((value.start, value.end))
    }

    /// The secret assigned to the name at `start..end`, if any, and its kind.
    pub(super) fn value(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> Option<(usize, usize, Key)> {
        let next = *text.get(end)?;
        if !matches!(
            next,
            b'=' | b':'
                | b'"'
                | b'\''
                | b'`'
                | b' '
                | b'\t'
                | b'>'
                | b'\\'
                | b'*'
                | b'?'
                | b'|'
                | b'\n'
                | b'\r'
                | b']'
                | b'%'
                | b'&'
                | b'('
                | b')'
                | b'['
                | b','
                | b'<'
        ) {
            return None;
        }
        // Words before these are rarely names of secrets.
        match next {
            b'[' | b')' => {
                declared(text, end)?;
            }
            b',' if start == 0
                || text[start - 1] != b':' && !operators::is_constant(text, start, end) =>
            {
                return None;
            }
            _ => {}
        }
        let name = text.get(start..end)?;
        if matches!(next, b' ' | b'\t')
            && (name.eq_ignore_ascii_case(b"by") || name.eq_ignore_ascii_case(b"as"))
        {
            return identified_by(text, start, end).map(|(from, to)| (from, to, Key::Password));
        }
        if !keys::may_end(name) {
            return None;
        }
        let key = key_of(text, start, end)?;
        let value = self.parse(text, start, end, key)?;
        if value.end == self.known.1 && value.form != Form::Quoted {
            self.judged += 1;
            (self.judged <= SAME_END).then_some(())?;
        }
        // The beginning of a long value is enough to judge it.
        let literal = text.get(value.start..value.end.min(value.start + JUDGED))?;
        let is_secret = match Ambiguous::of(name) {
            _ if settings::of_registry(text, start, end) => {
                literal.len() >= 3 && !literal.contains(&b'$') && !allowlist::placeholder(literal)
            }
            Some(Ambiguous::Pin) if is_pin(literal) => true,
            Some(Ambiguous::Clave) if !settings::in_prose(literal) && !values::special(literal) => {
                false
            }
            _ if weak::is_known(literal)
                && !weak::is_given(text, (start, end), (value.start, value.end), value.form) =>
            {
                false
            }
            _ => {
                let place = (value.start, value.end);
                values::is_secret(value.key, value.form, literal)
                    || match (key, value.form) {
                        (Key::Password, Form::Plain) => weak::in_connection(text, start, place),
                        // Two words are a password only beside a user.
                        (Key::Password, Form::Quoted) => {
                            phrases::is_short(literal)
                                && usernames::beside(text, place.0, place.1, 0).is_some()
                        }
                        (Key::Id, _) => beside::is_vendors_id(name, literal),
                        _ => false,
                    }
            }
        };
        is_secret.then_some((value.start, value.end, value.key))
    }

    fn parse(&mut self, text: &[u8], start: usize, end: usize, key: Key) -> Option<Value> {
        let (after_name, quoted_name) = skip_name_end(text, end)?;
        let at = skip_space(text, after_name);
        let (operator, at) = operators::operator(text, start, at, at > after_name, quoted_name)?;
        let name = text.get(start..end)?;
        let is_verb = !is_setting(name) && (name.ends_with(b"pass") || name.ends_with(b"Pass"));
        // In prose, words assign nothing but passwords, and `pass` is a verb.
        let prose =
            matches!(operator, Operator::Call | Operator::Word | Operator::Words | Operator::Space);
        let words = matches!(operator, Operator::Word | Operator::Words);
        let pin = Ambiguous::of(name) == Some(Ambiguous::Pin);
        if prose && is_verb || words && key != Key::Password && !pin && !dashed(text, at) {
            return None;
        }
        let tight = at == end + 1 && !matches!(text.get(at), Some(b' ' | b'\t'));
        let at = skip_space(text, skip_markup(text, operator, at));
        let scheme = skip_scheme(text, at, key);
        // `("Authorization", "Basic …")`: the quote stands before the scheme.
        if scheme > at
            && let Some(value) = quoted::literal(text, at, key)
        {
            return Some(Value { start: scheme, ..value });
        }
        let at = skip_wrapper(text, skip_variable(text, scheme));
        let assignment = Assignment { start, end, key, operator, at, tight, quoted_name, is_verb };
        if let Some(value) = quoted::literal(text, at, key) {
            return quoted::accept(text, &assignment, value);
        }
        if matches!(operator, Operator::Equals | Operator::Colon)
            && let Some((start, end)) = calls::pair(text, at)
        {
            return Some(Value { start, end, form: Form::Quoted, key: Key::Password });
        }
        self.unquoted(text, &assignment)
    }
}

/// Whether a dash and a quoted value precede and follow this place: `token - '…'`.
fn dashed(text: &[u8], at: usize) -> bool {
    text[..at].ends_with(b" - ") && matches!(text.get(at), Some(b'"' | b'\''))
}

/// Skips the quotes and brackets that close a name; returns the position and whether it was quoted.
fn skip_name_end(text: &[u8], end: usize) -> Option<(usize, bool)> {
    let mut at = end;
    let mut quoted = false;
    for _ in 0..4 {
        match text.get(at)? {
            b'"' | b'\'' | b'`' => quoted = true,
            b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\'')) => {}
            b'*' | b']' => {}
            // `char password[] = "…"`, `my ($password) = "…"`
            b'[' | b')' if at == end => return Some((declared(text, at)?, quoted)),
            _ => break,
        }
        at += 1;
    }
    Some((at, quoted))
}

/// Skips what may precede a value: `<value>` and CDATA inside a tag, asterisks elsewhere.
fn skip_markup(text: &[u8], operator: Operator, at: usize) -> usize {
    if operator == Operator::Tag {
        let at = at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace());
        let value = text.get(at..at + 7).is_some_and(|t| t.eq_ignore_ascii_case(b"<value>"));
        let at = at + if value { 7 } else { 0 };
        at + if text[at..].starts_with(CDATA) { CDATA.len() } else { 0 }
    } else {
        let at = skip_space(text, at);
        at + bytes::run(text, at, 2, |b| b == b'*')
    }
}

/// Names that mean something else just as often: the value decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ambiguous {
    /// A number for a lock, or a contact of a chip.
    Pin,
    /// Spanish for a password, or for the key of a map.
    Clave,
}

impl Ambiguous {
    fn of(name: &[u8]) -> Option<Self> {
        let last = name.rsplit(|b| !b.is_ascii_alphabetic()).next()?;
        let is = |word: &str| last.eq_ignore_ascii_case(word.as_bytes());
        match () {
            () if is("pin") || is("pincode") => Some(Self::Pin),
            () if is("clave") => Some(Self::Clave),
            () => None,
        }
    }
}

/// Four to eight digits; chips have fewer pins.
fn is_pin(value: &[u8]) -> bool {
    let year = value.len() == 4 && matches!(value, [b'1', b'9', ..] | [b'2', b'0', ..]);
    (4..=8).contains(&value.len())
        && !year
        && value.iter().all(u8::is_ascii_digit)
        && !allowlist::placeholder(value)
}

/// The kind of a name; the word before may complete it: `API key`, `secret access key`.
fn key_of(text: &[u8], start: usize, end: usize) -> Option<Key> {
    let name = text.get(start..end)?;
    if name.eq_ignore_ascii_case(b"passe") {
        let before = &text[start.saturating_sub(7)..start];
        return before.eq_ignore_ascii_case(b"mot de ").then_some(Key::Password);
    }
    if settings::of_registry(text, start, end) {
        return Some(Key::Password);
    }
    let key = keys::classify(name)?;
    if matches!(key, Key::Token | Key::Weak) && start > 0 && text.get(start - 1) == Some(&b' ') {
        let before = bytes::run_back(text, start - 1, 16, |b| bytes::is(b, ALNUM));
        let both = text.get(start - 1 - before..end)?;
        return keys::classify(both).max(Some(key));
    }
    Some(key)
}
