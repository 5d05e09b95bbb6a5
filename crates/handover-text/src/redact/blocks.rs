//! Values of sensitive names that span several lines: YAML block scalars, here-documents, strings in
//! triple quotes or brackets, and wrapped base64. Private keys in PEM are left to [`super::pem`].

use std::ops::Range;

use super::Hit;
use super::allowlist;
use super::bytes::{self, ALNUM, SLASH};
use super::keys::{self, Key};
use super::lines::{self, Breaks, Line};
use super::operators::skip_space;
use super::random;
use super::values::{self, Form};

const RULE: &str = "assignment";

/// The most bytes of a block that are read.
const BLOCK: usize = 65536;
/// A line of a wrapped value has at least this many digits.
const WRAPPED: usize = 40;

/// How a block is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block<'t> {
    /// `name: |`, then deeper-indented lines.
    Indented(usize),
    /// `name=$(cat <<EOF`, then lines up to the word.
    Until(&'t [u8]),
    /// `name = """`, then lines up to the closing quotes or bracket.
    Closed(u8),
}

/// Adds the secret lines of the block that the name at `start..end` is given; returns the part of the
/// text that was read. Blocks before `read` are skipped: they have been read.
pub(super) fn find(
    text: &[u8],
    start: usize,
    end: usize,
    read: usize,
    hits: &mut Vec<Hit>,
) -> Option<Range<usize>> {
    (start >= read && keys::may_end(&text[start..end])).then_some(())?;
    let (block, body, breaks) = opened(text, start, end)?;
    let key = keys::classify(&text[start..end]).filter(|key| *key >= Key::Weak)?;
    let stop = text.len().min(body + BLOCK);
    let mut at = body;
    let mut wrapped = false;
    while at < stop {
        let line = Line::at(text, at, stop, breaks);
        let content = line.content(text);
        let ends = match block {
            Block::Indented(depth) => line.depth <= depth && !content.is_empty(),
            Block::Until(word) => content == word,
            Block::Closed(close) => content.first() == Some(&close),
        };
        // Markers of PEM say whether the block is private.
        if ends || text[..line.start].ends_with(b"-----") {
            at = line.begin;
            break;
        }
        let (from, to) = unquoted(text, line.start, line.end);
        let value = &text[from..to];
        let tail = wrapped && is_part(value);
        if tail || is_secret_line(key, value) {
            hits.push(Hit::new(RULE, from, to));
            wrapped = lines::is_encoded(value) && value.len() >= WRAPPED;
        }
        let closed =
            matches!(block, Block::Closed(close) if text[line.start..line.end].contains(&close));
        at = line.next;
        if closed {
            break;
        }
    }
    Some(start..at.min(text.len()))
}

/// The kind of block that follows a name, where its first line begins, and how its lines end.
fn opened(text: &[u8], start: usize, end: usize) -> Option<(Block<'_>, usize, Breaks)> {
    let at = end + bytes::run(text, end, 3, |b| matches!(b, b'"' | b'\'' | b'`' | b']' | b'\\'));
    let at = skip_space(text, at);
    let operator = bytes::run(text, at, 3, |b| matches!(b, b':' | b'=' | b'>'));
    let at = skip_space(text, at + operator);
    (operator > 0 && text[end..at].iter().any(|b| matches!(b, b':' | b'='))).then_some(())?;
    let (block, after) = match *text.get(at..)? {
        [b'|' | b'>', ..] => {
            let marks = bytes::run(text, at + 1, 2, |b| b.is_ascii_digit() || b"+-".contains(&b));
            (Block::Indented(0), at + 1 + marks)
        }
        [b'$' | b'c' | b'<' | b'"' | b'\'', ..] if here_document(text, at).is_some() => {
            let (word, after) = here_document(text, at)?;
            (Block::Until(word), after)
        }
        [quote @ (b'"' | b'\''), b, c, ..] if b == quote && c == quote => {
            (Block::Closed(quote), at + 3)
        }
        [quote @ (b'"' | b'\'' | b'`'), ..] => (Block::Closed(quote), at + 1),
        [b'(', ..] => (Block::Closed(b')'), at + 1),
        _ => return None,
    };
    let after = after + bytes::run(text, after, 4, |b| matches!(b, b' ' | b'\t' | b'\r'));
    let (body, breaks) = match text.get(after..)? {
        [b'\n', ..] => (after + 1, Breaks::Real),
        [b'\\', b'n', ..] => (after + 2, Breaks::Escaped),
        [b'\\', b'r', b'\\', b'n', ..] => (after + 4, Breaks::Escaped),
        [b'\\', b'\\', b'n', ..] => (after + 3, Breaks::Escaped),
        _ => return None,
    };
    let block = match block {
        Block::Indented(_) => Block::Indented(depth_of(text, start, breaks)),
        Block::Until(_) | Block::Closed(_) => block,
    };
    Some((block, body, breaks))
}

