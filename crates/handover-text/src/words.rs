//! Terms of a full-text index: lower-case words, with identifiers split, stemmed, without stop words.
//!
//! The same function produces the terms of documents and queries for every backend, so they always
//! agree.

use crate::stem::stem;

/// Longer words are keys, hashes or data; nobody searches for them.
const MAX_WORD_BYTES: usize = 64;

/// Words too frequent in English to be informative. Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may",
    "me", "more", "my", "no", "not", "of", "on", "or", "our", "out", "she", "should", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "up", "us", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why",
    "will", "with", "would", "you", "your",
];

/// The length of the longest of them.
const LONGEST_STOP_WORD: usize = 6;

/// The terms of a text, in order, with repetitions.
///
/// `getUserById` yields `getuserbyid`, `get`, `user`, `id`; `src/auth/oauth.rs` yields its segments.
/// Chinese, Japanese and Korean, written without spaces, yield overlapping pairs of characters.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.is_empty() || word.len() > MAX_WORD_BYTES {
            continue;
        }
        if word.is_ascii() {
            ascii_word(word, &mut terms);
        } else {
            let folded = fold(word);
            // A mark without its letter.
            if folded.is_empty() {
                continue;
            }
            if folded.is_ascii() {
                ascii_word(&folded, &mut terms);
            } else {
                other_word(&folded, &mut terms);
            }
        }
    }
    terms
}

fn ascii_word(word: &str, terms: &mut Vec<String>) {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if word.bytes().skip(1).all(is_plain) && !word.starts_with('_') {
        return push_stem(word, terms);
    }
    let parts = split_identifier(word);
    if parts.len() > 1 {
        let whole: String =
            word.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
        terms.push(whole);
    }
    for part in parts {
        push_stem(part, terms);
    }
}

/// Adds the stem of a word that is no stop word.
fn push_stem(word: &str, terms: &mut Vec<String>) {
    let mut word = word.to_ascii_lowercase();
    let is_stop_word =
        word.len() <= LONGEST_STOP_WORD && STOP_WORDS.binary_search(&word.as_str()).is_ok();
    if !is_stop_word {
        stem(&mut word);
        terms.push(word);
    }
}

/// Latin letters without their accents: `Café` → `Cafe`, `Straße` → `Strasse`. Combining marks are dropped.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match ACCENTED.iter().find(|(letters, _)| letters.contains(c)) {
            Some((_, plain)) => folded.push_str(plain),
            None if ('\u{300}'..='\u{36f}').contains(&c) => {}
            None => folded.push(c),
        }
    }
    folded
}

/// Letters of the languages that are written with Latin letters, and what they are searched by.
const ACCENTED: &[(&str, &str)] = &[
    ("àáâãäåāăąǎ", "a"),
    ("ÀÁÂÃÄÅĀĂĄǍ", "A"),
    ("æ", "ae"),
    ("Æ", "Ae"),
    ("çćĉċč", "c"),
    ("ÇĆĈĊČ", "C"),
    ("ďđð", "d"),
    ("ĎĐÐ", "D"),
    ("èéêëēĕėęěẽ", "e"),
    ("ÈÉÊËĒĔĖĘĚẼ", "E"),
    ("ĝğġģ", "g"),
    ("ĜĞĠĢ", "G"),
    ("ĥħ", "h"),
    ("ĤĦ", "H"),
    ("ìíîïĩīĭįı", "i"),
    ("ÌÍÎÏĨĪĬĮİ", "I"),
    ("ĵ", "j"),
    ("Ĵ", "J"),
    ("ķ", "k"),
    ("Ķ", "K"),
    ("ĺļľł", "l"),
    ("ĹĻĽŁ", "L"),
    ("ñńņň", "n"),
    ("ÑŃŅŇ", "N"),
    ("òóôõöøōŏő", "o"),
    ("ÒÓÔÕÖØŌŎŐ", "O"),
    ("œ", "oe"),
    ("Œ", "Oe"),
    ("ŕřŗ", "r"),
    ("ŔŘŖ", "R"),
    ("śŝşšș", "s"),
    ("ŚŜŞŠȘ", "S"),
    ("ß", "ss"),
    ("ţťŧț", "t"),
    ("ŢŤŦȚ", "T"),
    ("þ", "th"),
    ("Þ", "Th"),
    ("ùúûüũūŭůűų", "u"),
    ("ÙÚÛÜŨŪŬŮŰŲ", "U"),
    ("ŵ", "w"),
    ("Ŵ", "W"),
    ("ýÿŷ", "y"),
    ("ÝŸŶ", "Y"),
    ("źżž", "z"),
    ("ŹŻŽ", "Z"),
];

