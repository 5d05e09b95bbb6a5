//! Renders untrusted Markdown as inert HTML: tags become text, links show their target without being
//! clickable, images become their description.

use handover_text::quote::visible;
use maud::Escaper;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;

pub(crate) fn render(text: &str) -> Markup {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() * 2);
    // The targets of open links.
    let mut links: Vec<String> = Vec::new();
    for event in Parser::new_ext(body_of(&text), Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS)
    {
        match event {
            Event::Start(tag) => start(&mut out, &tag, &mut links),
            Event::End(tag) => end(&mut out, tag, &mut links),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                escape(&mut out, &text);
            }
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                out.push_str("<code>");
                escape(&mut out, &code);
                out.push_str("</code>");
            }
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::TaskListMarker(done) => out.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(_) => {}
        }
    }
    PreEscaped(out)
}

/// The text without its front matter, which the page shows in its own way.
fn body_of(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else { return text };
    rest.split_once("\n---\n").map_or(text, |(_, body)| body)
}

fn escape(out: &mut String, text: &str) {
    let _ = Escaper::new(out).write_str(text);
}

/// Headings of a file are nested below those of the page.
fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => "h6",
    }
}

/// The element for a tag; `None` if it is dropped.
fn element(tag: &TagEnd) -> Option<&'static str> {
    Some(match tag {
        TagEnd::Paragraph => "p",
        TagEnd::Heading(level) => heading(*level),
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::CodeBlock => "pre",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::Table => "table",
        TagEnd::TableHead | TagEnd::TableRow => "tr",
        TagEnd::TableCell => "td",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        TagEnd::Strikethrough => "s",
        TagEnd::HtmlBlock
        | TagEnd::FootnoteDefinition
        | TagEnd::DefinitionList
        | TagEnd::DefinitionListTitle
        | TagEnd::DefinitionListDefinition
        | TagEnd::Superscript
        | TagEnd::Subscript
        | TagEnd::Link
        | TagEnd::Image
        | TagEnd::MetadataBlock(_) => return None,
    })
}

fn start(out: &mut String, tag: &Tag<'_>, links: &mut Vec<String>) {
    match tag {
        Tag::Link { dest_url, .. } => links.push(dest_url.to_string()),
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
            // Long lines scroll, which must work with the keyboard.
            out.push_str("<pre tabindex=\"0\">");
        }
        Tag::Paragraph
        | Tag::Heading { .. }
        | Tag::BlockQuote(_)
        | Tag::List(_)
        | Tag::Item
        | Tag::Table(_)
        | Tag::TableHead
        | Tag::TableRow
        | Tag::TableCell
        | Tag::Emphasis
        | Tag::Strong
        | Tag::Strikethrough => {
            if let Some(name) = element(&tag.to_end()) {
                let _ = write!(out, "<{name} dir=\"auto\">");
            }
        }
        Tag::HtmlBlock
        | Tag::FootnoteDefinition(_)
        | Tag::DefinitionList
        | Tag::DefinitionListTitle
        | Tag::DefinitionListDefinition
        | Tag::Superscript
        | Tag::Subscript
        | Tag::Image { .. }
        | Tag::MetadataBlock(_) => {}
    }
}

