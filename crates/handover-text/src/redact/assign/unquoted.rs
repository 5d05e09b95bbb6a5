//! Unquoted values: where they end, and how strictly to judge them.

use super::{Assignment, Assignments, QUOTED, Value};
use crate::redact::bytes::{self, ALNUM};
use crate::redact::keys::Key;
use crate::redact::operators::Operator;
use crate::redact::random;
use crate::redact::settings::{
    self, continues_sentence, in_settings, is_setting, netrc, shell_name,
};
use crate::redact::syntax::{after_passin, before_pair};
use crate::redact::values::{self, Form};

/// The longest password with brackets in it.
const SCRAMBLED: usize = 64;

impl Assignments {
    /// The unquoted value of an assignment.
    pub(super) fn unquoted(&mut self, text: &[u8], assignment: &Assignment) -> Option<Value> {
        let &Assignment { start, end, key, operator, at, .. } = assignment;
        if matches!(operator, Operator::Comma | Operator::Call | Operator::Compare) {
            return None;
        }
        let name = text.get(start..end)?;
        if operator == Operator::Space
            && let Some(value) = typed(text, name, at)
        {
            return Some(value);
        }
        if let Some((start, end)) = scrambled(text, operator, at) {
            return Some(Value { start, end, form: Form::Quoted, key });
        }
        let query = is_query(text, assignment);
        let stop = if operator == Operator::Tag && text.get(at) == Some(&b'{') {
            at + bytes::run(text, at, QUOTED, |b| b != b'<' && !b.is_ascii_whitespace())
        } else {
            before_pair(text, at, self.unquoted_end(text, at, query))
        };
        let form = form(text, assignment, stop)?;
        let at = skip_cookie_name(text, assignment, stop);
        // `PASS: test-1 of the suite`
        let continues = matches!(text.get(stop), Some(b' ' | b'\t'));
        if name == b"PASS" && operator == Operator::Colon && continues {
            return None;
        }
        // The words after an unquoted value show that it is part of a sentence.
        if form == Form::Loose
            && key == Key::Password
            && continues_sentence(text, stop)
            && !random::mixed(text.get(at..stop)?)
        {
            return None;
        }
        Some(Value { start: at, end: stop, form, key })
    }

    pub(super) fn unquoted_end(&mut self, text: &[u8], at: usize, query: bool) -> usize {
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
            self.judged = 0;
        }
        // A trailing full stop or colon belongs to the sentence.
        while end > at && matches!(text.get(end - 1), Some(b'.' | b':' | b'*')) {
            end -= 1;
        }
        end
    }
}

/// Whether the name is a parameter of a query string.
fn is_query(text: &[u8], assignment: &Assignment) -> bool {
    let &Assignment { start, operator, .. } = assignment;
    operator == Operator::Equals && matches!(byte_before(text, start), Some(b'?' | b'&' | b'#'))
}

fn byte_before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.get(at)).copied()
}

/// How to judge the value that ends at `stop`; `None` if it is not a value at all.
fn form(text: &[u8], assignment: &Assignment, stop: usize) -> Option<Form> {
    let &Assignment { start, end, key, operator, at, tight, .. } = assignment;
    let name = text.get(start..end)?;
    Some(match operator {
        Operator::Tag => {
            let closed = text.get(stop) == Some(&b'<') || text[stop..].starts_with(b"]]>");
            closed.then_some(Form::Quoted)?
        }
        Operator::Equals if tight => tight_form(text, assignment, stop)?,
        // `DB_PASSWORD: word` up to the end of the line: YAML.
        Operator::Colon | Operator::Equals
            if shell_name(name)
                && (operator == Operator::Colon || text[end..at].contains(&b'\n'))
                && matches!(text.get(stop), None | Some(b'\n' | b'\r')) =>
        {
            Form::Plain
        }
        Operator::Equals | Operator::Colon
            if key == Key::Password
                && (in_settings(text, start, at, stop)
                    || settings::is_system_line(text, start, end, at, stop)
                    || settings::after_user(text, start)) =>
        {
            Form::Plain
        }
        // `openssl … -passin pass:word`
        Operator::Colon if name == b"pass" && after_passin(text, start) => Form::Plain,
        Operator::Word
            if values::wordy_with_number(text.get(at..stop)?)
                && !values::made_up(text.get(at..stop)?)
                && text.get(at..stop)?.contains(&b'-') =>
        {
            return None;
        }
        Operator::Words => settings::in_prose(text.get(at..stop)?).then_some(Form::Loose)?,
        Operator::Space => spaced_form(text, assignment, stop)?,
        Operator::Equals
        | Operator::Compare
        | Operator::Colon
        | Operator::Comma
        | Operator::Call
        | Operator::Word => Form::Loose,
    })
}

