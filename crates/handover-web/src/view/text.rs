//! Untrusted text. It is data: it cannot become markup, reorder the text around it, or hide.

use handover_text::cut::{cut, one_line};
use handover_text::quote::visible;
use maud::{Markup, html};

/// Untrusted text, isolated in its writing direction.
pub(crate) fn untrusted(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// Untrusted text for attributes and SVG titles, which cannot contain elements: one line, truncated.
pub(crate) fn single_line(text: &str) -> String {
    cut(&one_line(&visible(text)), 200)
}

/// The beginning of an untrusted text, on one line.
pub(crate) fn excerpt(text: &str, characters: usize) -> Markup {
    // Do not process much more than is shown.
    let head: String =
        text.chars().take(characters.saturating_mul(4).saturating_add(200)).collect();
    html! { bdi { (cut(&one_line(&visible(&head)), characters)) } }
}

/// The beginning of an untrusted sentence, whose names and commands are between backticks.
pub(crate) fn with_code(text: &str, characters: usize) -> Markup {
    let text =
        cut(&text.chars().take(characters.saturating_mul(2)).collect::<String>(), characters);
    // The last one may have been cut off.
    let paired = text.matches('`').count() / 2 * 2;
    let mut parts: Vec<&str> = text.splitn(paired + 1, '`').collect();
    let last = parts.pop().unwrap_or_default();
    html! {
        @for (nth, part) in parts.into_iter().enumerate() {
            @if nth % 2 == 1 { code { (untrusted(part)) } } @else if !part.is_empty() { (untrusted(part)) }
        }
        @if !last.is_empty() { (untrusted(last)) }
    }
}

/// `qa_expert` → `qa expert`.
pub(crate) fn role_name(role: &str) -> String {
    role.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_become_markup() {
        let html = untrusted("<b>\"x\"</b> & y").into_string();
        assert_eq!(html, "<bdi>&lt;b&gt;&quot;x&quot;&lt;/b&gt; &amp; y</bdi>");
    }

    #[test]
    fn directional_and_control_characters_are_made_visible() {
        for text in ["a\u{202e}b", "a\u{1b}[31mb", "a\u{200b}b", "a\u{0}b"] {
            let html = untrusted(text).into_string();
            assert!(!html.chars().any(|c| matches!(c, '\u{202e}' | '\u{1b}' | '\u{200b}' | '\0')));
        }
    }

    #[test]
    fn excerpts_are_one_truncated_line() {
        let html = excerpt("one\ntwo\n\nthree four five", 9).into_string();
        assert!(html.starts_with("<bdi>one two"), "{html}");
        assert!(!html.contains('\n') && !html.contains("five"), "{html}");
        assert_eq!(excerpt("short", 100).into_string(), "<bdi>short</bdi>");
    }

    #[test]
    fn a_huge_text_is_not_processed_completely() {
        let html = excerpt(&"W".repeat(10_000_000), 50).into_string();
        assert!(html.len() < 300, "{}", html.len());
    }

    #[test]
    fn names_between_backticks_are_code() {
        let shown = |text: &str, most| with_code(text, most).into_string();
        assert_eq!(
            shown("`<a>` is gone", 100),
            "<code><bdi>&lt;a&gt;</bdi></code><bdi> is gone</bdi>"
        );
        assert_eq!(shown("a `b", 100), "<bdi>a `b</bdi>");
        assert_eq!(shown("a `b` c", 100), "<bdi>a </bdi><code><bdi>b</bdi></code><bdi> c</bdi>");
        assert_eq!(shown("plain", 100), "<bdi>plain</bdi>");
        assert!(shown(&"`x` ".repeat(1_000), 40).len() < 600);
    }

    #[test]
    fn single_lines_fit_into_attributes() {
        let line = single_line(&format!("one\ntwo {}", "x".repeat(500)));
        assert!(line.chars().count() <= 200 && !line.contains('\n'), "{line}");
        assert_eq!(role_name("qa_expert"), "qa expert");
    }
}
