//! JSON of other programs with halves of surrogate pairs in it.
//!
//! JavaScript cuts strings in the middle of a character and writes what is left as an escape such as `\ud83d`.
//! That is no text, so JSON readers refuse the whole document; here the half becomes U+FFFD, and the rest stays.

use std::borrow::Cow;

/// What stands for a character that cannot be one.
const REPLACEMENT: &str = "\\ufffd";

/// The document with every lone surrogate replaced.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    match replace_in_bytes(json.as_bytes()) {
        Some(bytes) => Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|_| json.to_owned())),
        None => Cow::Borrowed(json),
    }
}

/// The same for bytes, which need not be UTF-8; none if there is nothing to replace.
pub fn replace_in_bytes(json: &[u8]) -> Option<Vec<u8>> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        let start = at + found;
        at = match unit(json, start) {
            Some(0xD800..=0xDBFF) => match unit(json, start + ESCAPE) {
                Some(0xDC00..=0xDFFF) => start + 2 * ESCAPE,
                _ => lone(json, start, &mut copied, &mut replaced),
            },
            Some(0xDC00..=0xDFFF) => lone(json, start, &mut copied, &mut replaced),
            Some(_) => start + ESCAPE,
            // Another escape: what follows the backslash belongs to it.
            None => start + 2,
        };
        if at >= json.len() {
            break;
        }
    }
    let mut replaced = replaced?;
    replaced.extend_from_slice(json.get(copied..).unwrap_or_default());
    Some(replaced)
}

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// The code unit that is escaped at a position, if it is one.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + ESCAPE)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

fn lone(json: &[u8], at: usize, copied: &mut usize, replaced: &mut Option<Vec<u8>>) -> usize {
    let text = replaced.get_or_insert_with(|| Vec::with_capacity(json.len()));
    text.extend_from_slice(&json[*copied..at]);
    text.extend_from_slice(REPLACEMENT.as_bytes());
    *copied = at + ESCAPE;
    *copied
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn read(json: &str) -> Value {
        serde_json::from_str(&replace_lone_surrogates(json)).unwrap()
    }

    #[test]
    fn halves_become_replacement_characters() {
        for (json, text) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\uDE00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
            (r#""\\ud83d""#, r"\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
        ] {
            assert_eq!(read(json), Value::from(text), "{json}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for json in [r#"{"a": "\u00e9\ud83d\ude00"}"#, r#""\"""#, "\"\\", "\\u", "", r"\ud8", "é\\"]
        {
            assert!(matches!(replace_lone_surrogates(json), Cow::Borrowed(_)), "{json}");
        }
    }

    proptest! {
        #[test]
        fn valid_documents_are_not_changed(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(matches!(replace_lone_surrogates(&json), Cow::Borrowed(_)));
        }

        /// Each code unit is escaped by itself, as JavaScript does, paired or not.
        #[test]
        fn every_string_of_javascript_is_read_as_its_own_decoder_reads_it(
            units in prop::collection::vec(prop_oneof![0xD700_u16..0xE100, any::<u16>()], 0..20),
            bare in "[a-zé \\[\\]{}]{0,6}",
        ) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let document = format!("{{\"{bare}\": [\"{bare}{escaped}\", 1]}}");
            let value: Value = serde_json::from_str(&replace_lone_surrogates(&document)).unwrap();
            let expected = format!("{bare}{}", String::from_utf16_lossy(&units));
            prop_assert_eq!(value[&bare][0].as_str(), Some(&*expected));
            let bytes = replace_in_bytes(document.as_bytes());
            let text = replace_lone_surrogates(&document);
            prop_assert_eq!(bytes.as_deref().unwrap_or(document.as_bytes()), text.as_bytes());
        }

        /// What is repaired once needs no second repair.
        #[test]
        fn repairing_twice_changes_nothing(json in "(\\\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\.|[a-z\"]){0,20}") {
            let once = replace_lone_surrogates(&json).into_owned();
            prop_assert!(matches!(replace_lone_surrogates(&once), Cow::Borrowed(_)), "{} {}", json, once);
        }

        #[test]
        fn any_document_is_read_in_linear_time_without_a_panic(json in r#"[\\ud8dcf"0-9 ]{0,60}"#) {
            let _ = replace_lone_surrogates(&json);
        }
    }
}
