//! Kubernetes Secrets: every value under `data:` or `stringData:` is a secret, whatever its name.

use memchr::memmem;

use super::Hit;
use super::allowlist;
use super::bytes;

const RULE: &str = "kubernetes-secret";

/// The most bytes of a document that are read, in each direction.
const DOCUMENT: usize = 65536;

/// Adds the values of the Secret whose kind is at `start..end`; returns the end of its document.
/// Documents before `read` are skipped: they have been read.
pub(super) fn find(
    text: &[u8],
    start: usize,
    end: usize,
    read: usize,
    hits: &mut Vec<Hit>,
) -> Option<usize> {
    (&text[start..end] == b"Secret").then_some(())?;
    let kind = start.checked_sub(6).filter(|kind| *kind >= read)?;
    (&text[kind..start] == b"kind: ").then_some(())?;
    matches!(text.get(end), None | Some(b'\n' | b'\r' | b' ')).then_some(())?;
    let indent = bytes::run_back(text, kind, 64, |b| matches!(b, b' ' | b'-'));
    let line = kind - indent;
    (line == 0 || text[line - 1] == b'\n').then_some(())?;
    let from = read.max(kind.saturating_sub(DOCUMENT));
    let from = memmem::rfind(&text[from..kind], b"\n---").map_or(from, |at| from + at + 1);
    let rest = &text[kind..text.len().min(kind + DOCUMENT)];
    let to = kind + memmem::find(rest, b"\n---").unwrap_or(rest.len());
    values(text, from, to, indent, hits);
    Some(to)
}

/// Adds the values under `data:` and `stringData:` that are indented like `kind:`.
fn values(text: &[u8], start: usize, end: usize, indent: usize, hits: &mut Vec<Hit>) {
    let mut at = start;
    let mut inside = false;
    let mut block = None;
    while at < end {
        let len = bytes::run(text, at, end - at, |b| b != b'\n');
        let line = &text[at..at + len];
        let depth = line.iter().take_while(|b| **b == b' ').count();
        let content = line[depth..].trim_ascii_end();
        let from = at + depth;
        at += len + 1;
        if content.is_empty() || content.starts_with(b"#") {
            continue;
        }
        // `key: |` is followed by deeper-indented lines.
        if block.is_some_and(|key| depth > key) {
            push(text, from, from + content.len(), hits);
            continue;
        }
        block = None;
        if depth <= indent {
            inside = depth == indent && matches!(content, b"data:" | b"stringData:");
            continue;
        }
        let Some(colon) = content.iter().position(|b| *b == b':').filter(|_| inside) else {
            continue;
        };
        let space = 1 + bytes::run(content, colon + 1, 8, |b| b == b' ');
        let value = &content[colon + space..];
        if matches!(value.first(), Some(b'|' | b'>')) {
            block = Some(depth);
            continue;
        }
        let (quote, value) = match value {
            [b'"' | b'\'', inner @ .., b'"' | b'\''] => (1, inner),
            _ => (0, value),
        };
        let from = from + colon + space + quote;
        push(text, from, from + value.len(), hits);
    }
}

fn push(text: &[u8], start: usize, end: usize, hits: &mut Vec<Hit>) {
    let value = &text[start..end];
    let plain = value.len() < 3 || value.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    if !plain && !allowlist::placeholder(value) && !value.starts_with(b"{{") {
        hits.push(Hit::new(RULE, start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let start = text.find("kind: Secret").unwrap() + 6;
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
    fn other_kinds_are_left_alone() {
        assert_eq!(found("# kind: Secret\ndata:\n  a: sesame\n"), [""; 0]);
        assert_eq!(found("kind: SecretStore\ndata:\n  a: sesame\n"), [""; 0]);
    }
}
