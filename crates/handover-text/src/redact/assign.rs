//! Values given to telling names, in every spelling that files, shells and people use.

use super::around::{
    after_passin, before_pair, declared, opens, setter, skip_scheme, skip_wrapper,
};
use super::bytes::{self, ALNUM};
use super::calls;
use super::innocent;
use super::keys::{self, Key};
use super::random;
use super::settings::{self, in_settings, is_setting, netrc, sentence, shell_name};
use super::signs::{self, Sign, skip_space};
use super::tongues;
use super::values::{self, Form};

/// Longest value between quotes.
const QUOTED: usize = 4096;
/// How much of a value is judged.
const JUDGED: usize = 300;
/// How much white space may stand after a tag.
const SPACE: usize = 40;

/// What may stand around the text of a tag.
const CDATA: &[u8] = b"<![CDATA[";

/// Finds the values of names; remembers where unquoted values end, so that a line of nothing but
/// `password=password=…` is read once.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    /// An unquoted value starting in this range ends at its end.
    known: (usize, usize),
}

/// The value of a name.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    form: Form,
    key: Key,
}

/// Where a value is expected, and after what.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The name: `start..end`.
    start: usize,
    end: usize,
    key: Key,
    sign: Sign,
    /// Where the value begins.
    at: usize,
    /// Nothing but one `=` stands between.
    tight: bool,
}

