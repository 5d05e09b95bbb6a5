//! Finds `Name: value` lines in every common spelling, and the exact position of the value.

use std::ops::Range;

use handover_text::fence::Fences;

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
    let mut fences = Fences::default();
    let mut front = text.starts_with("---\n") || text.starts_with("---\r\n");
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let in_front = front;
        if front && number > 0 && line.trim_end() == "---" {
            front = false;
        }
        let fenced = !in_front && fences.line(line).is_fenced();
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

/// The text below the last heading of this name, up to the next one of the same level.
pub(crate) fn section(text: &str, name: &str) -> Option<String> {
    let lines = lines(text);
    let is_heading = |line: &Line<'_>| !line.fenced && line.text.starts_with("## ");
    let is_it = |line: &Line<'_>| {
        is_heading(line) && line.text.trim_matches(['#', ' ', ':']).eq_ignore_ascii_case(name)
    };
    let at = lines.iter().rposition(is_it)?;
    let body = lines[at + 1..].iter().take_while(|line| !is_heading(line));
    let body: Vec<&str> = body.map(|line| line.text).collect();
    Some(body.join("\n").trim().to_owned()).filter(|text| !text.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'t>(text: &'t str, names: &[&str]) -> Option<&'t str> {
        find(text, names).map(|field| &text[field.range])
    }

    #[test]
    fn a_field_is_found_in_every_common_spelling() {
        for text in [
            "Status: done",
            "status: done",
            "**Status:** done",
            "**Status**: done",
            "- **Status:** done",
            "> Status: done",
            "## Status: done",
            "`Status`: `done`",
            "_Status:_ done",
            "  Status :  done  ",
            "## Status\n\ndone\n",
            "## Status\n- done",
            "---\nstatus: done\n---\n# S\n",
        ] {
            assert_eq!(value(text, &["status"]), Some("done"), "{text:?}");
        }
        for text in [
            "Statuses: done",
            "The status: done",
            "Status done",
            "## Status\n## Next\n",
            "",
            "## Status",
        ] {
            assert_eq!(value(text, &["status"]), None, "{text:?}");
        }
    }

    #[test]
    fn front_matter_comes_first_then_the_header_then_headings() {
        let text = "---\nepic: 1\n---\n# S\nEpic: 2\n\n## Epic\n\n3\n";
        assert_eq!(value(text, &["epic"]), Some("1"));
        assert_eq!(value(&text[text.find("# S").unwrap()..], &["epic"]), Some("2"));
        assert_eq!(value("# S\n\n## Epic\n\n3\n", &["epic"]), Some("3"));
        // Below a section a line is text, not a field; a heading still is one.
        assert_eq!(value("# S\n\n## Notes\nEpic: 4\n", &["epic"]), None);
        assert_eq!(value("# S\n\n## Notes\n\n### Epic: 5\n", &["epic"]), Some("5"));
        // The first name in the file wins, not the first in the list.
        assert_eq!(value("Epic: 1\nEpic id: 2\n", &["epic id", "epic"]), Some("1"));
    }

    #[test]
    fn fields_know_their_line_and_their_bytes() {
        let text = "# Ü\r\n\r\nStatus: in work\r\n";
        let field = find(text, &["status"]).unwrap();
        assert_eq!((field.line, &text[field.range]), (2, "in work"));
        let empty = find("Status:\n", &["status"]).unwrap();
        assert!(empty.range.is_empty());
    }

    #[test]
    fn lines_know_where_they_are() {
        let text = "---\na: 1\n---\n# T\n```\ncode\n```\nend";
        let flags: Vec<(bool, bool)> =
            lines(text).iter().map(|line| (line.front, line.fenced)).collect();
        assert_eq!(
            flags,
            [
                (true, false),
                (true, false),
                (true, false),
                (false, false),
                (false, true),
                (false, true),
                (false, true),
                (false, false),
            ]
        );
        let starts: Vec<usize> = lines(text).iter().map(|line| line.start).collect();
        assert_eq!(starts, [0, 4, 9, 13, 17, 21, 26, 30]);
        assert_eq!(body_lines(text).collect::<Vec<_>>(), ["# T", "end"]);
        // Front matter without an end continues to the end of the file.
        assert_eq!(body_lines("---\na: 1\n").count(), 0);
        assert_eq!(body_lines("----\na: 1\n").count(), 2);
        // A fence inside front matter is ignored.
        assert_eq!(body_lines("---\n```\n---\nx\n").collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn a_section_ends_with_the_next_heading() {
        let text = "# S\n## Dependencies:\n- a\n```\nb\n```\nc\n### More\nd\n";
        assert_eq!(section_items(text, "dependencies"), ["- a", "c"]);
        assert_eq!(section_items(text, "more"), ["d"]);
        assert_eq!(section_items(text, "s"), [""; 0], "the title is no section");
        assert_eq!(section_items(text, "other"), [""; 0]);
        assert_eq!(section_items("```\n## Dependencies\n- a\n```\n", "dependencies"), [""; 0]);
    }
}