/// The indentation of the line that the name at `start` is on.
fn depth_of(text: &[u8], start: usize, breaks: Breaks) -> usize {
    let mut line = bytes::line_start(text, start, 128);
    if breaks == Breaks::Escaped {
        let head = &text[line..start];
        let escape = head.windows(2).rposition(|w| w == b"\\n").map(|at| line + at + 2);
        line = escape
            .unwrap_or_else(|| line + head.iter().rposition(|b| *b == b'"').map_or(0, |q| q + 1));
    }
    Line::at(text, line, text.len().min(start + 1), breaks).depth
}

/// The word that ends the here-document opened at `at`, and where its line continues.
fn here_document(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = &text[at..text.len().min(at + 80)];
    let line = &rest[..bytes::run(rest, 0, rest.len(), |b| b != b'\n' && b != b'\\')];
    let open = line.windows(2).position(|w| w == b"<<").filter(|open| *open <= 8)?;
    let mark = bytes::run(line, open + 2, 2, |b| matches!(b, b'-' | b'~' | b' '));
    let quote = bytes::run(line, open + 2 + mark, 1, |b| matches!(b, b'"' | b'\''));
    let from = open + 2 + mark + quote;
    let len = bytes::run(line, from, 40, |b| bytes::is(b, ALNUM) || b == b'_');
    (len > 0).then(|| (&line[from..from + len], at + from + len + quote))
}

/// The content of a line without the quotes and operators of a program.
fn unquoted(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let noise = |b: u8| {
        matches!(b, b'"' | b'\'' | b'`' | b'+' | b'\\' | b',' | b';' | b' ' | b'.' | b')' | b'(')
    };
    let quoted = text[start..end].iter().any(|b| matches!(b, b'"' | b'\''));
    if !quoted {
        let tail = bytes::run_back(text, end, end - start, |b| matches!(b, b'\\' | b'`' | b' '));
        return (start, end - tail);
    }
    let from = start + bytes::run(text, start, end - start, noise);
    let to = end - bytes::run_back(text, end, end - from, noise);
    (from, to.max(from))
}

/// Digits of base64, however few.
fn is_part(value: &[u8]) -> bool {
    !value.is_empty()
        && value.iter().all(|b| bytes::is(*b, ALNUM | SLASH) || matches!(b, b'=' | b'-' | b'_'))
}

fn is_secret_line(key: Key, value: &[u8]) -> bool {
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    let encoded =
        lines::is_encoded(value) && random::mixed(value) && !values::wordy_with_number(value);
    value.len() >= 3
        && !spaced
        && !allowlist::placeholder(value)
        && (encoded && !random::uuid(value) || values::is_secret(key, Form::Plain, value))
}

