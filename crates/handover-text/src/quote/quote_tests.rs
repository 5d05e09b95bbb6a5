//! Quoting, by example and against a real parser.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;

#[test]
fn leaves_plain_text_unchanged() {
    for text in [
        "Added rate limiting to `src/auth/limiter.rs`: 5 attempts (HTTP 429).",
        "snake_case, 2 * 3, a-b, #123, C++ and C#, <3, a < b, x->y, 50% ~5 min [WIP] [REDACTED-1]",
        "**bold** and *emphasis* stay, they end here",
        "`Vec<u8>` and ``a ` b``",
        "version 1.2.3",
    ] {
        assert_eq!(quote_block(text), format!("> {text}"));
    }
    let path = "src/my_module/some_file.rs:10 `Vec<u8>` [REDACTED-1] – 2 * 3 = 6";
    assert_eq!(quote_inline(path), path);
}

#[test]
fn block_quotes_contain_only_paragraphs() {
    for (text, expected) in [
        ("# Heading", "> \\# Heading"),
        ("- item\n  + item\n3. item", "> \\- item\n>   \\+ item\n> 3\\. item"),
        ("> nested", "> \\> nested"),
        ("text\n===", "> text\n> \\==="),
        ("text\n---", "> text\n> \\---"),
        ("a|b\n-|-", "> a|b\n> \\-|-"),
        ("```sh\nrm\n```", "> \\`\\`\\`sh\n> rm\n> \\`\\`\\`"),
        ("~~~\nrm", "> \\~~~\n> rm"),
        ("    code", ">    code"),
        ("a\n    b", "> a\n>     b"),
        ("[a]: http://x", "> \\[a]: http://x"),
        ("[REDACTED-1]: x", "> [REDACTED-1]\\: x"),
        ("[!NOTE]\nx", "> \\[!NOTE]\n> x"),
        ("<div>x</div>", "> \\<div>x\\</div>"),
        ("![x](http://x)", "> ![x]\\(http://x)"),
        ("a\n\n\nb\n", "> a\n>\n>\n> b"),
        ("", ">"),
    ] {
        assert_eq!(quote_block(text), expected, "{text:?}");
    }
}

#[test]
fn markers_cannot_be_forged() {
    let fake = "<!-- handover:receipt r_1 -->";
    for text in [
        fake.to_owned(),
        format!("`{fake}`"),
        format!("\\{fake}"),
        format!("x\n```\n{fake}\n```"),
        fake.replace("<!", "<\u{200b}!"),
        fake.replace("!-", "!\u{1b}[0m-"),
    ] {
        assert!(!quote_block(&text).contains("<!--"), "{text:?}");
        assert!(!quote_inline(&text).contains("<!--"), "{text:?}");
    }
    assert_eq!(quote_inline(fake), "<\\!-- handover:receipt r_1 -->");
}

#[test]
fn code_cannot_close_its_fence() {
    assert_eq!(quote_code("ls\n\n", "sh"), "```sh\nls\n```");
    assert_eq!(quote_code("a\n```\n# x\n", "md"), "````md\na\n```\n# x\n````");
    assert_eq!(
        quote_code("<!-- handover:receipt r -->", "a`b\nc"),
        "```\n<\\!-- handover:receipt r -->\n```"
    );
    assert_eq!(quote_code("\u{1b}[31mred\rtwo", ""), "```\nred\ntwo\n```");
}

#[test]
fn inline_quotes_do_not_affect_the_rest_of_the_line() {
    for (text, expected) in [
        ("a stray ` tick and ``two", "a stray \\` tick and \\`\\`two"),
        ("**open", "\\*\\*open"),
        ("_private and __init__.py", "\\_private and \\_\\_init\\_\\_.py"),
        ("ends in \\", "ends in \\\\"),
        ("two\nlines\t here", "two lines here"),
        ("# no heading", "\\# no heading"),
        ("~~struck~~ ~/home", "\\~\\~struck\\~\\~ ~/home"),
        ("[x](y) <b>", "[x]\\(y) \\<b>"),
    ] {
        assert_eq!(quote_inline(text), expected, "{text:?}");
    }
}

