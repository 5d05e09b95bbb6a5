//! Splits a document at its headings.

use handover_text::fence::{FenceLine, Fences};

use super::markup::Markup;

/// The text under one heading, up to the next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The headings above it, outermost first; the title of the document only if there is nothing else.
    pub(super) headings: Vec<String>,
    pub(super) body: String,
}

/// The sections of a document, in order.
pub(super) fn sections(text: &str, markup: Markup) -> Vec<Section> {
    let lines: Vec<&str> = text.lines().collect();
    let headings = match markup {
        Markup::Markdown => markdown(&lines),
        Markup::Rst => rst(&lines),
        Markup::AsciiDoc => asciidoc(&lines),
    };
    let mut sections = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut start = 0;
    for heading in headings.iter().chain([&Heading::end(lines.len())]) {
        let body = lines[start..heading.first].join("\n");
        if !body.trim().is_empty() {
            sections.push(Section { headings: path(&above), body });
        }
        above.retain(|(level, _)| *level < heading.level);
        above.push((heading.level, heading.text.clone()));
        start = heading.after;
    }
    sections
}

/// The headings as a path. The title of the document is in front of every path, so it says nothing there.
fn path(above: &[(usize, String)]) -> Vec<String> {
    let all: Vec<String> = above.iter().map(|(_, text)| text.clone()).collect();
    let titled = above.first().is_some_and(|(level, _)| *level == 1);
    if titled && all.len() > 1 { all[1..].to_vec() } else { all }
}

struct Heading {
    level: usize,
    text: String,
    /// Its first line, and the one after it.
    first: usize,
    after: usize,
}

impl Heading {
    fn end(at: usize) -> Self {
        Self { level: 1, text: String::new(), first: at, after: at }
    }
}

/// `# Heading`, or a line above `===` or `---`.
fn markdown(lines: &[&str]) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut fences = Fences::default();
    for (at, line) in lines.iter().enumerate() {
        if !matches!(fences.line(line), FenceLine::Outside) {
            continue;
        }
        let text = line.trim();
        let level = text.bytes().take_while(|b| *b == b'#').count();
        if (1..=6).contains(&level) && text[level..].starts_with(' ') {
            let text = clean(text[level..].trim().trim_end_matches('#'));
            headings.push(Heading { level, text, first: at, after: at + 1 });
            continue;
        }
        let level = match underline(text) {
            Some('=') => 1,
            Some('-') => 2,
            Some(_) | None => continue,
        };
        let above = at.checked_sub(1).map(|above| lines[above].trim()).unwrap_or_default();
        let taken = headings.last().is_some_and(|heading| heading.after >= at);
        let is_text = above.starts_with(char::is_alphanumeric) && !above.contains('|');
        // A line above a paragraph's second line is not a heading, but a rule below it.
        let alone = at < 2 || lines[at - 2].trim().is_empty();
        if is_text && alone && !taken {
            headings.push(Heading { level, text: clean(above), first: at - 1, after: at + 1 });
        }
    }
    headings
}

/// A line with a line of punctuation below it, perhaps also above it; levels in the order in which they appear.
fn rst(lines: &[&str]) -> Vec<Heading> {
    let mut levels: Vec<(char, bool)> = Vec::new();
    let mut headings: Vec<Heading> = Vec::new();
    for at in 1..lines.len() {
        let text = lines[at - 1].trim_end();
        let Some(mark) = underline(lines[at]) else { continue };
        let wide = lines[at].trim_end().chars().count() >= text.trim().chars().count();
        let is_text = !text.trim().is_empty() && underline(text).is_none() && wide;
        let over = at >= 2 && underline(lines[at - 2]) == Some(mark);
        let alone = at < 2 || over || lines[at - 2].trim().is_empty();
        let taken = headings.last().is_some_and(|heading| heading.after >= at);
        if !is_text || !alone || taken || text.starts_with(' ') && !over {
            continue;
        }
        let style = (mark, over);
        let level = levels.iter().position(|known| *known == style).unwrap_or_else(|| {
            levels.push(style);
            levels.len() - 1
        });
        let first = if over { at - 2 } else { at - 1 };
        headings.push(Heading { level: level + 1, text: clean(text.trim()), first, after: at + 1 });
    }
    headings
}

