//! Shortening text: at a word, never inside a grapheme or a redaction mark, never over the limit.

use unicode_segmentation::UnicodeSegmentation;

const ELLIPSIS: &str = "…";

/// The text in at most `max` characters (Unicode scalar values), an ellipsis included.
/// Cutting twice gives the same as cutting once.
pub fn cut(text: &str, max: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max {
        return text.to_owned();
    }
    if max == 0 {
        return String::new();
    }
    let room = max - 1;
    let mut end = 0;
    let mut chars = 0;
    for grapheme in text.graphemes(true) {
        let n = grapheme.chars().count();
        if chars + n > room {
            break;
        }
        chars += n;
        end += grapheme.len();
    }
    let mut head = &text[..end];
    let at_word = text[end..].starts_with(char::is_whitespace);
    if !at_word && let Some(space) = head.rfind(char::is_whitespace) {
        head = &head[..space];
    }
    if let Some(open) = head.rfind("[REDACTED-")
        && !head[open..].contains(']')
    {
        head = &head[..open];
    }
    format!("{}{ELLIPSIS}", head.trim_end())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_at_a_word() {
        assert_eq!(cut("one two three", 9), "one two…");
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("onetwothree", 5), "onet…");
        assert_eq!(cut("key [REDACTED-1] x", 12), "key…");
    }

    proptest! {
        #[test]
        fn never_over_the_limit_and_idempotent(text in "\\PC{0,80}", max in 0usize..60) {
            let once = cut(&text, max);
            prop_assert!(once.chars().count() <= max);
            prop_assert_eq!(cut(&once, max), once);
        }
    }
}