/// `getHTTPResponse_v2` → `get`, `HTTP`, `Response`, `v2`.
fn split_identifier(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let mut parts = Vec::new();
    let mut start = 0;
    for i in 0..bytes.len() {
        let boundary = bytes[i] == b'_'
            || (i > start
                && bytes[i].is_ascii_uppercase()
                && (bytes[i - 1].is_ascii_lowercase()
                    || bytes[i - 1].is_ascii_digit()
                    || bytes.get(i + 1).is_some_and(u8::is_ascii_lowercase)));
        if boundary {
            parts.push(&word[start..i]);
            start = i + usize::from(bytes[i] == b'_');
        }
    }
    parts.push(&word[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

fn other_word(word: &str, terms: &mut Vec<String>) {
    let chars: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    if chars.len() > 2 && chars.iter().any(|c| is_unspaced(*c)) {
        terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
    } else {
        terms.push(chars.into_iter().filter(|c| *c != '_').collect());
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
    }

    #[test]
    fn stop_words_are_sorted_and_short() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(LONGEST_STOP_WORD));
    }

    #[test]
    fn accents_are_folded() {
        check("cafe Café CAFÉ", &["cafe", "cafe", "cafe"]);
        check("cafe\u{301}", &["cafe"]);
        check("Straße naïve Ærø", &["strass", "naiv", "aero"]);
        check("niño señor", &["nino", "senor"]);
        check("Łódź", &["lodz"]);
    }

    #[test]
    fn splits_identifiers() {
        check("getUserById", &["getuserbyid", "get", "user", "id"]);
        check("user by id", &["user", "id"]);
        check("parse_HTTPResponse2", &["parsehttpresponse2", "pars", "http", "response2"]);
        check("src/auth/oauth.rs", &["src", "auth", "oauth", "rs"]);
    }

    #[test]
    fn stems_words_and_drops_stop_words() {
        check("The tokens are rotated", &["token", "rotat"]);
        check("rotating token", &["rotat", "token"]);
        check("", &[]);
        check("a — the…", &[]);
    }

    #[test]
    fn keeps_other_scripts() {
        check("Größe", &["gross"]);
        check("缓存失效", &["缓存", "存失", "失效"]);
        check(&"x".repeat(65), &[]);
    }

    #[test]
    fn identifiers_are_kept_whole_and_in_parts() {
        assert_eq!(
            terms("getHTTPResponse_v2"),
            ["gethttpresponsev2", "get", "http", "respons", "v2"]
        );
        assert_eq!(terms("_private_"), ["privat"]);
        assert_eq!(terms("src/auth/oauth.rs"), ["src", "auth", "oauth", "rs"]);
        assert_eq!(terms("___ -- .."), [""; 0]);
    }

    #[test]
    fn long_words_are_ignored() {
        assert_eq!(terms(&"x".repeat(64)).len(), 1);
        assert_eq!(terms(&"x".repeat(65)), [""; 0]);
    }

    #[test]
    fn scripts_without_spaces_yield_pairs() {
        assert_eq!(terms("日本語"), ["日本", "本語"]);
        assert_eq!(terms("日本"), ["日本"]);
        assert_eq!(terms("Größe"), ["gross"]);
    }

    proptest! {
        #[test]
        fn queries_match_documents_in_any_case(text in "[a-zA-Z ]{0,60}") {
            let words = text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
            let upper = words.to_uppercase();
            prop_assert_eq!(terms(&words), terms(&upper));
        }

        /// A text has the terms of its parts: an index can be built in pieces.
        #[test]
        fn parts_of_a_text_are_indexed_alike(parts in prop::collection::vec("[\\PC]{0,20}", 0..6)) {
            let separately: Vec<String> = parts.iter().flat_map(|part| terms(part)).collect();
            for between in [" ", "\n", " — ", "/", "."] {
                prop_assert_eq!(&terms(&parts.join(between)), &separately, "{:?}", between);
            }
        }

        /// However a name is spelled, its words are found.
        #[test]
        fn spellings_of_a_name_share_its_words(words in prop::collection::vec("[b-z][a-z]{2,8}", 2..5)) {
            let capital = |word: &String| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
            let plain = terms(&words.join(" "));
            let camel: String = words.iter().map(capital).collect();
            for name in [words.join("_"), words.join("_").to_uppercase(), camel, words.join("-"), words.join("::")] {
                let found = terms(&name);
                for word in &plain {
                    prop_assert!(found.contains(word), "{} is not in {:?} of {}", word, found, name);
                }
            }
        }

        #[test]
        fn terms_are_lower_case_and_short(text in "\\PC{0,80}") {
            for term in terms(&text) {
                prop_assert!(!term.is_empty());
                prop_assert_eq!(&term, &term.to_lowercase());
            }
        }
    }
}
