//! Kubernetes Secrets: every value under `data:` or `stringData:` is a secret, whatever its name.
//! Manifests are read as YAML and as JSON, also inside a string of a log.

use std::ops::Range;

use memchr::memmem;

use super::Hit;
use super::allowlist;
use super::bytes::{self, ALNUM};
use super::lines::{Breaks, Line};

const RULE: &str = "kubernetes-secret";

/// The most bytes of a document that are read, in each direction.
const DOCUMENT: usize = 65536;

/// Adds the values of the Secret whose kind is at `start..end`; returns the part of the text that was
/// read for it. Documents before `read` are skipped: they have been read.
pub(super) fn find(
    text: &[u8],
    start: usize,
    end: usize,
    read: usize,
    hits: &mut Vec<Hit>,
) -> Option<Range<usize>> {
    (&text[start..end] == b"Secret").then_some(())?;
    if text[..start].ends_with(b"\"") {
        return object(text, start, end, read, hits);
    }
    let kind = start.checked_sub(6).filter(|kind| *kind >= read)?;
    (&text[kind..start] == b"kind: ").then_some(())?;
    matches!(text.get(end), None | Some(b'\n' | b'\r' | b' ' | b'\\' | b'"')).then_some(())?;
    let breaks = Breaks::around(text, kind, end);
    let begin = line_of(text, kind, breaks)?;
    let from = read.max(kind.saturating_sub(DOCUMENT));
    let from = first_line(text, from, begin, breaks);
    let stop = text.len().min(kind + DOCUMENT);
    let indent = Line::at(text, begin, stop, breaks).depth;
    let to = values(text, from..stop, kind, indent, breaks, hits);
    Some(from..to)
}

/// The start of the line whose content begins at `at`.
fn line_of(text: &[u8], at: usize, breaks: Breaks) -> Option<usize> {
    let back = bytes::run_back(text, at, 64, |b| b != b'\n');
    let start = at - back;
    let head = &text[start..at];
    let begin = match (breaks, memmem::rfind(head, b"\\n")) {
        (Breaks::Escaped, Some(escape)) => start + escape + 2,
        (Breaks::Escaped, None) => {
            start + head.iter().rposition(|b| *b == b'"').map_or(0, |q| q + 1)
        }
        (Breaks::Real, _) => start,
    };
    (Line::at(text, begin, text.len().min(at + 64), breaks).start == at).then_some(begin)
}

/// The start of the document before the line at `begin`: after the last separator, if there is one.
fn first_line(text: &[u8], from: usize, begin: usize, breaks: Breaks) -> usize {
    let head = &text[from..begin];
    let real = memmem::rfind(head, b"\n---").map(|at| from + at + 1);
    match breaks {
        Breaks::Real => real.unwrap_or_else(|| whole_line(text, from, begin)),
        Breaks::Escaped => {
            let line = from + head.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let string = &text[line..begin];
            let separator = memmem::rfind(string, b"\\n---").map(|at| line + at + 2);
            let quote = || string.iter().rposition(|b| *b == b'"').map(|at| line + at + 1);
            separator.or_else(quote).unwrap_or(line)
        }
    }
}

/// `from`, or the line after it if it is inside one.
fn whole_line(text: &[u8], from: usize, begin: usize) -> usize {
    if from == 0 || text[from - 1] == b'\n' {
        return from;
    }
    (from + bytes::run(text, from, begin - from, |b| b != b'\n') + 1).min(begin)
}

/// Adds the values under `data:` and `stringData:` that are indented like `kind:`; returns where the
/// document ends.
fn values(
    text: &[u8],
    range: Range<usize>,
    kind: usize,
    indent: usize,
    breaks: Breaks,
    hits: &mut Vec<Hit>,
) -> usize {
    let mut at = range.start;
    let mut inside = false;
    let mut block = None;
    while at < range.end {
        let line = Line::at(text, at, range.end, breaks);
        let content = line.content(text);
        let separator = line.is_separator(text);
        at = line.next;
        if at > kind && (separator || line.depth < indent && !content.is_empty()) {
            return line.begin;
        }
        if content.is_empty() || content.starts_with(b"#") {
            continue;
        }
        // `key: |` is followed by deeper-indented lines.
        if block.is_some_and(|key| line.depth > key) {
            push(text, line.start, line.end, hits);
            continue;
        }
        block = None;
        if line.depth <= indent {
            inside = line.depth == indent && is_data(content);
            if at > kind && !is_entry(content) {
                return line.begin;
            }
            continue;
        }
        let Some(colon) = content.iter().position(|b| *b == b':').filter(|_| inside) else {
            continue;
        };
        let space = 1 + bytes::run(content, colon + 1, 8, |b| b == b' ');
        let value = &content[colon + space..];
        if matches!(value.first(), Some(b'|' | b'>')) {
            block = Some(line.depth);
            continue;
        }
        let (quote, value) = match value {
            [b'"' | b'\'', inner @ .., b'"' | b'\''] => (1, inner),
            [b'\\', b'"', inner @ .., b'\\', b'"'] => (2, inner),
            _ => (0, value),
        };
        let from = line.start + colon + space + quote;
        push(text, from, from + value.len(), hits);
    }
    at.min(text.len())
}

