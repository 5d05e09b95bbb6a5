//! The words of others. They are data: nothing in them is markup, reorders what stands around them, or
//! hides.

use handover_text::cut::{cut, one_line};
use handover_text::quote::visible;
use maud::{Markup, html};

/// A text of others, on its own as far as directions go.
pub(crate) fn said(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// The same for an attribute or a drawing, where no element can stand: on one line, and short.
pub(crate) fn plain(text: &str) -> String {
    cut(&one_line(&visible(text)), 200)
}

/// The beginning of a text of others, on one line.
pub(crate) fn short(text: &str, characters: usize) -> Markup {
    // Much more than is shown need not be looked at.
    let head: String =
        text.chars().take(characters.saturating_mul(4).saturating_add(200)).collect();
    html! { bdi { (cut(&one_line(&visible(&head)), characters)) } }
}

/// A role as people say it.
pub(crate) fn role_name(role: &str) -> String {
    role.replace('_', " ")
}
