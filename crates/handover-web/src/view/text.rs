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

/// `qa_expert` → `qa expert`.
pub(crate) fn role_name(role: &str) -> String {
    role.replace('_', " ")
}
