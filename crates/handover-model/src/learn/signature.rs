//! Which errors are considered the same.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::normalize::{names, normalize};

const MAX_MESSAGE_CHARS: usize = 500;

/// The part of an error that does not vary between occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The error type, such as `TypeError`; `error` if the message names none.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message without paths, numbers, ids, times and quoted values that are not names.
    pub message: String,
    /// Additional distinguishing words, sorted.
    pub hints: Vec<String>,
}

impl Signature {
    /// The signature of a message. Without an explicit type, the type is taken from the start of the
    /// message: `--type TypeError --message "x"` and `--message "TypeError: x"` are the same error.
    pub fn new(kind: Option<&str>, message: &str, hints: &[String]) -> Self {
        let message = message.trim();
        let (named, rest) = split_type(message);
        let (kind, message) = match (kind.map(str::trim).filter(|k| !k.is_empty()), named) {
            (Some(given), Some(named)) if given == named => (given, rest),
            (Some(given), _) => (given, message),
            (None, Some(named)) => (named, rest),
            (None, None) => ("error", message),
        };
        let hints: BTreeSet<String> =
            hints.iter().map(|h| h.trim().to_lowercase()).filter(|h| !h.is_empty()).collect();
        Self {
            kind: kind.to_owned(),
            message: normalize(message).chars().take(MAX_MESSAGE_CHARS).collect(),
            hints: hints.into_iter().collect(),
        }
    }

    /// Sixteen hexadecimal digits that identify the signature.
    pub fn hash(&self) -> String {
        let text = format!("{}\n{}\n{}", self.kind, self.message, self.hints.join(","));
        blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
    }
}

/// `TypeError: message` → `TypeError`, `message`.
fn split_type(message: &str) -> (Option<&str>, &str) {
    let Some((head, rest)) = message.split_once(':') else {
        return (None, message);
    };
    let name = head.rsplit(['.', ' ']).next().unwrap_or(head);
    let typed = ["Error", "Exception", "Warning", "Panic"]
        .iter()
        .any(|end| name.ends_with(end) && name.len() > end.len() && !head.contains(' '));
    if typed { (Some(name), rest.trim_start()) } else { (None, message) }
}

/// The share of a pattern's words that occur in a text, from 0 to 1. Both sides are normalized, so a log
/// with other paths and numbers still matches; one about another module, package or symbol hardly does.
pub fn similarity(pattern: &Signature, text: &str) -> f64 {
    let wanted = words(&pattern.message);
    if wanted.is_empty() {
        return 0.0;
    }
    let normal = normalize(text);
    let mut given = words(&normal);
    given.extend(text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase));
    let hit = wanted.iter().filter(|word| given.contains(*word)).count();
    let share = hit as f64 / wanted.len() as f64;
    let typed = pattern.kind == "error" || text.contains(&pattern.kind);
    // A single word occurs in many logs; it only counts fully if it is the whole message.
    let vague = wanted.len() == 1 && normalize(text.trim()) != pattern.message;
    let other = names(&pattern.message).iter().any(|name| !has_word(text, &normal, name));
    match (typed, vague || other) {
        (true, false) => share,
        (false, false) => share * 0.8,
        (_, true) => share * 0.4,
    }
}

