//! Fuzz targets for cutting, quoting and counting, on the stable toolchain.
//!
//! `cargo test` runs each for a moment; `BOLERO_RANDOM_TEST_TIME_MS=600000 cargo test --release
//! -p handover-text --test it fuzz` for ten minutes each; `cargo bolero test` with a fuzzing engine.

use bolero::check;
use handover_text::cut::{cut, cut_to_tokens};
use handover_text::quote::{quote_block, quote_inline};
use handover_text::tokens::{Tokenizer, count, fits, upper_bound};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a byte of input stands for, so that random bytes become Markdown.
#[rustfmt::skip]
const ALPHABET: [&str; 96] = [
    "a", "b", "Z", "word", " ", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\r\n", "\r", "  \n", "0",
    "1", "23", "1. ", "2) ", "#", "# ", "###### ", "-", "- ", "--", "---", "*", "* ", "**", "***", "+ ",
    "_", "__", "___", "=", "===", "~", "~~", "~~~", "`", "``", "```", "```x\n", ">", "> ", "|", "|-|",
    ":-:", "|\n|-|\n", "[", "]", "(", ")", "](", "]:", "]: x", "[a]", "[a](b)", "![", "[^1]", "[^1]: ", "[!NOTE]", "[ ] ",
    "<", "<!--", "-->", "<a>", "</a>", "<div", "<?", "<!X", "<http://a.b>", "\\", "\\\\", "\\`", "\\\n", "&lt;", "&#35; ", "\"",
    "'s", "!", "$$", "é", "e\u{301}", "漢", "👩‍👧", "\u{1b}[0m", "\u{1b}]", "\u{7}", "\u{202e}", "\u{200b}", "\u{200d}", "\u{a0}", "\u{2028}", "[REDACTED-1]",
];

/// Longer inputs find nothing that these do not, only more slowly.
const LONGEST: usize = 64;

fn markdown(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| ALPHABET[usize::from(*byte) % ALPHABET.len()]).collect()
}

/// Each input as Markdown, and as the text that its bytes are.
fn texts(bytes: &[u8]) -> [String; 2] {
    [markdown(bytes), String::from_utf8_lossy(bytes).into_owned()]
}

#[test]
fn fuzz_cut() {
    check!().with_max_len(LONGEST).for_each(|bytes: &[u8]| {
        let max = bytes.first().copied().map_or(0, usize::from) / 2;
        for text in texts(bytes) {
            let once = cut(&text, max);
            assert!(once.chars().count() <= max);
            assert_eq!(cut(&once, max), once);
            for tokenizer in [Tokenizer::O200k, Tokenizer::ClaudeNew] {
                let once = cut_to_tokens(&text, tokenizer, max as u64);
                assert!(count(tokenizer, &once) <= max as u64);
                assert_eq!(cut_to_tokens(&once, tokenizer, max as u64), once);
            }
        }
    });
}

#[test]
fn fuzz_quote() {
    check!().with_max_len(LONGEST).for_each(|bytes: &[u8]| {
        for text in texts(bytes) {
            let line = quote_inline(&text);
            assert_eq!(quote_inline(&line), line);
            check_line(&line);
            check_block(&quote_block(&text));
        }
    });
}

#[test]
fn fuzz_tokens() {
    check!().with_max_len(LONGEST).for_each(|bytes: &[u8]| {
        let limit = bytes.first().copied().map_or(0, u64::from);
        for text in texts(bytes) {
            for &tokenizer in Tokenizer::ALL {
                let tokens = count(tokenizer, &text);
                assert!(tokens <= upper_bound(tokenizer, &text));
                assert_eq!(fits(tokenizer, &text, limit), tokens <= limit);
            }
        }
    });
}

fn parse(text: &str) -> Vec<Event<'_>> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options).collect()
}

/// One quotation of paragraphs, and what follows it is untouched.
fn check_block(quoted: &str) {
    let document = format!("{quoted}\n\n## After");
    let events = parse(&document);
    assert!(matches!(events.first(), Some(Event::Start(Tag::BlockQuote(None)))), "{document:?}");
    let after = parse("## After");
    assert!(events.ends_with(&after), "{document:?}");
    let inside = &events[1..events.len() - after.len()];
    assert!(matches!(inside.last(), Some(Event::End(TagEnd::BlockQuote(None)))), "{document:?}");
    check_text(&inside[..inside.len() - 1], &document);
}

/// The marks around a line pair with each other and with nothing in it.
fn check_line(line: &str) {
    let document = format!("**x:** {line} `c` *e* **s**");
    let events = parse(&document);
    assert!(events.ends_with(&parse("`c` *e* **s**")[1..]), "{document:?}");
    assert!(events.starts_with(&parse("**x:**")[..4]), "{document:?}");
    check_text(&events, &document);
    let document = format!("Above\n{line}\n\nEnd.");
    check_text(&parse(&document), &document);
}

#[track_caller]
fn check_text(events: &[Event<'_>], document: &str) {
    for event in events {
        let expected = match event {
            Event::Start(tag) => {
                matches!(tag, Tag::Paragraph | Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            }
            Event::End(tag) => matches!(
                tag,
                TagEnd::Paragraph | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough
            ),
            Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::HardBreak => true,
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => false,
        };
        assert!(expected, "{event:?} in {document:?}");
    }
}
