//! How much of long texts fits on a page, in bytes as they are sent: escaped, with the elements around them.

use handover_text::quote::visible;
use maud::Markup;

/// What is left of the bytes that a part of a page may have.
pub(crate) struct Room {
    left: usize,
}

impl Room {
    pub(crate) const fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// The parts that fit, in their order. Nothing is rendered behind the first that does not.
    pub(crate) fn fill(&mut self, parts: impl IntoIterator<Item = Markup>) -> Vec<Markup> {
        let fits = |part: &Markup| match self.left.checked_sub(part.0.len()) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        };
        parts.into_iter().take_while(fits).collect()
    }

    /// The same for a list whose end matters most: its last parts, in their order.
    pub(crate) fn fill_from_end<I>(&mut self, parts: I) -> Vec<Markup>
    where
        I: IntoIterator<Item = Markup>,
        I::IntoIter: DoubleEndedIterator,
    {
        let mut kept = self.fill(parts.into_iter().rev());
        kept.reverse();
        kept
    }
}

/// The visible beginning of an untrusted text, in at most so many bytes once it is escaped.
pub(crate) fn beginning(text: &str, bytes: usize) -> String {
    // Sequences of terminals are dropped, so more than is shown has to be looked at, but not all of it.
    let head = visible(&text[..text.floor_char_boundary(bytes.saturating_mul(4))]);
    let mut room = bytes;
    let end = head.char_indices().find(|(_, c)| !takes(&mut room, *c));
    match end {
        Some((end, _)) => format!("{}…", head[..end].trim_end()),
        None if bytes.saturating_mul(4) < text.len() => format!("{}…", head.trim_end()),
        None => head,
    }
}

/// The visible end of an untrusted text, in at most so many bytes once it is escaped.
pub(crate) fn ending(text: &str, bytes: usize) -> String {
    let from = text.len().saturating_sub(bytes.saturating_mul(4));
    let tail = visible(&text[text.ceil_char_boundary(from)..]);
    let mut room = bytes;
    let start = tail.char_indices().rev().find(|(_, c)| !takes(&mut room, *c));
    match start {
        Some((at, c)) => format!("…{}", tail[at + c.len_utf8()..].trim_start()),
        None if from > 0 => format!("…{}", tail.trim_start()),
        None => tail,
    }
}

/// Whether another character fits; it is taken from the room.
fn takes(room: &mut usize, c: char) -> bool {
    let width = match c {
        '"' => "&quot;".len(),
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        other => other.len_utf8(),
    };
    match room.checked_sub(width) {
        Some(left) => {
            *room = left;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    const ELLIPSIS: usize = "…".len();

    #[test]
    fn texts_are_measured_as_they_are_sent() {
        for text in ["\"".repeat(900), "<&>".repeat(300), "日本語".repeat(300), "a b\n".repeat(300)]
        {
            for bytes in [0, 1, 7, 100, 500] {
                for cut in [beginning(&text, bytes), ending(&text, bytes)] {
                    let sent = html! { (cut) }.into_string();
                    assert!(sent.len() <= bytes + ELLIPSIS, "{} of {bytes}: {sent}", sent.len());
                }
            }
        }
        assert_eq!(beginning("one two three", 8), "one two…");
        assert_eq!(ending("one two three", 9), "…two three");
        assert_eq!((beginning("short", 5), ending("short", 5)), ("short".into(), "short".into()));
    }

    #[test]
    fn a_text_behind_what_is_looked_at_is_missed_visibly() {
        let coloured = format!("{}red", "\u{1b}[31m".repeat(100));
        assert_eq!(beginning(&coloured, 10), "…");
        let coloured = format!("red{}", "\u{1b}[31m".repeat(100));
        assert_eq!(ending(&coloured, 10), "…");
    }

    #[test]
    fn parts_are_kept_whole() {
        let parts = || (1..=5).map(|n| html! { (n) (n) });
        let shown = |parts: Vec<Markup>| parts.into_iter().map(|part| part.0).collect::<String>();
        assert_eq!(shown(Room::new(5).fill(parts())), "1122");
        assert_eq!(shown(Room::new(5).fill_from_end(parts())), "4455");
        assert_eq!(shown(Room::new(10).fill_from_end(parts())), "1122334455");
        assert!(Room::new(1).fill(parts()).is_empty());
    }
}