/// Whether a text contains a name as a separate word.
fn has_word(text: &str, normal: &str, name: &str) -> bool {
    [text, normal].iter().any(|text| {
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !is_word(before) && !is_word(after)
        })
    })
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '<' | '>' | '_')))
        .filter(|word| word.chars().any(char::is_alphanumeric) && !word.starts_with('<'))
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hash(message: &str) -> String {
        Signature::new(None, message, &[]).hash()
    }

    #[test]
    fn takes_the_type_from_the_flag_or_the_message() {
        let flagged = Signature::new(Some("TypeError"), "x is undefined", &[]);
        let inline = Signature::new(None, "TypeError: x is undefined", &[]);
        assert_eq!(flagged, inline);
        assert_eq!(Signature::new(None, "python.lib.ValueError: bad", &[]).kind, "ValueError");
        assert_eq!(Signature::new(None, "connection refused", &[]).kind, "error");
        assert_eq!(Signature::new(None, "this is an Error: no", &[]).kind, "error");
    }

    #[test]
    fn distinguishes_different_errors() {
        assert_ne!(hash("TypeError: x is undefined"), hash("ValueError: x is undefined"));
        assert_ne!(hash("error[E0308]: mismatched types"), hash("error[E0382]: mismatched types"));
        assert_ne!(hash("ORA-00942: table missing"), hash("ORA-00904: table missing"));
    }

    #[test]
    fn names_distinguish_errors() {
        for (one, other) in [
            ("Cannot find module 'express'", "Cannot find module 'left-pad'"),
            ("no field `name` in \"User\"", "no field `email` in \"User\""),
            ("SyntaxError in app.py:42", "SyntaxError in main.py:42"),
        ] {
            assert_ne!(hash(one), hash(other));
            let pattern = Signature::new(None, other, &[]);
            assert!(similarity(&pattern, other) > 0.9, "{other}");
            assert!(similarity(&pattern, one) < 0.8, "{one}");
        }
        let pattern = Signature::new(None, "Cannot find module 'left-pad'", &[]);
        assert!(similarity(&pattern, "Cannot find module 'express'") < 0.5);
        assert!(similarity(&pattern, "npm: Cannot find module \"left-pad\" in /srv/app") > 0.9);
        assert!(similarity(&pattern, "Cannot find module 'left-padded'") < 0.5);
    }

    #[test]
    fn hints_count_in_any_order() {
        let hints = |h: &[&str]| {
            let h: Vec<String> = h.iter().map(|s| (*s).to_owned()).collect();
            Signature::new(None, "boom", &h).hash()
        };
        assert_eq!(hints(&["a", "B"]), hints(&["b", "a", "a"]));
        assert_ne!(hints(&["a"]), hints(&[]));
    }

    #[test]
    fn finds_a_pattern_in_a_log() {
        let pattern = Signature::new(None, "ECONNREFUSED: connect 127.0.0.1:5432", &[]);
        let log = "2026-01-01 12:00 npm ERR! connect ECONNREFUSED 10.0.0.9:5433 at /srv/app.js:3";
        assert!(similarity(&pattern, log) > 0.9);
        assert!(similarity(&pattern, "the page is blank") < 0.3);
        let vague = Signature::new(None, "failed", &[]);
        assert!(similarity(&vague, "three tests failed today") < 0.5);
        assert!(similarity(&vague, "failed") > 0.9);
    }

    #[test]
    fn messages_that_differ_in_detail_have_the_same_hash() {
        for (one, other) in [
            ("cannot open /srv/a/b.rs", "cannot open /home/x/c.rs"),
            ("timeout after 30 s", "timeout after 45 s"),
            ("no field `name` in row '12'", "no field `name` in row '13'"),
            ("at 2026-01-02 10:00:00 it broke", "at 2027-03-04T11:12:13Z it broke"),
            ("object 0x7ffe1234 leaked", "object 0xdeadbeef leaked"),
            ("\u{1b}[31mfailed\u{1b}[0m in test", "failed in test"),
        ] {
            assert_eq!(hash(one), hash(other), "{one}");
        }
    }

    #[test]
    fn hashes_are_short_and_stable() {
        let hash = hash("TypeError: x is undefined");
        assert_eq!(hash.len(), 16);
        assert!(hash.bytes().all(|b| b.is_ascii_hexdigit()));
        assert_eq!(hash, super::Signature::new(None, "TypeError: x is undefined", &[]).hash());
    }

    #[test]
    fn a_missing_type_lowers_the_similarity() {
        let pattern = Signature::new(Some("TypeError"), "value of field is undefined", &[]);
        let text = "the value of field is undefined here";
        let (typed, untyped) = (format!("TypeError: {text}"), text);
        assert_eq!(similarity(&pattern, &typed), 1.0);
        assert_eq!(similarity(&pattern, untyped), 0.8);
        assert_eq!(similarity(&pattern, "nothing in common"), 0.0);
        assert_eq!(similarity(&Signature::new(None, "<path>", &[]), "<path>"), 0.0);
    }

    #[test]
    fn similarity_is_the_share_of_words() {
        let pattern = Signature::new(None, "alpha beta gamma delta", &[]);
        assert_eq!(similarity(&pattern, "delta ALPHA"), 0.5);
        assert_eq!(similarity(&pattern, "alpha beta gamma delta epsilon"), 1.0);
        let single = Signature::new(None, "segfault", &[]);
        assert_eq!(similarity(&single, "segfault"), 1.0);
        assert_eq!(similarity(&single, "a segfault here"), 0.4);
    }

    proptest! {
        #[test]
        fn similarity_is_a_share(message in "\\PC{0,60}", text in "\\PC{0,120}") {
            let pattern = Signature::new(None, &message, &[]);
            let share = similarity(&pattern, &text);
            prop_assert!((0.0..=1.0).contains(&share));
        }
    }

    #[test]
    fn the_type_is_a_word_before_the_first_colon() {
        let split = |message: &str| {
            let signature = Signature::new(None, message, &[]);
            (signature.kind, signature.message)
        };
        let pair = |kind: &str, message: &str| (kind.to_owned(), message.to_owned());
        assert_eq!(split("KeyError: x"), pair("KeyError", "x"));
        assert_eq!(split("java.io.IOException: closed"), pair("IOException", "closed"));
        assert_eq!(split("DeprecationWarning:old"), pair("DeprecationWarning", "old"));
        assert_eq!(split("RuntimePanic: at disco"), pair("RuntimePanic", "at disco"));
        // The suffix alone is not a type, and neither is a sentence.
        assert_eq!(split("Error: x"), pair("error", "Error: x"));
        assert_eq!(split("an IOException: x"), pair("error", "an IOException: x"));
        assert_eq!(split("KeyError"), pair("error", "KeyError"));
    }

    #[test]
    fn a_given_type_wins_over_another_in_the_message() {
        let given = Signature::new(Some("MyError"), "TypeError: x", &[]);
        assert_eq!((given.kind.as_str(), given.message.as_str()), ("MyError", "TypeError: x"));
        let blank = Signature::new(Some("  "), "TypeError: x", &[]);
        assert_eq!(blank.kind, "TypeError");
        let trimmed = Signature::new(Some(" TypeError "), "  TypeError: x  ", &[]);
        assert_eq!((trimmed.kind.as_str(), trimmed.message.as_str()), ("TypeError", "x"));
    }

    #[test]
    fn messages_and_hints_are_trimmed() {
        let long = Signature::new(None, &"word ".repeat(500), &[]);
        assert_eq!(long.message.chars().count(), MAX_MESSAGE_CHARS);
        let hints = ["  B ", "a", "", " ", "b"].map(str::to_owned);
        assert_eq!(Signature::new(None, "x", &hints).hints, ["a", "b"]);
    }

    #[test]
    fn json_calls_the_kind_type() {
        let signature = Signature::new(None, "TypeError: x", &["a".to_owned()]);
        let value = serde_json::to_value(&signature).unwrap();
        assert_eq!(value, serde_json::json!({"type": "TypeError", "message": "x", "hints": ["a"]}));
        assert_eq!(serde_json::from_value::<Signature>(value).unwrap(), signature);
    }

    #[test]
    fn placeholders_do_not_count_as_words() {
        let pattern = Signature::new(None, "cannot open /a/b of 12", &[]);
        // Only `cannot`, `open` and `of` are words.
        assert_eq!(similarity(&pattern, "cannot open of"), 1.0);
        assert_eq!(similarity(&pattern, "<path> <n>"), 0.0);
    }

    proptest! {
        #[test]
        fn a_message_is_similar_to_itself(message in "[a-z]{2,8}( [a-z]{2,8}){1,6}") {
            let distinct: BTreeSet<&str> = message.split(' ').collect();
            prop_assume!(distinct.len() > 1);
            let pattern = Signature::new(None, &message, &[]);
            prop_assert_eq!(similarity(&pattern, &message), 1.0);
            let log = format!("2026-01-01 12:00:00 {message} at /x/y.rs:12");
            prop_assert_eq!(similarity(&pattern, &log), 1.0);
        }

        /// More of the words never makes a text less similar.
        #[test]
        fn similarity_is_monotonic(words in prop::collection::vec("[a-z]{3,8}", 2..8), take in 0_usize..8) {
            let pattern = Signature::new(None, &words.join(" "), &[]);
            let less = words.iter().take(take).cloned().collect::<Vec<_>>().join(" ");
            let more = words.iter().take(take + 1).cloned().collect::<Vec<_>>().join(" ");
            prop_assert!(similarity(&pattern, &less) <= similarity(&pattern, &more));
        }

        #[test]
        fn different_signatures_have_different_hashes(one in "[a-z ]{1,20}", other in "[a-z ]{1,20}") {
            let (one, other) = (Signature::new(None, &one, &[]), Signature::new(None, &other, &[]));
            prop_assert_eq!(one == other, one.hash() == other.hash());
        }
    }
}
