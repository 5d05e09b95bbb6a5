//! Starts of lines, where Markdown blocks open.

use std::borrow::Cow;

/// The longest label of a link definition.
const LONGEST_LABEL: usize = 1000;

/// What precedes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing, or a blank line: the line starts a paragraph.
    Blank,
    /// Another line of the same paragraph.
    Text,
}

/// Escapes what would open a block at the start of a line. `rest` is the text from this line on, because
/// a definition may span lines; `column` is where the line starts.
pub(super) fn escape_start<'t>(
    line: &'t str,
    rest: &str,
    before: Before,
    column: usize,
) -> Cow<'t, str> {
    let body = line.trim_start_matches([' ', '\t']);
    let (indent, body_at) = (&line[..line.len() - body.len()], line.len() - body.len());
    let deep = columns(indent, column) >= 4;
    let (indent, shortened) = match (deep, before) {
        // Only code can start this deep, and code cannot interrupt a paragraph.
        (true, Before::Text) => return Cow::Borrowed(line),
        (true, Before::Blank) => ("   ", true),
        (false, _) => (indent, false),
    };
    match marker(body, &rest[body_at..], before) {
        Some((at, width)) => {
            let mut out = format!("{indent}{}", &body[..at]);
            for c in body[at..at + width].chars() {
                out.push('\\');
                out.push(c);
            }
            out.push_str(&body[at + width..]);
            Cow::Owned(out)
        }
        None if shortened => Cow::Owned(format!("{indent}{body}")),
        None => Cow::Borrowed(line),
    }
}

/// The width of white space, with tab stops at multiples of four.
fn columns(indent: &str, start: usize) -> usize {
    let end = indent.bytes().fold(start, |column, byte| match byte {
        b'\t' => (column / 4 + 1) * 4,
        _ => column + 1,
    });
    end - start
}

/// The offset and length of the characters that must be escaped.
fn marker(body: &str, rest: &str, before: Before) -> Option<(usize, usize)> {
    let first = body.chars().next()?;
    let line = body.trim_end_matches([' ', '\t']);
    let width = body.len() - body.trim_start_matches(first).len();
    let ends_word = |at: usize| body[at..].chars().next().is_none_or(|c| c == ' ' || c == '\t');
    let only = |allowed: &[char]| line.chars().all(|c| allowed.contains(&c));
    let rule = || only(&[first, ' ', '\t']) && line.matches(first).count() >= 3;
    // A line that turns the paragraph above into a heading or a table header.
    let underline = || {
        before == Before::Text
            && (only(&[first]) && matches!(first, '=' | '-')
                || only(&['|', ':', '-', ' ', '\t']) && line.contains('-'))
    };
    let escaped = match first {
        '#' => width <= 6 && ends_word(width),
        '>' => true,
        '-' | '+' | '*' => ends_word(1) || (first != '+' && rule()) || underline(),
        '_' => rule(),
        '=' | '|' | ':' => underline(),
        '~' => width >= 3,
        '`' if width >= 3 && !body[width..].contains('`') => return Some((0, width)),
        '<' => body[1..].starts_with(opens_tag),
        '[' => match body[1..].starts_with('!') {
            true => true,
            false => return definition(rest).map(|at| (at, 1)),
        },
        '0'..='9' => {
            let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let item =
                digits <= 9 && body[digits..].starts_with(['.', ')']) && ends_word(digits + 1);
            return item.then_some((digits, 1));
        }
        _ => false,
    };
    escaped.then_some((0, 1))
}

/// Whether a character after `<` makes it a tag, a comment, a declaration or an autolink.
pub(super) fn opens_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')
}

/// What to escape in `[label]: …`: the opening bracket, or the colon if the label is a redaction mark,
/// which must not be changed.
fn definition(rest: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1).take(LONGEST_LABEL) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if rest[at + 1..].starts_with(':') => {
                return Some(match rest.starts_with("[REDACTED-") && !rest[..at].contains('\n') {
                    true => at + 1,
                    false => 0,
                });
            }
            // An inner opening bracket may still be escaped as the start of a line.
            ']' => return None,
            _ => {}
        }
    }
    None
}
