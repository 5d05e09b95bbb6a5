//! The words of a text that can give away where they come from: names, numbers, and rare plain words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use handover_text::words::terms;

/// A name or a number that hardly anybody writes by chance.
pub(super) const NAME: u32 = 2;

/// A word, or a number that is often needed.
pub(super) const WORD: u32 = 1;

/// Words that say nothing about their source: everybody who works on software uses them.
static COMMON: LazyLock<HashSet<String>> =
    LazyLock::new(|| terms(include_str!("common.txt")).into_iter().collect());

/// The telling words of a text, each with its weight.
pub(super) fn telling(text: &str) -> HashMap<String, u32> {
    let mut found = HashMap::new();
    let separates = |c: char| c.is_whitespace() || "`\"'“”‘’()[]{}<>|;!?=*+…".contains(c);
    for raw in text.split(separates).flat_map(pieces) {
        let token = raw.trim_matches(|c: char| ".:/\\~^&".contains(c));
        let Some((key, weight)) = weigh(token) else {
            for term in terms(token) {
                plain(&term, &mut found);
            }
            continue;
        };
        found.insert(key, weight);
        // A name is also written in other ways: `bucket.lua` as `BUCKET_LUA`, a path by its end.
        if weight == NAME {
            for part in token.split(['/', '\\']).filter(|part| *part != token) {
                if let Some((key, weight)) = weigh(part.trim_matches('.')) {
                    found.entry(key).or_insert(weight);
                }
            }
        }
        if !token.starts_with(|c: char| c.is_ascii_digit()) {
            for term in terms(token) {
                plain(&term, &mut found);
            }
        }
    }
    found
}

/// A comma separates, unless it is within a number: 18,422.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let word = word.trim_matches(',');
    let is_number = word.chars().all(|c| c.is_ascii_digit() || c == ',');
    word.split(move |c| c == ',' && !is_number)
}

fn plain(term: &str, found: &mut HashMap<String, u32>) {
    let long = term.chars().count() >= 4 || !term.is_ascii() && term.chars().count() >= 2;
    let word = term.chars().all(char::is_alphabetic);
    if long && word && !is_common(term) {
        found.entry(term.to_owned()).or_insert(WORD);
    }
}

/// Whether everybody uses it.
fn is_common(term: &str) -> bool {
    COMMON.contains(term)
}

/// Whether a file name is one that most projects have.
pub(super) fn is_usual(name: &str) -> bool {
    weigh(name).is_some_and(|(key, _)| KNOWN.contains(&key.as_str()))
}

/// A name or a number, in a form that does not depend on how it is written; `None` for plain words.
fn weigh(token: &str) -> Option<(String, u32)> {
    if token.is_empty() || token.len() > 120 {
        return None;
    }
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    if letters == 0 {
        return number(token, digits);
    }
    let key: String =
        token.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let inner = token.trim_start_matches(['-', '@', '#', '$', '.', '/']);
    let option = token.starts_with("--") && letters >= 4;
    let joined = inner.contains(['_', '.', '/', ':', '@']) || has_hump(inner);
    let mixed = digits > 0 && letters > 1;
    match option || joined || mixed {
        true if letters < 4 && digits < 2 => None,
        true if KNOWN.contains(&key.as_str()) => Some((key, WORD)),
        true => Some((key, NAME)),
        false => None,
    }
}

/// Names that everybody writes.
const KNOWN: &[&str] = &[
    "readmemd",
    "changelogmd",
    "packagejson",
    "cargotoml",
    "mainrs",
    "librs",
    "modrs",
    "indexts",
    "indexjs",
    "tsconfigjson",
    "pyprojecttoml",
    "gomod",
    "utf8",
    "sha256",
    "base64",
    "nodejs",
    "javascript",
    "typescript",
    "github",
    "gitlab",
    "postgresql",
    "sqlite",
    "mysql",
    "ipv4",
    "ipv6",
    "http2",
    "x8664",
    "arm64",
    "inputoutput",
    "andor",
    "truefalse",
    "yesno",
    "macos",
    "oauth2",
];

/// A number; one of a single digit is no evidence, and round ones are often needed.
fn number(token: &str, digits: usize) -> Option<(String, u32)> {
    let key: String = token.chars().filter(|c| !",_ %$€#".contains(*c)).collect();
    let valid = key.chars().all(|c| c.is_ascii_digit() || ".:-/".contains(c));
    if !valid || digits < 2 {
        return None;
    }
    let round = key.trim_end_matches('0').len() <= 1
        || ["404", "401", "403", "422"].contains(&key.as_str());
    let structured = key.contains([':', '.']) && digits >= 2;
    Some((key, if structured || digits >= 3 && !round { NAME } else { WORD }))
}

/// Whether there is a capital after a small letter: `camelCase`.
fn has_hump(word: &str) -> bool {
    let mut before = ' ';
    word.chars().any(|c| {
        let hump = before.is_lowercase() && c.is_uppercase();
        before = c;
        hump
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut found: Vec<String> =
            telling(text).into_iter().map(|(key, weight)| format!("{key}:{weight}")).collect();
        found.sort();
        found.join(" ")
    }

    #[test]
    fn names_and_numbers_weigh_more_than_words() {
        assert!(shown("client_max_body_size").contains("clientmaxbodysize:2"));
        assert_eq!(shown("05:40"), "05:40:2");
        assert_eq!(shown("18,422 rows"), "18422:2");
        assert_eq!(shown("at most 60, or 6"), "60:1");
        assert_eq!(shown("status 404"), "404:1");
        assert!(shown("bucket.lua").contains("bucketlua:2"));
        assert!(shown("BUCKET_LUA").contains("bucketlua:2"));
    }

    #[test]
    fn common_words_say_nothing() {
        assert_eq!(shown("I added a test for the function and it passes now."), "");
        assert_eq!(shown("README.md"), "readmemd:1");
        assert_eq!(shown(""), "");
    }
}
