//! Lines as they appear in files, logs and JSON strings: numbered, part of a diff, or joined by `\n`.

use super::bytes::{self, ALNUM, SLASH};

/// How the lines of a block are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaks {
    /// By line breaks.
    Real,
    /// By `\n`, in a string of a program or of JSON. Line breaks separate too.
    Escaped,
}

impl Breaks {
    /// How lines are separated around the word at `start..end`.
    pub(super) fn around(text: &[u8], start: usize, end: usize) -> Self {
        let line = bytes::line_start(text, start, 256);
        let before = text[line..start].windows(2).any(|w| w == b"\\n");
        let after = matches!(text.get(end..end + 2), Some(b"\\n" | b"\\r"));
        if before || after { Self::Escaped } else { Self::Real }
    }
}

/// One line: its content without prefix and indentation, and where the next one starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Where the line begins, prefix included.
    pub(super) begin: usize,
    /// Where its content begins.
    pub(super) start: usize,
    /// Where its content ends, without trailing white space.
    pub(super) end: usize,
    /// Where the next line begins; past the text after the last.
    pub(super) next: usize,
    /// The columns before the content, not counting a line number.
    pub(super) depth: usize,
}

impl Line {
    /// The line that begins at `begin`; nothing from `stop` on is read.
    pub(super) fn at(text: &[u8], begin: usize, stop: usize, breaks: Breaks) -> Self {
        let stop = stop.min(text.len());
        let (end, next) = line_end(text, begin, stop, breaks);
        let number = number_prefix(&text[begin..end]);
        let from = begin + number;
        let depth = bytes::run(text, from, end - from, |b| matches!(b, b' ' | b'-' | b'+' | b'>'));
        let start = from + depth;
        let blank = |b: u8| matches!(b, b' ' | b'\t' | b'\r' | b'\\');
        let end = end - bytes::run_back(text, end, end - start, blank);
        Self { begin, start, end, next, depth }
    }

    /// Whether the line separates documents: `---`.
    pub(super) fn is_separator(&self, text: &[u8]) -> bool {
        text[self.begin..self.start].trim_ascii_end().ends_with(b"---")
    }

    /// The content in its text.
    pub(super) fn content<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.end]
    }
}

/// The end of the line at `begin`, and the start of the next.
fn line_end(text: &[u8], begin: usize, stop: usize, breaks: Breaks) -> (usize, usize) {
    let mut at = begin;
    while at < stop {
        match text[at] {
            b'\n' => return (at, at + 1),
            // `\r\n` and `\n`; the backslash may itself be escaped.
            b'\\' if breaks == Breaks::Escaped => {
                let slashes = bytes::run(text, at, 4, |b| b == b'\\');
                match text.get(at + slashes) {
                    Some(b'n') => return (at, at + slashes + 1),
                    Some(b'r') => {
                        let next = at + slashes + 1;
                        let again = bytes::run(text, next, 4, |b| b == b'\\');
                        let whole = again > 0 && text.get(next + again) == Some(&b'n');
                        return (at, if whole { next + again + 1 } else { next });
                    }
                    Some(_) | None => at += slashes,
                }
            }
            // The string that holds the lines ends.
            b'"' if breaks == Breaks::Escaped && at > begin && text[at - 1] != b'\\' => {
                return (at, stop.max(at + 1));
            }
            _ => at += 1,
        }
    }
    (stop, stop + 1)
}

/// The length of a line number as tools print it: `     7→`, `7\t`, `   7 | `.
fn number_prefix(line: &[u8]) -> usize {
    let space = bytes::run(line, 0, 8, |b| b == b' ');
    let digits = bytes::run(line, space, 7, |b| b.is_ascii_digit());
    let rest = &line[space + digits..];
    let bar = ["→", "\t", "\\t", " | ", "|"].iter().find(|s| rest.starts_with(s.as_bytes()));
    match bar {
        Some(bar) if digits > 0 => space + digits + bar.len(),
        Some(_) | None => 0,
    }
}

/// Whether a line consists of base64 or hexadecimal digits alone.
pub(super) fn is_encoded(line: &[u8]) -> bool {
    let digits = bytes::run(line, 0, line.len(), |b| {
        bytes::is(b, ALNUM | SLASH) || matches!(b, b'-' | b'_')
    });
    let padding = bytes::run(line, digits, 2, |b| b == b'=');
    digits >= 16 && digits + padding == line.len()
}

