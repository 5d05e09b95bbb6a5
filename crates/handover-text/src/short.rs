//! Messages that quote what they were given, however long it is.

use std::borrow::Cow;

/// How much is kept of either end of a message.
const KEPT: usize = 200;

/// A message with at most 200 characters from either end: its beginning says what was wrong, its end what is
/// expected.
pub fn short(message: &str) -> Cow<'_, str> {
    // A character has at least one byte.
    if message.len() <= 3 * KEPT {
        return Cow::Borrowed(message);
    }
    let head = message.char_indices().nth(KEPT).map_or(message.len(), |(at, _)| at);
    let tail = message.char_indices().rev().nth(KEPT - 1).map_or(0, |(at, _)| at);
    if tail <= head + KEPT {
        return Cow::Borrowed(message);
    }
    let left_out = message.get(head..tail).unwrap_or_default().chars().count();
    let (head, tail) = (&message[..head], &message[tail..]);
    Cow::Owned(format!("{head}… ({left_out} characters left out) …{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_message_stay() {
        let long = format!("`{}é` is not a valid id; use letters", "x".repeat(5_000_000));
        let message = short(&long);
        assert!(
            message.starts_with("`xxx") && message.ends_with("é` is not a valid id; use letters")
        );
        assert!(message.chars().count() < 450, "{message}");
        for whole in ["", "short", &"é".repeat(300)] {
            assert_eq!(short(whole), whole);
        }
    }
}
