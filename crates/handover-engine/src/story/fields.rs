//! Finds `Name: value` lines in every common spelling, and the exact position of the value.

use std::ops::Range;

/// A field of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// The line that holds the value, from 0.
    pub(super) line: usize,
    /// The value's bytes in the text.
    pub(super) range: Range<usize>,
}

/// A line with its position.
pub(super) struct Line<'t> {
    pub(super) number: usize,
    pub(super) start: usize,
    pub(super) text: &'t str,
    /// Inside a code fence, or opening or closing one.
    pub(super) fenced: bool,
    /// Inside front matter.
    pub(super) front: bool,
}

/// The lines of a text, with their context.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut fence: Option<(char, usize)> = None;
    let mut front = text.starts_with("---\n") || text.starts_with("---\r\n");
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let in_front = front;
        if front && number > 0 && line.trim_end() == "---" {
            front = false;
        }
        let mut fenced = fence.is_some();
        if !in_front {
            let mark = fence_mark(line);
            match (fence, mark) {
                (None, Some(opening)) => {
                    fence = Some((opening.0, opening.1));
                    fenced = true;
                }
                (Some((c, n)), Some((d, m, rest))) if c == d && m >= n && rest.is_empty() => {
                    fence = None;
                }
                (None | Some(_), _) => {}
            }
        }
        out.push(Line { number, start, text: line, fenced, front: in_front });
        start += whole.len();
    }
    out
}

/// The lines of a text that are neither front matter nor in a fence.
pub(crate) fn body_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = lines(text).into_iter().filter(|line| !line.front && !line.fenced);
    lines.map(|line| line.text)
}

/// A code fence: its character, its length, and the text after it.
pub(crate) fn fence_mark(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let c = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let n = text.chars().take_while(|d| *d == c).count();
    let rest = text[n..].trim();
    (n >= 3 && !(c == '`' && rest.contains('`'))).then_some((c, n, rest))
}

/// The first field with one of these names: in the front matter, else above the sections, else as a
/// heading.
pub(super) fn find(text: &str, names: &[&str]) -> Option<Field> {
    let lines = lines(text);
    let in_front = lines.iter().filter(|line| line.front);
    if let Some(found) = in_front.filter_map(|line| plain(line, names)).next() {
        return Some(found);
    }
    let body = || lines.iter().filter(|line| !line.front && !line.fenced);
    let is_section =
        |line: &&Line<'_>| line.text.starts_with("## ") && plain(line, names).is_none();
    let header = body().take_while(|line| !is_section(line));
    header
        .filter_map(|line| plain(line, names))
        .next()
        .or_else(|| below_heading(&lines, names))
        .or_else(|| {
            let headings = body().filter(|line| line.text.starts_with('#'));
            headings.filter_map(|line| plain(line, names)).next()
        })
}

/// `Status: x`, `**Status:** x`, `- **Status**: x`, `## Status: x`.
fn plain(line: &Line<'_>, names: &[&str]) -> Option<Field> {
    let decoration = |c: char| matches!(c, '*' | '_' | '`' | ' ' | '\t');
    let rest =
        line.text.trim_start_matches(|c: char| decoration(c) || matches!(c, '#' | '-' | '>'));
    let name = names.iter().find(|name| {
        rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    })?;
    let after = rest[name.len()..].trim_start_matches(decoration);
    let value = after.strip_prefix(':')?.trim_start_matches(decoration);
    let trimmed = value.trim_end_matches(decoration);
    let start = line.start + (line.text.len() - value.len());
    Some(Field { line: line.number, range: start..start + trimmed.len() })
}

/// `## Status`, and the value on the next line that is not empty.
fn below_heading(lines: &[Line<'_>], names: &[&str]) -> Option<Field> {
    let heading = lines.iter().position(|line| {
        !line.fenced
            && line.text.starts_with('#')
            && names
                .iter()
                .any(|name| line.text.trim_matches(['#', ' ']).eq_ignore_ascii_case(name))
    })?;
    let line = lines[heading + 1..].iter().find(|line| !line.text.trim().is_empty())?;
    if line.text.starts_with('#') {
        return None;
    }
    let decoration = |c: char| matches!(c, '*' | '_' | '`' | ' ' | '\t' | '-');
    let value = line.text.trim_start_matches(decoration);
    let trimmed = value.trim_end_matches(decoration);
    let start = line.start + (line.text.len() - value.len());
    Some(Field { line: line.number, range: start..start + trimmed.len() })
}

/// The items of a section's list or paragraph, if there is such a section.
pub(super) fn section_items<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = lines(text);
    let Some(at) = lines.iter().position(|line| {
        !line.fenced
            && line.text.starts_with("##")
            && line.text.trim_matches(['#', ' ', ':']).eq_ignore_ascii_case(name)
    }) else {
        return Vec::new();
    };
    let body = lines[at + 1..].iter().take_while(|line| !line.text.starts_with('#'));
    body.filter(|line| !line.fenced).map(|line| line.text).collect()
}
