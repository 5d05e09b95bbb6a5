//! Constructs within a line: code spans, tags, links, emphasis.

use crate::backticks::{BacktickRuns, run};

use super::lines::opens_tag;

/// What a quoted paragraph is embedded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// A block that contains nothing else: its end closes everything.
    OwnBlock,
    /// A line with other text, whose markup must not pair with the paragraph's.
    SharedLine,
}

/// Escapes a paragraph so that tags and links are plain text and nothing left open can pair with
/// what follows.
pub(super) fn escape(paragraph: &str, container: Container) -> String {
    let bytes = paragraph.as_bytes();
    // Built lazily: a text may have millions of escaped backticks and need no runs at all.
    let mut backticks = None;
    let mut out = String::with_capacity(paragraph.len() + 8);
    // Everything before this offset has been copied.
    let mut done = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Marks take effect in runs, so they are judged as runs.
        let width = match byte {
            b'`' | b'*' | b'_' | b'~' => run(bytes, at),
            _ => 1,
        };
        let escaped = match byte {
            b'\\' => {
                if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) {
                    at += 2;
                    continue;
                }
                // A trailing backslash would escape what follows.
                container == Container::SharedLine && at + 1 == bytes.len()
            }
            b'`' => {
                match backticks.get_or_insert_with(|| BacktickRuns::of(bytes, at)).close(at, width)
                {
                    Some(close) => {
                        at = close;
                        continue;
                    }
                    None => container == Container::SharedLine,
                }
            }
            b'<' => paragraph[at + 1..].starts_with(opens_tag),
            b'(' => at > 0 && bytes[at - 1] == b']',
            b'*' | b'_' | b'~' => {
                container == Container::SharedLine && can_pair(paragraph, at, width)
            }
            _ => false,
        };
        if escaped {
            out.push_str(&paragraph[done..at]);
            for mark in paragraph[at..at + width].chars() {
                out.push('\\');
                out.push(mark);
            }
            done = at + width;
        }
        at += width;
    }
    out.push_str(&paragraph[done..]);
    out
}

/// Whether a run of marks could open or close emphasis: it touches a word, and underscores are not
/// inside one.
fn can_pair(paragraph: &str, at: usize, width: usize) -> bool {
    let before = paragraph[..at].chars().next_back();
    let after = paragraph[at + width..].chars().next();
    let white = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let inside = word(before) && word(after);
    let touches = !(white(before) && white(after));
    match paragraph.as_bytes()[at] {
        b'_' => touches && !inside,
        // One or two tildes strike through, but a single one is mostly `~/path` or `~5`.
        b'~' => touches && width == 2,
        _ => touches,
    }
}
