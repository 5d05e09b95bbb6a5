//! Messages of errors: with their causes, and not longer than necessary, whatever they quote.

use std::borrow::Cow;
use std::error::Error;

/// How much is kept of either end of a message.
const KEPT: usize = 200;

/// How much of what it quotes: half of it from either end.
const QUOTED: usize = 200;

/// What is around a quotation.
const QUOTATION_MARKS: [char; 3] = ['`', '\'', '"'];

/// An error with its causes, on one line. A cause that was said already, or that only repeats the one before with
/// the number of an error of SQLite, is skipped.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.contains(&text) && !text.starts_with("Error code ") {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = error.source();
    }
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A message that repeats at most 200 characters of a text that it quotes, or of any other word, and of itself at most
/// 200 from either end: its beginning says what was wrong, its end what is expected.
pub fn short(message: &str) -> Cow<'_, str> {
    // A character has at least one byte.
    if message.len() <= QUOTED {
        return Cow::Borrowed(message);
    }
    let message = with_short_quotes(message);
    if message.len() <= 3 * KEPT {
        return message;
    }
    match without_middle(&message, KEPT, KEPT) {
        Some(short) => Cow::Owned(short),
        None => message,
    }
}

/// Shortens quoted texts and words. One pass: a quotation mark without a partner is a letter.
fn with_short_quotes(message: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // Up to where the message is in `out`, and from where its quotation marks are known to have no partner.
    let (mut copied, mut at) = (0, 0);
    let mut alone = [false; QUOTATION_MARKS.len()];
    let mut before = ' ';
    while let Some(next) = message.get(at..).and_then(|rest| rest.chars().next()) {
        let inner = at + next.len_utf8();
        let mark = QUOTATION_MARKS.iter().position(|mark| *mark == next);
        let opening = mark.filter(|mark| !alone[*mark] && !before.is_alphanumeric());
        let end = match opening {
            Some(mark) => {
                let end = message[inner..].find(next).map(|end| inner + end);
                alone[mark] = end.is_none();
                end.map(|end| (inner, end, end + next.len_utf8()))
            }
            None if next.is_whitespace() || mark.is_some() => None,
            None => {
                let rest = &message[at..];
                let ends = |c: char| c.is_whitespace() || QUOTATION_MARKS.contains(&c);
                let end = rest.find(ends).map_or(message.len(), |end| at + end);
                Some((at, end, end))
            }
        };
        let Some((start, end, after)) = end else {
            (before, at) = (next, inner);
            continue;
        };
        if end - start > QUOTED
            && let Some(short) = without_middle(&message[start..end], QUOTED / 2, QUOTED / 2)
        {
            out.push_str(&message[copied..start]);
            out.push_str(&short);
            copied = end;
        }
        before = message[..after].chars().next_back().unwrap_or(' ');
        at = after;
    }
    if copied == 0 {
        return Cow::Borrowed(message);
    }
    out.push_str(&message[copied..]);
    Cow::Owned(out)
}

/// A text without what is between its first and its last characters; none if there is nothing between them.
fn without_middle(text: &str, first: usize, last: usize) -> Option<String> {
    let head = text.char_indices().nth(first).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(last - 1).map_or(0, |(at, _)| at);
    let omitted = text.get(head..tail)?.chars().count();
    let (head, tail) = (&text[..head], &text[tail..]);
    (omitted > 0).then(|| format!("{head}… ({omitted} characters left out) …{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Failed {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    #[test]
    fn causes_are_joined_once_and_without_numbers() {
        let failed = |text, source: Option<Failed>| Failed { text, source: source.map(Box::new) };
        let number = failed("Error code 13: disk full", None);
        let cause = failed("no\nspace", Some(failed("no\nspace", Some(number))));
        assert_eq!(with_causes(&failed("cannot write", Some(cause))), "cannot write: no space");
        assert_eq!(with_causes(&failed("alone", None)), "alone");
    }

    #[test]
    fn both_ends_of_a_long_message_stay() {
        let long = format!("`{}é` is not a valid id; use letters", "x".repeat(5_000_000));
        let message = short(&long);
        assert!(
            message.starts_with("`xxx") && message.ends_with("é` is not a valid id; use letters")
        );
        assert_eq!(message.matches('x').count(), 199, "{message}");
        let words = short(&"two words ".repeat(1_000)).into_owned();
        assert!(words.chars().count() < 450 && words.ends_with("two words "), "{words}");
        for whole in ["", "short", &"é ".repeat(100)] {
            assert_eq!(short(whole), whole);
        }
    }

    #[test]
    fn what_is_quoted_is_shortened_and_nothing_else() {
        let value = "many words ".repeat(50);
        for mark in QUOTATION_MARKS {
            let message =
                short(&format!("there is no {mark}{value}{mark}; see `handover run`")).into_owned();
            assert!(message.starts_with(&format!("there is no {mark}many words")), "{message}");
            assert!(
                message.ends_with(&format!("many words {mark}; see `handover run`")),
                "{message}"
            );
            assert!(message.contains("(350 characters left out)"), "{message}");
        }
        let apostrophes =
            "it doesn't matter that one's message has `marks` like 'these' ".repeat(6);
        assert_eq!(short(&apostrophes), apostrophes);
        let open = format!("no end of `this {}", "and that ".repeat(30));
        assert_eq!(short(&open), open);
        // Many quotation marks take no longer than many letters.
        assert!(short(&"`a' \"".repeat(300_000)).chars().count() < 450);
    }

    proptest::proptest! {
        /// What is kept and what is counted are the whole message.
        #[test]
        fn nothing_is_counted_twice(unit in "\\PC", count in 0_usize..900, end in "[a-z]{0,100}") {
            let message = format!("{}{end}", unit.repeat(count));
            let shortened = short(&message);
            if let Some((head, rest)) = shortened.split_once("… (") {
                let (number, rest) = rest.split_once(" characters left out) …").unwrap();
                let length = |text: &str| text.chars().count();
                proptest::prop_assert!(length(head) <= KEPT + 1 && length(rest) <= KEPT + 1);
                proptest::prop_assert_eq!(
                    length(head) + number.parse::<usize>().unwrap() + length(rest),
                    length(&message)
                );
                proptest::prop_assert!(message.starts_with(head) && message.ends_with(rest));
            } else {
                proptest::prop_assert_eq!(&shortened, &message);
                proptest::prop_assert!(message.len() <= 3 * KEPT || message.chars().count() <= 3 * KEPT);
            }
        }
    }
}