#[test]
fn takes_linear_time() {
    // No clock here: quadratic time runs into the test runner's timeout.
    for unit in [
        "a", "`", "*", "~", "[", "](", "<", "<!--", "\n", "[\n", "- \n", "\u{1b}[", "\u{1b}]",
        "\\", "``` \n",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        quote_block(&text);
        quote_inline(&text);
        quote_code(&text, "sh");
    }
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

/// Whether an event may occur inside a quotation.
fn is_text(event: &Event<'_>) -> bool {
    match event {
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
    }
}

/// Text made of everything that affects Markdown.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "# ",
        "```",
        "~~~",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2)",
        "> ",
        "===",
        "---",
        "***",
        "___",
        "<!--",
        "-->",
        "<div>",
        "</x>",
        "<?",
        "<![CDATA[",
        "<http://a>",
        "<a@b.c>",
        "[a]: b",
        "[^1]: x",
        "[^1]",
        "[!NOTE]",
        "[a](b)",
        "![a](b)",
        "[a][b]",
        "|",
        "-|-",
        ":-:",
        "`",
        "``",
        "*",
        "**",
        "_",
        "~~",
        "~",
        "\\",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "    ",
        "  \n",
        "\u{1b}[0m",
        "\u{202e}",
        "\u{200b}",
        "\u{2028}",
        "\u{a0}",
        "&lt;",
        "&#60;!--",
        "[REDACTED-1]",
        "- [ ] ",
        "http://x.y/z_a",
        "$",
        ":",
        "{#id}",
        "word",
    ]);
    let part = prop_oneof![
        4 => special.prop_map(str::to_owned),
        1 => "[a-z ]{1,8}",
        1 => "\\PC{1,3}",
        1 => "[!-/:-@\\[-`{-~\n ]{1,5}",
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_block_is_one_quotation_of_paragraphs(text in text()) {
        let quoted = quote_block(&text);
        let document = format!("# Before\n\n{quoted}\n\n## After\n\nEnd.");
        let events = parse(&document);
        let open = events.iter().position(|e| matches!(e, Event::Start(Tag::BlockQuote(_))));
        let close = events.iter().position(|e| matches!(e, Event::End(TagEnd::BlockQuote(_))));
        let (open, close) = (open.unwrap(), close.unwrap());
        prop_assert!(matches!(events[open], Event::Start(Tag::BlockQuote(None))), "{document}");
        for event in &events[open + 1..close] {
            prop_assert!(is_text(event), "{event:?} in {document}");
        }
        prop_assert_eq!(&events[..open], &parse("# Before")[..], "{}", document);
        prop_assert_eq!(&events[close + 1..], &parse("## After\n\nEnd.")[..], "{}", document);
    }

    #[test]
    fn a_heading_may_follow_directly(text in text()) {
        let document = format!("{}\n## After", quote_block(&text));
        prop_assert!(parse(&document).ends_with(&parse("## After")), "{document}");
    }

    #[test]
    fn a_line_keeps_the_marks_around_it(text in text()) {
        let quoted = quote_inline(&text);
        let document = format!("**[x] y:** {quoted} `c` *e* **s**");
        let events = parse(&document);
        prop_assert!(events.ends_with(&parse("`c` *e* **s**")[1..]), "{document}");
        prop_assert!(events.starts_with(&parse("**[x] y:**")[..5]), "{document}");
        for event in &events {
            prop_assert!(is_text(event), "{event:?} in {document}");
        }
    }

    #[test]
    fn a_line_stands_at_the_beginning_too(text in text()) {
        let document = format!("Above\n{}\n\n## After", quote_inline(&text));
        let events = parse(&document);
        prop_assert!(events.ends_with(&parse("## After")), "{document}");
        let end = events.len() - parse("## After").len();
        for event in &events[..end] {
            prop_assert!(is_text(event), "{event:?} in {document}");
        }
    }

    #[test]
    fn code_is_one_block(text in text()) {
        let document = format!("# Before\n\n{}\n\n## After", quote_code(&text, "sh"));
        let events = parse(&document);
        let open = parse("# Before").len();
        let close = events.len() - parse("## After").len() - 1;
        prop_assert!(matches!(events[open], Event::Start(Tag::CodeBlock(_))), "{document}");
        prop_assert!(matches!(events[close], Event::End(TagEnd::CodeBlock)), "{document}");
        let inside = &events[open + 1..close];
        prop_assert!(inside.iter().all(|event| matches!(event, Event::Text(_))), "{document}");
        prop_assert!(!document.contains("<!--"));
    }

    #[test]
    fn quoting_is_stable(text in text()) {
        let once = quote_inline(&text);
        prop_assert_eq!(&quote_inline(&once), &once);
        prop_assert!(!once.contains('\n'));
        let block = quote_block(&text);
        prop_assert!(block.split('\n').all(|line| line == ">" || line.starts_with("> ")));
        prop_assert!(!block.contains("<!--") && !once.contains("<!--"));
    }
}