/// `== Heading`.
fn asciidoc(lines: &[&str]) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut block = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_end();
        if ["----", "....", "====", "____", "++++"].contains(&text) {
            block = if block == Some(text) { None } else { block.or(Some(text)) };
            continue;
        }
        let level = text.bytes().take_while(|b| *b == b'=').count();
        if block.is_none() && (1..=6).contains(&level) && text[level..].starts_with(' ') {
            let text = clean(text[level..].trim());
            headings.push(Heading { level, text, first: at, after: at + 1 });
        }
    }
    headings
}

/// The character that a line consists of, if it is a line of punctuation.
fn underline(line: &str) -> Option<char> {
    let line = line.trim_end();
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.chars().count() >= 3 && line.chars().all(|c| c == mark)).then_some(mark)
}

/// A heading without marks, links and anchors.
fn clean(heading: &str) -> String {
    let mut out = String::new();
    let mut rest = heading.split(" {#").next().unwrap_or(heading).trim();
    // `[text](address)` becomes its text.
    while let Some((before, link)) = rest.split_once('[') {
        let Some((text, after)) = link.split_once("](") else { break };
        out.push_str(before);
        out.push_str(text);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out.replace(['`', '*'], "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, markup: Markup) -> Vec<(String, String)> {
        let sections = sections(text, markup).into_iter();
        sections.map(|one| (one.headings.join(" > "), one.body.trim().to_owned())).collect()
    }

    fn pair(headings: &str, body: &str) -> (String, String) {
        (headings.to_owned(), body.to_owned())
    }

    #[test]
    fn markdown_is_split_at_headings_outside_of_code() {
        let text = "intro\n\n# Title\nfirst\n## [Tokens](x) `a`\ntwo\n### Rotation ##\nthree\n```\n# no heading\n```\n\
                    Other\n-----\nfour\n\n| a |\n|---|\n";
        assert_eq!(
            split(text, Markup::Markdown),
            [
                pair("", "intro"),
                pair("Title", "first"),
                pair("Tokens a", "two"),
                pair(
                    "Tokens a > Rotation",
                    "three\n```\n# no heading\n```\nOther\n-----\nfour\n\n| a |\n|---|"
                ),
            ]
        );
        let text = "Title\n=====\none\n\nOther\n-----\ntwo\n\n---\nthree";
        assert_eq!(
            split(text, Markup::Markdown),
            [pair("Title", "one"), pair("Other", "two\n\n---\nthree")]
        );
    }

    #[test]
    fn levels_of_rst_follow_their_order() {
        let text = "=====\nTitle\n=====\n\none\n\nPart\n----\n\ntwo\n\nDeep\n~~~~\n\nthree\n\nNext\n----\nfour";
        assert_eq!(
            split(text, Markup::Rst),
            [
                pair("Title", "one"),
                pair("Part", "two"),
                pair("Part > Deep", "three"),
                pair("Next", "four")
            ]
        );
    }

    #[test]
    fn blocks_of_asciidoc_have_no_headings() {
        let text = "= Title\none\n== Part\ntwo\n----\n== code\n----\n=== Deep\nthree";
        assert_eq!(
            split(text, Markup::AsciiDoc),
            [
                pair("Title", "one"),
                pair("Part", "two\n----\n== code\n----"),
                pair("Part > Deep", "three")
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_document_is_survived(text in "([#=~ `a-z|-]{0,12}\\n){0,40}") {
            for markup in [Markup::Markdown, Markup::Rst, Markup::AsciiDoc] {
                sections(&text, markup);
            }
        }
    }
}