impl Assignments {
    /// The secret after a name in another script: `密码：…`, `пароль: …`.
    pub(super) fn foreign(&mut self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let (from, words) = tongues::value_at(text, at)?;
        let value = quoted(text, from, Key::Password).unwrap_or_else(|| Value {
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

    /// The secret that the name at `start..end` is given, if any, and what kind it is.
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
        // Most words before these are names of something else.
        match next {
            b'[' | b')' => {
                declared(text, end)?;
            }
            b',' if start == 0 || text[start - 1] != b':' => return None,
            _ => {}
        }
        let name = text.get(start..end)?;
        if next == b' ' && name.eq_ignore_ascii_case(b"by") {
            return identified_by(text, start, end).map(|(from, to)| (from, to, Key::Password));
        }
        if !keys::may_end(name) {
            return None;
        }
        let key = key_of(text, start, end)?;
        let value = self.parse(text, start, end, key)?;
        // The start of a long value tells enough.
        let literal = text.get(value.start..value.end.min(value.start + JUDGED))?;
        let is_secret = match Faint::of(name) {
            Some(Faint::Pin) if is_pin(literal) => true,
            Some(Faint::Clave) if !settings::in_prose(literal) && !values::special(literal) => {
                false
            }
            _ => values::is_secret(value.key, value.form, literal),
        };
        is_secret.then_some((value.start, value.end, value.key))
    }

    fn parse(&mut self, text: &[u8], start: usize, end: usize, key: Key) -> Option<Value> {
        let mut at = end;
        let mut quoted_name = false;
        for _ in 0..4 {
            match text.get(at)? {
                b'"' | b'\'' | b'`' => quoted_name = true,
                b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\'')) => {}
                b'*' | b']' => {}
                // `char password[] = "…"`, `my ($password) = "…"`
                b'[' | b')' if at == end => {
                    at = declared(text, at)?;
                    break;
                }
                _ => break,
            }
            at += 1;
        }
        let after_name = at;
        at = skip_space(text, at);
        let (sign, mut at) = signs::sign(text, start, at, at > after_name, quoted_name)?;
        // In prose only a password is given by words, and `pass` is a verb.
        let wordy = matches!(sign, Sign::Call | Sign::Word | Sign::Words | Sign::Space);
        let name = text.get(start..end)?;
        let verb = !is_setting(name) && (name.ends_with(b"pass") || name.ends_with(b"Pass"));
        let told = matches!(sign, Sign::Word | Sign::Words);
        let pin = Faint::of(name) == Some(Faint::Pin);
        if wordy && verb || told && key != Key::Password && !pin {
            return None;
        }
        let tight = at == end + 1 && !matches!(text.get(at), Some(b' ' | b'\t'));
        at = match sign {
            Sign::Tag => {
                let at = at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace());
                let value =
                    text.get(at..at + 7).is_some_and(|t| t.eq_ignore_ascii_case(b"<value>"));
                let at = at + if value { 7 } else { 0 };
                at + if text[at..].starts_with(CDATA) { CDATA.len() } else { 0 }
            }
            Sign::Equals
            | Sign::Compare
            | Sign::Colon
            | Sign::Comma
            | Sign::Call
            | Sign::Word
            | Sign::Words
            | Sign::Space => {
                let at = skip_space(text, at);
                at + bytes::run(text, at, 2, |b| b == b'*')
            }
        };
        at = skip_space(text, at);
        let scheme = skip_scheme(text, at, key);
        // `("Authorization", "Basic …")`: the quote stands before the scheme.
        if scheme > at
            && let Some(value) = quoted(text, at, key)
        {
            return Some(Value { start: scheme, ..value });
        }
        at = scheme;
        at = skip_wrapper(text, at);
        if let Some(mut value) = quoted(text, at, key) {
            // `["user", "password", "email"]` is a list of names, `get("password")` gives one back:
            // look closer.
            if sign == Sign::Comma && key == Key::Weak && !opens(text, start) {
                return None;
            }
            if matches!(sign, Sign::Comma | Sign::Call) {
                let literal = text.get(value.start..value.end)?;
                // `define('DB_PASSWORD', '…')` sets one name; a value with a digit is no name.
                let sets = sign == Sign::Comma
                    && shell_name(name)
                    && text.get(value.end + 1) == Some(&b')')
                    && random::mixed(literal)
                    || sign == Sign::Call && setter(name) && !more_strings(text, value.end)
                    || sign == Sign::Comma && key == Key::Password && property(text, start, &value);
                let list = !sets && values::wordy_with_number(literal) && !values::made_up(literal);
                (!list && !name.contains(&b'/')).then_some(())?;
                value.form = if sets { Form::Quoted } else { Form::Loose };
            }
            // `password "x"` in prose is as good as a sign; `token "x"` is not.
            if sign == Sign::Compare {
                value.form = Form::Compared;
            }
            let prose = key == Key::Password
                && (end - start > 4 || quoted_name || name == b"PSK")
                && text.get(value.start - 1) != Some(&b'`');
            // `secret "…";` of a name server
            let literal = text.get(value.start..value.end)?;
            let random = key == Key::Secret
                && literal.len() >= 16
                && random::mixed(literal)
                && random::scattered(literal);
            // `pass == "first"`: one of several passes.
            if sign == Sign::Compare && verb && literal.iter().all(u8::is_ascii_lowercase) {
                return None;
            }
            return (!matches!(sign, Sign::Space | Sign::Words) || prose || random)
                .then_some(value);
        }
        if matches!(sign, Sign::Equals | Sign::Colon)
            && let Some((start, end)) = calls::pair(text, at)
        {
            return Some(Value { start, end, form: Form::Quoted, key: Key::Password });
        }
        self.unquoted(text, &Place { start, end, key, sign, at, tight })
    }

    /// The value at `at` as far as it goes without quotes.
    fn unquoted(&mut self, text: &[u8], place: &Place) -> Option<Value> {
        let &Place { start, end, key, sign, mut at, tight } = place;
        if matches!(sign, Sign::Comma | Sign::Call | Sign::Compare) {
            return None;
        }
        if sign == Sign::Space
            && let Some(value) = typed(text, text.get(start..end)?, at)
        {
            return Some(value);
        }
        let before = start.checked_sub(1).and_then(|i| text.get(i)).copied();
        let query = matches!(before, Some(b'?' | b'&' | b'#')) && sign == Sign::Equals;
        let stop = if sign == Sign::Tag && text.get(at) == Some(&b'{') {
            at + bytes::run(text, at, QUOTED, |b| b != b'<' && !b.is_ascii_whitespace())
        } else {
            before_pair(text, at, self.unquoted_end(text, at, query))
        };
        let name = text.get(start..end)?;
        let form = match sign {
            Sign::Tag if text.get(stop) == Some(&b'<') => Form::Quoted,
            Sign::Tag if text[stop..].starts_with(b"]]>") => Form::Quoted,
            Sign::Tag => return None,
            Sign::Equals if tight => {
                let named = query || before == Some(b';') || shell_name(name);
                // `password=word` before white space is a setting; a program would go on.
                let ends = text.get(stop).is_none_or(u8::is_ascii_whitespace);
                let told = key == Key::Password && settings::after_user(text, start);
                let named = named
                    || key == Key::Password && ends_value(text, stop) && settings::of_system(name);
                if named || told || (key == Key::Password && ends && !name.ends_with(b"pass")) {
                    Form::Plain
                } else {
                    Form::Loose
                }
            }
            // `DB_PASSWORD: word` and the end of the line: YAML.
            Sign::Colon | Sign::Equals
                if shell_name(name)
                    && (sign == Sign::Colon || text[end..at].contains(&b'\n'))
                    && matches!(text.get(stop), None | Some(b'\n' | b'\r')) =>
            {
                Form::Plain
            }
            Sign::Equals | Sign::Colon
                if key == Key::Password
                    && (in_settings(text, start, at, stop)
                        || settings::kept(text, start, end, at, stop)
                        || settings::after_user(text, start)) =>
            {
                Form::Plain
            }
            // `openssl … -passin pass:word`
            Sign::Colon if name == b"pass" && after_passin(text, start) => Form::Plain,
            Sign::Word
                if values::wordy_with_number(text.get(at..stop)?)
                    && !values::made_up(text.get(at..stop)?)
                    && text.get(at..stop)?.contains(&b'-') =>
            {
                return None;
            }
            Sign::Words if settings::in_prose(text.get(at..stop)?) => Form::Loose,
            Sign::Words => return None,
            Sign::Space => {
                let flag = name.len() > 4
                    && (name.starts_with(b"--")
                        || name == b"-password"
                        || matches!(name, [b'-', first, ..] if first.is_ascii_uppercase()));
                let netrc = name == b"password" && netrc(text, start);
                let literal = text.get(at..stop)?;
                let setting = (is_setting(name) || settings::after_setenv(text, start))
                    && text.get(stop).is_none_or(u8::is_ascii_whitespace);
                let prose = key == Key::Password && settings::in_prose(literal);
                let told = flag
                    && key == Key::Password
                    && (settings::after_user(text, start)
                        || settings::on_command_line(text, start, at, stop));
                // The next flag is no value.
                if literal.starts_with(b"--") {
                    return None;
                }
                if netrc || setting || told {
                    Form::Plain
                } else if flag || prose {
                    Form::Loose
                } else {
                    return None;
                }
            }
            Sign::Equals | Sign::Compare | Sign::Colon | Sign::Comma | Sign::Call | Sign::Word => {
                Form::Loose
            }
        };
        // `Cookie: name=value` names its value once more.
        let inner =
            bytes::run(text, at, 40, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.'));
        if sign == Sign::Colon
            && key == Key::Weak
            && text.get(at + inner) == Some(&b'=')
            && at + inner + 1 < stop
        {
            at += inner + 1;
        }
        // `PASS: test-1 of the suite`
        let goes_on = matches!(text.get(stop), Some(b' ' | b'\t'));
        if name == b"PASS" && sign == Sign::Colon && goes_on {
            return None;
        }
        // What follows an unquoted value in a sentence shows that it is one.
        if form == Form::Loose
            && key == Key::Password
            && sentence(text, stop)
            && !random::mixed(text.get(at..stop)?)
        {
            return None;
        }
        Some(Value { start: at, end: stop, form, key })
    }

    fn unquoted_end(&mut self, text: &[u8], at: usize, query: bool) -> usize {
        if !query && self.known.0 <= at && at < self.known.1 {
            return self.known.1;
        }
        let len = bytes::run(text, at, usize::MAX, |b| match b {
            b'"' | b'\'' | b'`' | b',' | b';' | b')' | b'}' | b']' | b'<' | b'\\' => false,
            b'&' | b'#' => !query,
            _ => !b.is_ascii_whitespace(),
        });
        let mut end = at + len;
        if !query {
            self.known = (at, end);
        }
        // A full stop or a colon after a value belongs to the sentence.
        while end > at && matches!(text.get(end - 1), Some(b'.' | b':' | b'*')) {
            end -= 1;
        }
        end
    }
}

