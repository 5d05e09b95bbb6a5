//! What opens inside a line: code spans, tags, links, emphasis.

use crate::ticks::{Ticks, run};

use super::lines::opens_tag;

/// Where a paragraph will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a block of its own, whose end closes everything.
    Own,
    /// In a line of somebody else's, whose marks must not pair with these.
    Shared,
}

/// A paragraph in which tags and links are plain text, and nothing stays open that could pair with
/// what follows.
pub(super) fn escape(paragraph: &str, place: Place) -> String {
    let bytes = paragraph.as_bytes();
    // Made when first needed: escaped ones, of which there may be millions, need it not at all.
    let mut ticks = None;
    let mut out = String::with_capacity(paragraph.len() + 8);
    // Copied up to here.
    let mut done = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Marks act in runs, and so they are judged.
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
                // One at the end would escape what follows.
                place == Place::Shared && at + 1 == bytes.len()
            }
            b'`' => match ticks.get_or_insert_with(|| Ticks::of(bytes, at)).close(at, width) {
                Some(close) => {
                    at = close;
                    continue;
                }
                None => place == Place::Shared,
            },
            b'<' => paragraph[at + 1..].starts_with(opens_tag),
            b'(' => at > 0 && bytes[at - 1] == b']',
            b'*' | b'_' | b'~' => place == Place::Shared && can_pair(paragraph, at, width),
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

/// Whether a run of marks could open or close emphasis: it touches a word, and an underscore is not
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
        // Struck through by one or two, but `~/path` and `~5` are what one is used for.
        b'~' => touches && width == 2,
        _ => touches,
    }
}
