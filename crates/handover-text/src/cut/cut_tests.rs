//! Cutting, by properties and by example.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

#[test]
fn cuts_at_a_word() {
    assert_eq!(cut("one two three", 9), "one two…");
    assert_eq!(cut("one two", 7), "one two");
    assert_eq!(cut("one two three", 8), "one two…");
    assert_eq!(cut("onetwothree", 5), "onet…");
    assert_eq!(cut("one\r\ntwo", 6), "one…");
    assert_eq!(cut("  padded  ", 6), "padded");
    assert_eq!(cut("anything", 0), "");
}

#[test]
fn keeps_redaction_marks_whole() {
    assert_eq!(cut("key [REDACTED-1] x", 12), "key…");
    assert_eq!(cut("key=[REDACTED-12], and", 14), "key=…");
    assert_eq!(cut("key [REDACTED-1] xyz", 17), "key [REDACTED-1]…");
    assert_eq!(cut("[REDACTED-1] of three", 5), "…");
}

#[test]
fn keeps_graphemes_whole() {
    assert_eq!(cut("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 9), "👩‍👩‍👧‍👦…");
    assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 4), "e\u{301}…");
}

#[test]
fn leaves_no_markdown_open() {
    for (text, max, expected) in [
        ("run `cargo test --all` now", 15, "run…"),
        ("run `cargo test` now please", 18, "run `cargo test`…"),
        ("it`s fine and so on", 10, "it`s fine…"),
        ("see [the docs](https://example.org/x) first", 20, "see…"),
        ("see ![an image](a b.png) first", 17, "see…"),
        ("see [the docs][reference here] first", 24, "see…"),
        ("[WIP] cut at words please", 12, "[WIP] cut…"),
        ("a **very important** thing", 11, "a…"),
        ("a *b* c **d e** f", 13, "a *b* c…"),
        ("2 * 3 * 4 is not emphasis", 9, "2 * 3 *…"),
        ("snake_case and more_snake words", 20, "snake_case and…"),
        ("an <a href=\"x y\">anchor</a> here", 14, "an…"),
        ("text <!-- hidden words --> visible", 18, "text…"),
        ("text <!-- never closed at all", 18, "text…"),
    ] {
        assert_eq!(cut(text, max), expected, "{text:?} to {max}");
    }
}

#[test]
fn closes_or_drops_a_fence() {
    let text = "Do:\n\n```sh\ncargo build\ncargo test\n```\n\nThen more words.";
    assert_eq!(cut(text, 30), "Do:\n\n```sh\ncargo build…\n```");
    assert_eq!(cut(text, 14), "Do:…");
    assert_eq!(cut(text, 48), "Do:\n\n```sh\ncargo build\ncargo test\n```\n\nThen…");
    let open = "~~~~\nnever closed, many words in here";
    assert_eq!(cut(open, 25), "~~~~\nnever closed,…\n~~~~");
}

#[test]
fn cuts_to_tokens() {
    let text = "The quick brown fox jumps over the lazy dog.";
    assert_eq!(cut_to_tokens(text, Tokenizer::O200k, 100), text);
    assert_eq!(cut_to_tokens(text, Tokenizer::O200k, 6), "The quick brown fox jumps…");
    assert_eq!(cut_to_tokens(text, Tokenizer::O200k, 0), "");
    assert_eq!(cut_to_tokens(&"a".repeat(10_000), Tokenizer::O200k, 1), "…");
    let long = cut_to_tokens(&"a".repeat(10_000), Tokenizer::O200k, 100);
    assert!(long.len() > 500, "{}", long.len());
}

#[test]
fn takes_linear_time() {
    // No clock here: quadratic time runs into the test runner's timeout.
    for unit in ["a", " ", "`", "[", "](", "*a", "<!--", "<a", "\n", "\u{301}", "🇩", "[REDACTED-1]"]
    {
        let text = format!("x{}", unit.repeat(2_000_000 / unit.len()));
        for max in [100, 1_000_000] {
            assert!(cut(&text, max).chars().count() <= max, "{unit:?}");
        }
    }
}

/// Text made of the characters that affect cutting.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z ]{1,12}",
        "\\PC{1,4}",
        Just("[REDACTED-1]".to_owned()),
        Just("```\n".to_owned()),
        Just("\n\n".to_owned()),
        "[`*_~\\[\\]()<>!\\\\\n -]{1,4}",
        Just("<!--".to_owned()),
        Just("👩‍👧e\u{301}\r\n".to_owned()),
    ];
    prop::collection::vec(part, 0..16).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn never_over_the_limit_and_idempotent(text in text(), max in 0usize..60) {
        let once = cut(&text, max);
        prop_assert!(once.chars().count() <= max);
        prop_assert_eq!(cut(&once, max), once);
    }

    #[test]
    fn a_cut_is_a_beginning_between_graphemes(text in text(), max in 1usize..60) {
        let once = cut(&text, max);
        let text = text.trim();
        if once != text {
            let (head, closing) = once.rsplit_once(ELLIPSIS).unwrap();
            prop_assert!(text.starts_with(head));
            prop_assert!(closing.is_empty() || ["\n```", "\n~~~"].iter().any(|m| closing.starts_with(m)));
            let boundary = text.grapheme_indices(true).any(|(at, _)| at == head.len());
            prop_assert!(boundary || text[head.len()..].starts_with(char::is_whitespace));
            prop_assert!(!head.ends_with("[REDACTED-1"));
        }
    }

    #[test]
    fn never_over_the_limit_of_tokens(text in text(), max in 0_u64..30) {
        for &tokenizer in Tokenizer::ALL {
            let once = cut_to_tokens(&text, tokenizer, max);
            prop_assert!(tokens::count(tokenizer, &once) <= max);
            prop_assert_eq!(cut_to_tokens(&once, tokenizer, max), once);
        }
    }
}