/// Names that mean something else as often: the value decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Faint {
    /// Of a door, or of a chip.
    Pin,
    /// A password or a key of a map, in Spanish.
    Clave,
}

impl Faint {
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
        && !innocent::placeholder(value)
}

/// Whether a value ends where a word does, or a quote around the whole pair.
fn ends_value(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''))
}

/// What the name says; one word before it may complete it: `API key`, `secret access key`.
fn key_of(text: &[u8], start: usize, end: usize) -> Option<Key> {
    let name = text.get(start..end)?;
    if name.eq_ignore_ascii_case(b"passe") {
        let before = &text[start.saturating_sub(7)..start];
        return before.eq_ignore_ascii_case(b"mot de ").then_some(Key::Password);
    }
    let key = keys::classify(name)?;
    if matches!(key, Key::Token | Key::Weak) && start > 0 && text.get(start - 1) == Some(&b' ') {
        let before = bytes::run_back(text, start - 1, 16, |b| bytes::is(b, ALNUM));
        let both = text.get(start - 1 - before..end)?;
        return keys::classify(both).max(Some(key));
    }
    Some(key)
}

fn quoted(text: &[u8], mut at: usize, key: Key) -> Option<Value> {
    // r"…", b'…', N'…', @"…", f"…"
    let prefix = bytes::run(text, at, 2, |b| {
        matches!(b, b'r' | b'b' | b'f' | b'u' | b'N' | b'L' | b'@' | b'$' | b'R' | b'B')
    });
    if matches!(text.get(at + prefix), Some(b'"' | b'\'')) {
        at += prefix;
    }
    let mut escaped = false;
    if text.get(at) == Some(&b'\\') && matches!(text.get(at + 1), Some(b'"' | b'\'')) {
        escaped = true;
        at += 1;
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
    // `{noop}…`: how it is kept.
    let kept = if text[start..end].starts_with(b"{noop}") { 6 } else { 0 };
    Some(Value { start: start + kept, end, form: Form::Quoted, key })
}

/// `IDENTIFIED BY '…'`
fn identified_by(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let before = text.get(..start)?.trim_ascii_end();
    let head = before.len().checked_sub(10)?;
    // `IDENTIFIED WITH mysql_native_password BY '…'`
    let with = &before[before.len().saturating_sub(48)..];
    (before.get(head..)?.eq_ignore_ascii_case(b"identified")
        || bytes::contains_ignore_case(with, b"identified with "))
    .then_some(())?;
    let mut at = skip_space(text, end);
    if text.get(at..at + 9).is_some_and(|w| w.eq_ignore_ascii_case(b"password ")) {
        at = skip_space(text, at + 9);
    }
    // "identified by its name" is prose: the words are shouted, or a user is made.
    let line = &text[bytes::line_start(text, start, 120)..start];
    let shouted = text.get(start) == Some(&b'B');
    let sql = shouted
        || bytes::contains_ignore_case(line, b"user ")
        || bytes::contains_ignore_case(line, b"grant ");
    sql.then_some(())?;
    let (from, to) = match quoted(text, at, Key::Password) {
        Some(value) => (value.start, value.end),
        None if shouted => {
            let len = bytes::run(text, at, QUOTED, |b| !b.is_ascii_whitespace() && b != b';');
            (at, at + len)
        }
        None => return None,
    };
    let value = text.get(from..to)?;
    // `:name` stands for a value.
    let bound = value.starts_with(b":") && random::wordy(value);
    (!bound && !innocent::placeholder(value)).then_some((from, to))
}

/// Whether another string is given after the one that ends at `at`: this one names something.
fn more_strings(text: &[u8], at: usize) -> bool {
    let next = at + 1 + bytes::run(text, at + 1, 2, |b| matches!(b, b',' | b' '));
    next > at + 1 && matches!(text.get(next), Some(b'"' | b'\''))
}

/// `setProperty("password", "…")`, `map.put("password", "…")`: a setting with its value.
fn property(text: &[u8], start: usize, value: &Value) -> bool {
    let open = bytes::run_back(text, start, 4, |b| matches!(b, b'"' | b'\'' | b' ' | b'('));
    let name = bytes::run_back(text, start - open, 32, |b| bytes::is(b, ALNUM) || b == b'_');
    let name = &text[start - open - name..start - open];
    let starts = |word: &[u8]| name.get(..word.len()).is_some_and(|n| n.eq_ignore_ascii_case(word));
    text[start - open..start].contains(&b'(')
        && ["set", "put", "define", "getenv", "env"].iter().any(|word| starts(word.as_bytes()))
        && text.get(value.end + 1) == Some(&b')')
}

/// `password 7 …`, `secret 5 …`: routers tell with a digit how a password is kept.
fn typed(text: &[u8], name: &[u8], at: usize) -> Option<Value> {
    let kind = matches!(text.get(at..at + 2), Some([b'0' | b'4'..=b'9', b' ']));
    (kind && matches!(name, b"password" | b"secret")).then_some(())?;
    let start = at + 2;
    let end = start + bytes::run(text, start, 120, |b| !b.is_ascii_whitespace());
    let literal = text.get(start..end)?;
    let ends = matches!(text.get(end), None | Some(b'\n' | b'\r'));
    (ends && literal.len() >= 6 && random::mixed(literal)).then_some(Value {
        start,
        end,
        form: Form::Quoted,
        key: Key::Password,
    })
}
