//! Passphrases: `correct horse battery staple`.

use super::keys::{self, Key};

/// Words of messages that hardly any random phrase contains.
#[rustfmt::skip]
const MESSAGE: &[&str] = &[
    "the", "your", "you", "and", "are", "for", "from", "has", "have", "must", "not", "cannot", "was", "were",
    "will", "with", "without", "this", "that", "these", "those", "please", "enter", "type", "least", "invalid",
    "wrong", "required", "should", "may", "can", "does", "did", "been", "only", "than", "too", "used", "use",
    "using", "when", "which", "who", "into", "one", "characters", "letters", "digits", "field", "value", "name",
    "user", "username", "login", "account", "set", "get", "new", "old", "all", "any", "its", "our", "their",
    "but", "forgot", "reset", "change", "confirm", "match", "missing", "empty", "string", "here", "some",
    "file", "data", "test", "example", "default", "error", "failed", "encrypt", "decrypt", "prompt", "den",
    "der", "die", "das", "und", "ist", "nicht", "les", "des", "pas", "est", "pour", "una", "los", "las", "con",
    "por", "para", "que", "não", "random", "common", "word", "words", "more", "secure", "secret", "phrase",
];

/// Whether a quoted phrase is a password: four or more words in one case, and no message.
pub(super) fn is_phrase(value: &[u8]) -> bool {
    let words = || value.split(|b| matches!(b, b' ' | b'-'));
    let word = |word: &[u8]| {
        (3..=12).contains(&word.len())
            && word.iter().skip(1).all(u8::is_ascii_lowercase)
            && word[0].is_ascii_alphabetic()
            && keys::classify(word).is_none_or(|key| key <= Key::Weak && word.len() > 4)
            && !MESSAGE.iter().any(|m| word.eq_ignore_ascii_case(m.as_bytes()))
    };
    let number = |word: &[u8]| word.len() <= 4 && word.iter().all(u8::is_ascii_digit);
    let capitals = words().filter(|w| w.first().is_some_and(u8::is_ascii_uppercase)).count();
    let count = words().count();
    (4..=12).contains(&count)
        && words().all(|w| !w.is_empty() && (number(w) || word(w)))
        && words().filter(|w| number(w)).count() <= 2
        && (capitals == 0 || capitals + words().filter(|w| number(w)).count() == count)
}

/// Two or three words in lower case that are no message: `open sesame`.
pub(super) fn is_short(value: &[u8]) -> bool {
    let words = || value.split(|b| *b == b' ');
    (2..=3).contains(&words().count())
        && words().all(|word| {
            (3..=12).contains(&word.len())
                && word.iter().all(u8::is_ascii_lowercase)
                && keys::classify(word).is_none()
                && !MESSAGE.iter().any(|m| m.as_bytes() == word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_phrases_are_no_messages() {
        assert!(is_short(b"open sesame") && is_short(b"red herring soup"));
        for other in
            ["sesame", "Open Sesame", "your password", "is wrong", "a b", "one two three four"]
        {
            assert!(!is_short(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn distinguishes_phrases_from_messages() {
        for phrase in ["correct horse battery staple", "Copper Walnut Velvet Dragon 42"] {
            assert!(is_phrase(phrase.as_bytes()), "{phrase}");
        }
        for message in [
            "Enter your passphrase",
            "must be at least eight characters",
            "Passwort bitte erneut eingeben",
            "horse battery",
        ] {
            assert!(!is_phrase(message.as_bytes()), "{message}");
        }
    }
}