/// `name=value` without spaces: a setting, or an expression of a program.
fn tight_form(text: &[u8], assignment: &Assignment, stop: usize) -> Option<Form> {
    let &Assignment { start, end, key, .. } = assignment;
    let name = text.get(start..end)?;
    let listed = is_query(text, assignment) || byte_before(text, start) == Some(b';');
    let password = key == Key::Password;
    // `password=word` before white space is a setting; a program would continue.
    let ends = text.get(stop).is_none_or(u8::is_ascii_whitespace);
    let plain = listed
        || shell_name(name)
        || password && ends_value(text, stop) && settings::of_system(name)
        || password && settings::after_user(text, start)
        || password && ends && !name.ends_with(b"pass");
    Some(if plain { Form::Plain } else { Form::Loose })
}

/// `name value`: a flag, an entry of a `.netrc`, a setting, or a sentence.
fn spaced_form(text: &[u8], assignment: &Assignment, stop: usize) -> Option<Form> {
    let &Assignment { start, end, key, at, .. } = assignment;
    let name = text.get(start..end)?;
    let literal = text.get(at..stop)?;
    // The next flag is no value.
    if literal.starts_with(b"--") {
        return None;
    }
    let flag = name.len() > 4
        && (name.starts_with(b"--")
            || name == b"-password"
            || matches!(name, [b'-', first, ..] if first.is_ascii_uppercase())
            || name[0] == b'-' && matches!(key, Key::Secret | Key::Token));
    let netrc = name == b"password" && netrc(text, start);
    let setting = (is_setting(name) || settings::after_setenv(text, start))
        && text.get(stop).is_none_or(u8::is_ascii_whitespace);
    let command = flag
        && key == Key::Password
        && (settings::after_user(text, start) || settings::on_command_line(text, start, at, stop));
    if netrc || setting || command {
        Some(Form::Plain)
    } else if flag || key == Key::Password && settings::in_prose(literal) {
        Some(Form::Loose)
    } else {
        None
    }
}

/// `Cookie: name=value` names its value once more.
fn skip_cookie_name(text: &[u8], assignment: &Assignment, stop: usize) -> usize {
    let &Assignment { key, operator, at, .. } = assignment;
    let inner =
        bytes::run(text, at, 40, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.'));
    let named = operator == Operator::Colon
        && key == Key::Weak
        && text.get(at + inner) == Some(&b'=')
        && at + inner + 1 < stop;
    if named { at + inner + 1 } else { at }
}

/// Whether a value ends at white space, or at the quote around the whole pair.
fn ends_value(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''))
}

/// The word at the end of a line whose brackets do not match: no program, but what a generator of passwords
/// writes.
fn scrambled(text: &[u8], operator: Operator, at: usize) -> Option<(usize, usize)> {
    matches!(operator, Operator::Equals | Operator::Colon).then_some(())?;
    let len = bytes::run(text, at, SCRAMBLED, |b| !b.is_ascii_whitespace());
    let mark = |b: u8| matches!(b, b',' | b';' | b'"' | b'\'' | b'`');
    let end = at + len - bytes::run_back(text, at + len, len.min(2), mark);
    let word = text.get(at..end)?;
    let code = |b: &u8| matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'=' | b';' | b'|' | b'/' | b'^');
    let ends = matches!(text.get(at + len), None | Some(b'\n' | b'\r'));
    (ends && word.len() >= 12 && !word.iter().any(code)).then_some(())?;
    let mut open = [0u8; SCRAMBLED];
    let mut depth = 0;
    let mismatch = word.iter().any(|b| {
        let opening = match b {
            b'(' | b'[' | b'{' => {
                open[depth] = *b;
                depth += 1;
                return false;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return false,
        };
        depth > 0 && {
            depth -= 1;
            open[depth] != opening
        }
    });
    mismatch.then_some((at, end))
}

/// `password 7 …`, `secret 5 …`: on routers a digit says how the password is encoded.
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
