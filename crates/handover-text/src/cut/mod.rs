//! Shortens text at a word: never inside a grapheme, a redaction mark or a Markdown construct that
//! would be left open, and never over the limit.

mod spans;

use unicode_segmentation::GraphemeCursor;

use crate::tokens::{self, Tokenizer};
use spans::{Fence, Spans};

const ELLIPSIS: &str = "…";

/// How many bytes past the limit are scanned for the end of a construct.
const LOOK_AHEAD: usize = 4096;

/// The text in at most `max` characters (Unicode scalar values), including the ellipsis. Idempotent.
pub fn cut(text: &str, max: usize) -> String {
    let text = text.trim();
    let Some(limit) = nth(text, max) else {
        return text.to_owned();
    };
    if max == 0 {
        return String::new();
    }
    let near = text.floor_char_boundary(limit.saturating_add(LOOK_AHEAD));
    let spans = Spans::of(&text[..near]);
    let mut end = spans.outside(word_before(text, nth(text, max - 1).unwrap_or(limit)));
    let inside = |fence: &&Fence| fence.start < end && end < fence.end;
    if let Some(fence) = spans.fences.iter().find(inside) {
        let closing = format!("\n{}", fence.mark.to_string().repeat(fence.width));
        let room = max.saturating_sub(1 + closing.len());
        let shorter = spans.outside(word_before(text, nth(text, room).unwrap_or(limit)));
        let head = text[..shorter].trim_end();
        if head.len() > fence.code {
            return format!("{head}{ELLIPSIS}{closing}");
        }
        end = spans.outside(fence.start);
    }
    format!("{}{ELLIPSIS}", text[..grapheme_before(text, end)].trim_end())
}

/// The text in at most `max` tokens, including the ellipsis. Idempotent.
pub fn cut_to_tokens(text: &str, tokenizer: Tokenizer, max: u64) -> String {
    let text = text.trim();
    if tokens::fits(tokenizer, text, max) {
        return text.to_owned();
    }
    let most = text.floor_char_boundary(tokens::most_bytes(max.saturating_add(1)));
    let measure = tokens::measure(tokenizer, &text[..most], max);
    let attempt = |characters: usize| {
        let head = cut(text, characters);
        tokens::fits(tokenizer, &head, max).then_some(head)
    };
    // About as many pieces fit with an ellipsis as without one: step down from there to a length that
    // fits, then bisect up to the first that does not.
    let fitting = text[..measure.fitting].chars().count();
    let mut over = fitting + text[measure.fitting..measure.end].chars().count() + 1;
    let mut step = 16;
    let mut under = fitting;
    let mut best = attempt(under);
    while best.is_none() && under > 0 {
        over = under;
        under = under.saturating_sub(step);
        step *= 2;
        best = attempt(under);
    }
    while under + 1 < over {
        let middle = under + (over - under) / 2;
        match attempt(middle) {
            Some(head) => {
                under = middle;
                best = Some(head);
            }
            None => over = middle,
        }
    }
    best.unwrap_or_default()
}

/// The text on one line: every run of white space becomes one space.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The offset of the character with this index, if there is one.
fn nth(text: &str, number: usize) -> Option<usize> {
    // Most texts are far below their limit, which the byte length proves.
    if text.len() <= number {
        return None;
    }
    text.char_indices().nth(number).map(|(at, _)| at)
}

/// The end of the last word at or before `limit`; if one word fills everything, the last grapheme
/// boundary.
fn word_before(text: &str, limit: usize) -> usize {
    let end = grapheme_before(text, limit);
    if text[end..].starts_with(char::is_whitespace) {
        return end;
    }
    let mut spaces = text[..end].rmatch_indices(char::is_whitespace).map(|(at, _)| at);
    spaces.find(|&at| grapheme_before(text, at) == at).unwrap_or(end)
}

/// The last grapheme boundary at or before `at`.
fn grapheme_before(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        // An error is only possible for text in chunks.
        Ok(false) | Err(_) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod cut_tests;
