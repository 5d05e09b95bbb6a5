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

    proptest::proptest! {
        /// What is kept and what is counted are the whole message.
        #[test]
        fn nothing_is_counted_twice(unit in "\\PC", count in 0_usize..900, end in "[a-z]{0,300}") {
            let message = format!("{}{end}", unit.repeat(count));
            let shortened = short(&message);
            if shortened != message {
                let (head, rest) = shortened.split_once("… (").unwrap();
                let (number, rest) = rest.split_once(" characters left out) …").unwrap();
                let length = |text: &str| text.chars().count();
                proptest::prop_assert_eq!((length(head), length(rest)), (KEPT, KEPT));
                proptest::prop_assert_eq!(
                    length(head) + number.parse::<usize>().unwrap() + length(rest),
                    length(&message)
                );
                proptest::prop_assert!(message.starts_with(head) && message.ends_with(rest));
            } else {
                proptest::prop_assert!(message.len() <= 3 * KEPT || message.chars().count() <= 3 * KEPT);
            }
        }
    }
}
