//! Passwords of SQL users: `IDENTIFIED BY '…'`, and their hashes: `IDENTIFIED WITH … AS '…'`.

use super::{QUOTED, quoted};
use crate::redact::allowlist;
use crate::redact::bytes;
use crate::redact::keys::Key;
use crate::redact::operators::skip_space;
use crate::redact::random;

/// The password after the word `BY` or `AS` at `start..end`.
pub(super) fn identified_by(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let before = text.get(..start)?.trim_ascii_end();
    let head = before.len().checked_sub(10)?;
    // `IDENTIFIED WITH mysql_native_password BY '…'`
    let with = &before[before.len().saturating_sub(48)..];
    let is_by = text.get(start).is_some_and(|b| b.eq_ignore_ascii_case(&b'b'));
    (is_by && before.get(head..)?.eq_ignore_ascii_case(b"identified")
        || bytes::contains_ignore_case(with, b"identified with "))
    .then_some(())?;
    let mut at = skip_space(text, end);
    if text.get(at..at + 9).is_some_and(|w| w.eq_ignore_ascii_case(b"password ")) {
        at = skip_space(text, at + 9);
    }
    // "identified by its name" is prose: in SQL the words are in capitals, or a user is created.
    let line = &text[bytes::line_start(text, start, 120)..start];
    let shouted = is_by && text.get(start) == Some(&b'B');
    let sql = shouted
        || bytes::contains_ignore_case(line, b"user ")
        || bytes::contains_ignore_case(line, b"grant ");
    sql.then_some(())?;
    let (from, to) = match quoted::literal(text, at, Key::Password) {
        Some(value) => (value.start, value.end),
        None if shouted => {
            let len = bytes::run(text, at, QUOTED, |b| !b.is_ascii_whitespace() && b != b';');
            (at, at + len)
        }
        None => return None,
    };
    let value = text.get(from..to)?;
    // `:name` is a bound parameter.
    let bound = value.starts_with(b":") && random::wordy(value);
    (!bound && !allowlist::placeholder(value)).then_some((from, to))
}
