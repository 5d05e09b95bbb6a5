//! Spans that must not be split: redaction marks, and Markdown constructs that would be left open.
//!
//! A scanner in one linear pass, not a parser. If in doubt it sees a construct where a parser sees plain
//! text, which only moves the cut a little to the left.

use std::collections::HashMap;

use crate::backticks::{BacktickRuns, run};

/// A range of text that a cut must not split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A fenced code block: the one construct that can be closed after a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    /// Start of the opening line.
    pub(super) start: usize,
    /// Start of the first line of code.
    pub(super) code: usize,
    /// End of the closing line, or the end of the text.
    pub(super) end: usize,
    /// Backtick or tilde.
    pub(super) mark: char,
    /// The length of the opening run.
    pub(super) width: usize,
}

/// The spans and fences of a text, sorted by start.
#[derive(Debug, Default)]
pub(super) struct Spans {
    pub(super) spans: Vec<Span>,
    pub(super) fences: Vec<Fence>,
}

impl Spans {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        found.marks(text);
        let mut fence: Option<Fence> = None;
        let mut paragraph = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let next = at + line.len();
            match (&mut fence, fence_of(line)) {
                (Some(open), Some((mark, width, true)))
                    if mark == open.mark && width >= open.width =>
                {
                    open.end = at + line.trim_end().len();
                    found.fences.extend(fence.take());
                    paragraph = next;
                }
                (Some(_), _) => {}
                (None, Some((mark, width, _))) => {
                    found.inline(text, paragraph, at);
                    fence = Some(Fence { start: at, code: next, end: text.len(), mark, width });
                }
                (None, None) if line.trim().is_empty() => {
                    found.inline(text, paragraph, at);
                    paragraph = next;
                }
                (None, None) => {}
            }
            at = next;
        }
        match fence {
            Some(open) => found.fences.push(open),
            None => found.inline(text, paragraph, text.len()),
        }
        found.comments(text);
        found.spans.sort_unstable_by_key(|span| span.start);
        found
    }

    /// The last offset at or before `at` that is in no span.
    pub(super) fn outside(&self, mut at: usize) -> usize {
        // In reverse order: moving back can only lead into an earlier span.
        for span in self.spans.iter().rev() {
            if span.start < at && at < span.end {
                at = span.start;
            }
        }
        at
    }

    fn push(&mut self, start: usize, end: usize) {
        self.spans.push(Span { start, end });
    }

    fn marks(&mut self, text: &str) {
        for (start, opening) in text.match_indices("[REDACTED-") {
            let rest = &text.as_bytes()[start + opening.len()..];
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 && rest.get(digits) == Some(&b']') {
                self.push(start, start + opening.len() + digits + 1);
            }
        }
    }

    /// An unclosed comment would hide everything after it.
    fn comments(&mut self, text: &str) {
        let mut from = 0;
        while let Some(start) = text[from..].find("<!--").map(|found| from + found) {
            let inside = start + "<!--".len();
            let end = text[inside..].find("-->");
            from = end.map_or(text.len(), |end| inside + end + "-->".len());
            // An unclosed comment extends past the end of the text.
            self.push(start, end.map_or(usize::MAX, |_| from));
        }
    }

    /// Adds code spans, links, tags and emphasis of one paragraph.
    fn inline(&mut self, text: &str, start: usize, end: usize) {
        let bytes = &text.as_bytes()[..end];
        let mut backticks = None;
        let mut closers = Closers::default();
        let mut brackets = Vec::new();
        let mut open: [[Option<usize>; 4]; 3] = [[None; 4]; 3];
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'`' => {
                    let width = run(bytes, at);
                    let backticks = backticks.get_or_insert_with(|| BacktickRuns::of(bytes, at));
                    let close = backticks.close(at, width);
                    if let Some(close) = close {
                        self.push(at, close);
                    }
                    at = close.unwrap_or(at + width);
                }
                b'[' => {
                    let image = at > start && bytes[at - 1] == b'!';
                    brackets.push(at - usize::from(image));
                    at += 1;
                }
                b']' => {
                    at += 1;
                    if let Some(opening) = brackets.pop()
                        && let Some(&next @ (b'(' | b'[')) = bytes.get(at)
                        && let Some(close) = closers.find(bytes, at, next)
                    {
                        self.push(opening, close + 1);
                    }
                }
                b'<' => {
                    let opens = bytes
                        .get(at + 1)
                        .is_some_and(|next| next.is_ascii_alphabetic() || *next == b'/');
                    if opens && let Some(close) = closers.find(bytes, at, b'<') {
                        self.push(at, close + 1);
                    }
                    at += 1;
                }
                b'*' | b'_' | b'~' => {
                    let width = run(bytes, at);
                    let slot = &mut open[usize::from(byte == b'_') + 2 * usize::from(byte == b'~')]
                        [width.min(3)];
                    let before = at > start && !bytes[at - 1].is_ascii_whitespace();
                    let after = bytes.get(at + width).is_some_and(|b| !b.is_ascii_whitespace());
                    match *slot {
                        Some(opening) if before => {
                            self.push(opening, at + width);
                            *slot = None;
                        }
                        _ if after && !(before && byte == b'_') => *slot = Some(at),
                        _ => {}
                    }
                    at += width;
                }
                _ => at += 1,
            }
        }
    }
}

/// The mark and width of a line that could open a fence, and whether it could close one.
fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let body = line.trim_start_matches(' ');
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = body.trim_start_matches(mark);
    let width = body.len() - rest.len();
    let indented = line.len() - body.len() > 3;
    let span = mark == '`' && rest.contains('`');
    (width >= 3 && !indented && !span).then(|| (mark, width, rest.trim().is_empty()))
}

/// The positions of the next closing characters; each is searched for once.
#[derive(Default)]
struct Closers {
    next: HashMap<u8, Option<usize>>,
}

impl Closers {
    fn find(&mut self, bytes: &[u8], at: usize, opening: u8) -> Option<usize> {
        let closing = match opening {
            b'(' => b')',
            b'[' => b']',
            _ => b'>',
        };
        let next = self.next.entry(closing).or_insert(Some(0));
        if next.is_some_and(|place| place <= at) {
            let found = bytes[at + 1..].iter().position(|byte| *byte == closing);
            *next = found.map(|found| at + 1 + found);
        }
        *next
    }
}