fn is_data(content: &[u8]) -> bool {
    matches!(content, b"data:" | b"stringData:" | b"binaryData:")
}

/// `name:` or `name: value`, as in a manifest.
fn is_entry(content: &[u8]) -> bool {
    let name =
        bytes::run(content, 0, 64, |b| bytes::is(b, ALNUM) || matches!(b, b'"' | b'.' | b'/'));
    name > 0 && content.get(name) == Some(&b':')
        || matches!(content.first(), Some(b'{' | b'}' | b'#'))
}

/// The values of a Secret in JSON, whose kind is the string at `start..end`.
fn object(
    text: &[u8],
    start: usize,
    end: usize,
    read: usize,
    hits: &mut Vec<Hit>,
) -> Option<Range<usize>> {
    matches!(text.get(end), Some(b'"' | b'\\')).then_some(())?;
    let head = &text[..start];
    let name = head.trim_ascii_end();
    let name = name.strip_suffix(b"\"").map(|n| n.strip_suffix(b"\\").unwrap_or(n))?;
    let name = name.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"")?;
    let name = name.strip_suffix(b"\\").unwrap_or(name);
    name.ends_with(b"\"kind").then_some(())?;
    let from = read.max(start.saturating_sub(DOCUMENT));
    let open = opening_brace(text, from, name.len())?;
    let stop = text.len().min(start + DOCUMENT);
    let to = Object { text, at: open, stop }.read(hits);
    Some(from..to.max(end))
}

/// The last brace before `at` that is not closed before it.
fn opening_brace(text: &[u8], from: usize, at: usize) -> Option<usize> {
    let mut closed = 0_usize;
    (from..at).rev().find(|i| match text[*i] {
        b'}' => {
            closed += 1;
            false
        }
        b'{' if closed == 0 => true,
        b'{' => {
            closed -= 1;
            false
        }
        _ => false,
    })
}

/// Reads an object of JSON, whose quotes may be escaped.
struct Object<'t> {
    text: &'t [u8],
    at: usize,
    stop: usize,
}