/// The lines that continue the value `start..end`, if it is wrapped base64.
pub(super) fn continued(text: &[u8], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if end - start < WRAPPED || !lines::is_encoded(&text[start..end]) {
        return found;
    }
    let noise = |b: u8| matches!(b, b'"' | b'\'' | b'+' | b'\\' | b',' | b' ' | b'\r' | b'.');
    let mut at = end + bytes::run(text, end, 8, noise);
    // In a string, `\n` separates the lines.
    let breaks = match text.get(at) {
        Some(b'\n') => Breaks::Real,
        Some(b'n') if at > end && text[at - 1] == b'\\' => Breaks::Escaped,
        Some(_) | None => return found,
    };
    at += 1;
    let stop = text.len().min(end + BLOCK);
    while at < stop {
        let line = Line::at(text, at, stop, breaks);
        let (from, to) = unquoted(text, line.start, line.end);
        let value = &text[from..to];
        let full = lines::is_encoded(value) && value.len() >= WRAPPED && random::mixed(value);
        let last = is_part(value) && random::mixed(value) && value.len() >= 8;
        if !(full || last) {
            break;
        }
        found.push((from, to));
        if !full {
            break;
        }
        at = line.next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "MIIEpQIBAAKCAQEAn6ycIHB5dGhvbiBpcyBmdW4gYnV0IHRoaXMgaXMgbm90IGEg";

    fn found(text: &str, name: &str) -> Vec<String> {
        let start = text.find(name).unwrap();
        let mut hits = Vec::new();
        find(text.as_bytes(), start, start + name.len(), 0, &mut hits);
        hits.into_iter().map(|hit| text[hit.start..hit.end].to_owned()).collect()
    }

    #[test]
    fn block_scalars_end_with_their_indentation() {
        let text = format!("a:\n  api_secret: |\n    {KEY}\n    Zk8vXq2L\n  other: sesame12\n");
        assert_eq!(found(&text, "api_secret"), [KEY, "Zk8vXq2L"]);
        assert_eq!(found("password: |-\n  sesame\nnext: tiger\n", "password"), ["sesame"]);
        assert_eq!(found("password: >\n  set by the operator\n", "password"), [""; 0]);
        assert_eq!(found("note: |\n  Zk8vXq2LmN5p\n", "note"), [""; 0]);
    }

    #[test]
    fn here_documents_end_with_their_word() {
        let text = "DB_PASSWORD=$(cat <<'EOF'\nsesame9\nEOF\n)\ntiger9\n";
        assert_eq!(found(text, "DB_PASSWORD"), ["sesame9"]);
        assert_eq!(found("password = <<-END\n  sesame9\n  END\n", "password"), ["sesame9"]);
        assert_eq!(found("text = <<-END\n  sesame9\n  END\n", "text"), [""; 0]);
    }

    #[test]
    fn quoted_lines_end_with_their_quotes() {
        assert_eq!(found("password = \"\"\"\nsesame9\n\"\"\"\ntiger9", "password"), ["sesame9"]);
        let text = format!("secret_key = (\n    \"{KEY}\"\n    \"Zk8v\"\n)\n\"tiger9\"");
        assert_eq!(found(&text, "secret_key"), [KEY, "Zk8v"]);
    }

    #[test]
    fn blocks_in_strings_are_read() {
        let text = "{\"x\": \"password: |\\n  sesame9\\nnext: tiger9\\n\"}";
        assert_eq!(found(text, "password"), ["sesame9"]);
    }

    #[test]
    fn markers_leave_a_block_to_others() {
        let text = format!("key: |\n  -----BEGIN CERTIFICATE-----\n  {KEY}\n");
        assert_eq!(found(&text, "key"), [""; 0]);
    }

    fn wrapped(text: &str) -> Vec<&str> {
        let start = text.find(KEY).unwrap();
        let spans = continued(text.as_bytes(), start, start + KEY.len());
        spans.into_iter().map(|(from, to)| &text[from..to]).collect()
    }

    #[test]
    fn wrapped_values_continue_until_a_shorter_line() {
        let text = format!("secret: {KEY}\n  {KEY}\n  Zk8vXq2LmN5p==\n  Zk8vXq2LmN5p\n");
        assert_eq!(wrapped(&text), [KEY, "Zk8vXq2LmN5p=="]);
        let program = format!("secret = \"{KEY}\" +\n  \"{KEY}\" +\n  \"Zk8vXq2LmN5p\";\nx");
        assert_eq!(wrapped(&program), [KEY, "Zk8vXq2LmN5p"]);
        let string = format!("\"secret: {KEY}\\n  {KEY}\\nother: 1\"");
        assert_eq!(wrapped(&string), [KEY]);
    }

    #[test]
    fn whole_values_have_no_continuation() {
        assert_eq!(wrapped(&format!("secret: {KEY}\nother: Zk8vXq2LmN5p\n")), [""; 0]);
        assert_eq!(wrapped(&format!("secret: {KEY} {KEY}\n")), [""; 0]);
        assert_eq!(wrapped(&format!("secret: {KEY}")), [""; 0]);
    }
}