/// The start of the encoded lines that the text ends in, if their last line may continue.
pub(super) fn open_block(text: &[u8], from: usize) -> Option<usize> {
    let mut start = text.len();
    // The last line may be incomplete, so any beginning of one counts.
    let mut partial = true;
    while start > from {
        let close = start - usize::from(!partial);
        let line = bytes::line_start(text, close, 256).max(from);
        let content = text[line..close].trim_ascii();
        let part = content.iter().all(|b| bytes::is(*b, ALNUM | SLASH) || *b == b'=');
        let fits = if partial { part } else { is_encoded(content) };
        let begins = line == 0 || text[line - 1] == b'\n';
        if !fits || !begins {
            break;
        }
        start = line;
        partial = false;
        if start == 0 {
            break;
        }
    }
    (start < text.len()).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str, breaks: Breaks) -> Vec<(usize, &str)> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let line = Line::at(bytes, at, bytes.len(), breaks);
            found.push((line.depth, &text[line.start..line.end]));
            at = line.next;
        }
        found
    }

    #[test]
    fn real_lines_end_at_line_breaks() {
        let text = "a: 1\r\n  b: \"x\\ny\"\n\nc";
        let expected = [(0, "a: 1"), (2, "b: \"x\\ny\""), (0, ""), (0, "c")];
        assert_eq!(contents(text, Breaks::Real), expected);
    }

    #[test]
    fn escaped_lines_end_at_escapes_and_with_their_string() {
        let text = "a: 1\\n  b: 2\\r\\nc: 3\\\\nd: 4\",\"rest\\n";
        let expected = [(0, "a: 1"), (2, "b: 2"), (0, "c: 3"), (0, "d: 4")];
        assert_eq!(contents(text, Breaks::Escaped), expected);
    }

    #[test]
    fn numbers_of_lines_are_no_indentation() {
        let text = "     9→kind: x\n    10→  a: 1\n11\t  b: 2\n 12 | c: 3\n13 d";
        let expected = [(0, "kind: x"), (2, "a: 1"), (2, "b: 2"), (0, "c: 3"), (0, "13 d")];
        assert_eq!(contents(text, Breaks::Real), expected);
    }

    #[test]
    fn marks_of_diffs_and_quotations_are_columns() {
        let text = "+kind: x\n+  a: 1\n-  a: 2\n> b: 3";
        let expected = [(1, "kind: x"), (3, "a: 1"), (3, "a: 2"), (2, "b: 3")];
        assert_eq!(contents(text, Breaks::Real), expected);
    }

    #[test]
    fn breaks_are_those_around_a_word() {
        let of = |text: &str| {
            let start = text.find("kind").unwrap();
            Breaks::around(text.as_bytes(), start, start + 4)
        };
        assert_eq!(of("a: 1\nkind\nb: 2"), Breaks::Real);
        assert_eq!(of("{\"x\": \"a: 1\\nkind"), Breaks::Escaped);
        assert_eq!(of("\"kind\\nb: 2"), Breaks::Escaped);
        assert_eq!(of("a\\n\nkind b"), Breaks::Real);
    }

    #[test]
    fn encoded_lines_have_digits_and_padding_alone() {
        for line in ["MIIEpQIBAAKCAQEA", "0123456789abcdef01", "QUJDREVGR0hJSktMTU4="] {
            assert!(is_encoded(line.as_bytes()), "{line}");
        }
        for line in ["", "short", "MIIEpQIBAAKCAQ EA", "MIIEpQIBAAKCAQEA===", "=MIIEpQIBAAKCAQEA"] {
            assert!(!is_encoded(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_block_at_the_end_may_go_on() {
        let line = "MIIEpQIBAAKCAQEAn6ycIHB5";
        for (text, open) in [
            (format!("before it\n{line}\n{line}\nMII"), Some(10)),
            (format!("{line}\n{line}\n"), Some(0)),
            (format!("x y\n{line}\nand more"), None),
            ("a word".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(open_block(text.as_bytes(), 0), open, "{text}");
        }
    }
}