impl Object<'_> {
    /// Adds the strings under `data` and `stringData`; returns where the object ends.
    fn read(mut self, hits: &mut Vec<Hit>) -> usize {
        let mut depth = 0_usize;
        let mut inside = false;
        let mut name = None;
        while self.at < self.stop {
            match self.text[self.at] {
                b'{' => {
                    depth += 1;
                    inside |= depth == 2 && name.is_some_and(|(from, to)| self.is_data(from, to));
                }
                b'}' => {
                    depth = depth.saturating_sub(1);
                    inside &= depth >= 2;
                    if depth == 0 {
                        return self.at + 1;
                    }
                }
                b'"' => {
                    let (from, to) = self.string();
                    let key = self.text[self.at.min(self.stop)..].trim_ascii_start().first()
                        == Some(&b':');
                    if key {
                        name = Some((from, to));
                    } else if inside {
                        push(self.text, from, to, hits);
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at
    }

    fn is_data(&self, from: usize, to: usize) -> bool {
        matches!(&self.text[from..to], b"data" | b"stringData")
    }

    /// Skips the string at the current quote; returns its content.
    fn string(&mut self) -> (usize, usize) {
        let escaped = self.at > 0 && self.text[self.at - 1] == b'\\';
        let from = self.at + 1;
        let mut at = from;
        while at < self.stop {
            match self.text[at] {
                b'"' => break,
                b'\\' if escaped && self.text.get(at + 1) == Some(&b'"') => break,
                b'\\' => at += 1,
                b'\n' => break,
                _ => {}
            }
            at += 1;
        }
        let to = at.min(self.stop);
        self.at = to + bytes::run(self.text, to, 2, |b| matches!(b, b'\\' | b'"'));
        self.at = self.at.max(from);
        (from, to)
    }
}

fn push(text: &[u8], start: usize, end: usize, hits: &mut Vec<Hit>) {
    let value = &text[start..end];
    let plain = value.len() < 3 || value.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    if !plain && !allowlist::placeholder(value) && !value.starts_with(b"{{") {
        hits.push(Hit::new(RULE, start, end));
    }
}

/// The first line from `from` on that may turn out to belong to a Secret: `data:`, with nothing after
/// it that says what kind of document it is or that it has ended.
pub(super) fn open(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memmem::find(text.get(at..)?, b"ata")?;
        let begin = bytes::line_start(text, found, 64).max(from);
        at = found + 3;
        let line = Line::at(text, begin, text.len(), Breaks::Real);
        let content = line.content(text);
        if !is_data(content) && !matches!(content, b"\"data\": {" | b"\"stringData\": {") {
            continue;
        }
        match document_end(text, &line) {
            Some(end) => at = end.max(at),
            None => return Some(begin),
        }
    }
}

/// Where the document of a `data:` line ends, or says its kind; `None` if it may go on.
fn document_end(text: &[u8], data: &Line) -> Option<usize> {
    let mut at = data.next;
    while at < text.len() {
        let line = Line::at(text, at, text.len(), Breaks::Real);
        // The last line may be incomplete.
        if line.next > text.len() {
            return None;
        }
        at = line.next;
        let content = line.content(text);
        let kind = content.starts_with(b"kind:") || content.starts_with(b"\"kind\":");
        let other = line.depth == data.depth && !is_entry(content);
        let ends = line.depth < data.depth || line.depth == data.depth && kind || other;
        if line.is_separator(text) || !content.is_empty() && ends {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let start = text.find("Secret").unwrap();
        let mut hits = Vec::new();
        find(text.as_bytes(), start, start + 6, 0, &mut hits);
        hits.into_iter().map(|hit| &text[hit.start..hit.end]).collect()
    }

    #[test]
    fn every_value_of_a_secret_is_found() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  a: c2VzYW1l\n\
                    # note\nstringData:\n  b: \"open sesame\"\n  port: \"5432\"\n  c: {{ .Values.c }}\n";
        assert_eq!(found(text), ["c2VzYW1l", "open sesame"]);
    }

    #[test]
    fn data_may_come_before_the_kind() {
        let text = "apiVersion: v1\ndata:\n  a: c2VzYW1l\nkind: Secret\nmetadata:\n  name: shop\n";
        assert_eq!(found(text), ["c2VzYW1l"]);
    }

    #[test]
    fn blocks_are_read_to_their_end() {
        let text = "kind: Secret\ndata:\n  key: |\n    line one\n    line two\n  b: sesame\nother:\n  c: tiger1\n";
        assert_eq!(found(text), ["line one", "line two", "sesame"]);
    }

    #[test]
    fn documents_are_separate() {
        let text =
            "data:\n  a: before\n---\nkind: Secret\ndata:\n  b: sesame\n---\ndata:\n  c: after\n";
        assert_eq!(found(text), ["sesame"]);
    }

    #[test]
    fn a_manifest_ends_where_a_log_goes_on() {
        let text =
            "kind: Secret\ndata:\n  b: sesame\nsecret/x created at last\ndata:\n  c: after\n";
        assert_eq!(found(text), ["sesame"]);
    }

    #[test]
    fn other_kinds_are_left_alone() {
        assert_eq!(found("# kind: Secret\ndata:\n  a: sesame\n"), [""; 0]);
        assert_eq!(found("kind: SecretStore\ndata:\n  a: sesame\n"), [""; 0]);
        assert_eq!(found("{\"kind\": \"SecretList\", \"data\": {\"a\": \"sesame\"}}"), [""; 0]);
        assert_eq!(found("{\"note\": \"Secret\", \"data\": {\"a\": \"sesame\"}}"), [""; 0]);
    }

    #[test]
    fn manifests_in_strings_are_read() {
        let text = "{\"out\": \"apiVersion: v1\\ndata:\\n  a: c2VzYW1l\\nkind: Secret\\nmetadata:\\n  name: x\\n\", \"data\": 1}";
        assert_eq!(found(text), ["c2VzYW1l"]);
        let numbered = "\"     1→kind: Secret\\n     2→data:\\n     3→  a: c2VzYW1l\\n\"";
        assert_eq!(found(numbered), ["c2VzYW1l"]);
        let diff = "+kind: Secret\n+data:\n+  a: c2VzYW1l\n";
        assert_eq!(found(diff), ["c2VzYW1l"]);
    }

    #[test]
    fn manifests_in_json_are_read() {
        let compact =
            "{\"data\":{\"a\":\"c2VzYW1l\",\"n\":\"42\"},\"kind\":\"Secret\",\"type\":\"Opaque\"}";
        assert_eq!(found(compact), ["c2VzYW1l"]);
        let pretty = "{\n  \"data\": {\n    \"a\": \"c2VzYW1l\"\n  },\n  \"kind\": \"Secret\",\n  \"metadata\": {\"name\": \"x\"}\n}";
        assert_eq!(found(pretty), ["c2VzYW1l"]);
        let escaped = "{\"out\":\"{\\\"kind\\\": \\\"Secret\\\", \\\"stringData\\\": {\\\"a\\\": \\\"sesame\\\"}, \\\"x\\\": \\\"y1\\\"}\"}";
        assert_eq!(found(escaped), ["sesame"]);
    }

    #[test]
    fn data_is_open_until_its_kind_is_known() {
        let open = |text: &str| open(text.as_bytes(), 0);
        assert_eq!(open("x\ndata:\n  a: c2VzYW1l\n"), Some(2));
        assert_eq!(open("data:\n  a: b\nmetadata:\n  name: x\n"), Some(0));
        assert_eq!(open("{\n  \"data\": {\n    \"a\": \"b\"\n  },\n"), Some(2));
        assert_eq!(open("data:\n  a: b\nkind: Secret\n"), None);
        assert_eq!(open("data:\nsome words follow\n"), None);
        assert_eq!(open("data:\n  a: b\n---\nx: y\n"), None);
        assert_eq!(open("  data:\n    a: b\nother: 1\n"), None);
        assert_eq!(open("the data: one two\n"), None);
        assert_eq!(open(""), None);
    }
}