fn end(out: &mut String, tag: TagEnd, links: &mut Vec<String>) {
    if tag == TagEnd::Link {
        let link = links.pop().unwrap_or_default();
        out.push_str(" <code class=\"link\">");
        escape(out, &link);
        out.push_str("</code>");
    } else if let Some(name) = element(&tag) {
        let _ = write!(out, "</{name}>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_structure_and_drops_everything_active() {
        let html = render("---\na: 1\n---\n# T\n\nA *b* [c](javascript:alert(1)) ![d](http://x/y.png)\n\n<script>alert(1)</script>\n\n- `e`\n").into_string();
        assert!(html.starts_with("<h3 dir=\"auto\">T</h3><p dir=\"auto\">A <em dir=\"auto\">b</em> c <code class=\"link\">javascript:alert(1)</code> d</p>"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
        assert!(
            !html.contains("<script") && !html.contains("href") && !html.contains("src="),
            "{html}"
        );
    }

    /// The only elements that are ever written, without their attributes.
    const ELEMENTS: [&str; 18] = [
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "pre",
        "ol",
        "ul",
        "li",
        "table",
        "tr",
        "td",
        "em",
        "strong",
        "s",
        "code",
        "br",
    ];

    /// Every tag of a page that is not one of ours.
    fn foreign_tags(html: &str) -> Vec<&str> {
        let tags = html.split('<').skip(1).map(|part| part.split('>').next().unwrap_or(part));
        tags.filter(|tag| {
            let name = tag.trim_start_matches('/');
            let (name, attributes) = name.split_once(' ').unwrap_or((name, ""));
            let ours = ELEMENTS.contains(&name) || name == "hr";
            let known =
                ["", "dir=\"auto\"", "tabindex=\"0\"", "class=\"link\""].contains(&attributes);
            !(ours && known)
        })
        .collect()
    }

    #[test]
    fn structure_survives() {
        let html = |text: &str| render(text).into_string();
        assert_eq!(
            html("## Two\n### Three\n#### Four\n###### Six"),
            "<h4 dir=\"auto\">Two</h4><h5 dir=\"auto\">Three</h5><h6 dir=\"auto\">Four</h6><h6 dir=\"auto\">Six</h6>"
        );
        assert_eq!(
            html("1. a\n2. b"),
            "<ol dir=\"auto\"><li dir=\"auto\">a</li><li dir=\"auto\">b</li></ol>"
        );
        assert_eq!(
            html("- [x] done\n- [ ] open"),
            "<ul dir=\"auto\"><li dir=\"auto\">☑ done</li><li dir=\"auto\">☐ open</li></ul>"
        );
        assert_eq!(
            html("```rust\nlet a = \"<\";\n```"),
            "<pre tabindex=\"0\">let a = &quot;&lt;&quot;;\n</pre>"
        );
        assert_eq!(html("a  \nb\n\n---"), "<p dir=\"auto\">a<br>b</p><hr>");
        assert_eq!(
            html("> q **s** `c`"),
            "<blockquote dir=\"auto\"><p dir=\"auto\">q <strong dir=\"auto\">s</strong> <code>c</code></p></blockquote>"
        );
        assert!(html("|a|b|\n|-|-|\n|1|2|").contains("<td dir=\"auto\">1</td>"));
    }

    #[test]
    fn front_matter_is_dropped_only_at_the_beginning_and_if_it_ends() {
        let html = |text: &str| render(text).into_string();
        assert_eq!(html("---\na: 1\n---\nText"), "<p dir=\"auto\">Text</p>");
        assert!(html("Text\n\n---\na: 1\n---\n").contains("a: 1"));
        assert!(html("---\na: 1\nno end").contains("no end"));
    }

    #[test]
    fn nested_links_name_their_targets() {
        let html =
            render("[![pic](http://x/i.png)](javascript:x) <https://y> [a](<b \"c>)").into_string();
        assert!(html.contains("<code class=\"link\">javascript:x</code>"), "{html}");
        assert_eq!(foreign_tags(&html), [""; 0], "{html}");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        /// Whatever Markdown and HTML is thrown together: only our own elements come out.
        #[test]
        fn only_our_own_elements_are_written(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "<script>", "</script>", "<img src=x onerror=y>", "<", ">", "\"", "'", "&", "&lt;", "&#60;",
                    "[a](", "javascript:x", ")", "![", "](", "`", "```\n", "|a|b|\n|-|-|\n", "\n", "\n\n", "# ",
                    "- ", "> ", "1. ", "**", "_", "~~", "<!--", "-->", "<![CDATA[", "]]>", "---\n", "<svg/onload=z>",
                    "\u{0}", "\u{202e}", "\u{1b}[0m", "[^1]", "[^1]: ", "<a href=\"x\">", "\\", "$x$", "word",
                ]),
                0..24,
            )
        ) {
            let html = render(&parts.concat()).into_string();
            proptest::prop_assert!(foreign_tags(&html).is_empty(), "{:?} in {}", foreign_tags(&html), html);
            let hidden = html.chars().find(|c| matches!(c, '\u{0}' | '\u{202e}' | '\u{1b}'));
            proptest::prop_assert_eq!(hidden, None);
        }
    }
}
