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
}
