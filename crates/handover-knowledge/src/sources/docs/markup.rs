//! Markup languages, and what of them says nothing.

use handover_text::fence::{FenceLine, Fences};

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Markdown,
    Rst,
    AsciiDoc,
}

impl Markup {
    pub(super) fn of(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "rst" => Self::Rst,
            "adoc" | "asciidoc" => Self::AsciiDoc,
            _ => Self::Markdown,
        }
    }
}

/// Keys of front matter whose values are kept.
const KEPT_KEYS: &[&str] = &["description", "status", "summary"];

/// The text with plain line ends and without comments; of front matter, only what describes the document is kept.
pub(super) fn plain(markup: Markup, text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let text = match front_matter(&text) {
        Some((front, rest)) => {
            let kept = front.lines().filter_map(|line| {
                let (key, value) = line.split_once(':')?;
                let value = value.trim().trim_matches(['"', '\'']);
                (KEPT_KEYS.contains(&key.trim()) && !value.is_empty())
                    .then(|| format!("{}: {value}", key.trim()))
            });
            format!("{}\n\n{rest}", kept.collect::<Vec<_>>().join("\n"))
        }
        None => text,
    };
    if markup == Markup::Markdown { without_comments(&text) } else { text }
}

fn front_matter(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n")?;
    let end = rest.find("\n---\n")?;
    Some((&rest[..end], &rest[end + 5..]))
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<!--") {
        out.push_str(&rest[..start]);
        let Some(length) = rest[start..].find("-->") else { return out };
        rest = &rest[start + length + 3..];
    }
    out.push_str(rest);
    out
}

/// A section without badges, pictures, anchors and tables of contents.
pub(super) fn without_noise(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut fences = Fences::default();
    for line in body.lines() {
        let text = line.trim();
        let code = !matches!(fences.line(line), FenceLine::Outside);
        if code || !is_noise(text) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

fn is_noise(line: &str) -> bool {
    let picture = line.starts_with("[![") || line.starts_with("![") || line.starts_with("<img");
    let anchor =
        line.starts_with("<a name") || line.starts_with("<a id") || line.starts_with(":toc");
    // `- [Heading](#heading)`
    let contents = line
        .trim_start_matches(['-', '*', '+', ' '])
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
        .trim_start();
    let is_contents =
        contents.starts_with('[') && contents.contains("](#") && contents.ends_with(')');
    let tag =
        line.starts_with('<') && line.ends_with('>') && !line.contains("</") && line.len() < 60;
    let target =
        line.starts_with(".. _") || line.starts_with(".. image::") || line.starts_with("image::");
    picture || anchor || is_contents || tag || target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_front_matter_are_dropped() {
        let text = "---\ntitle: x\nstatus: \"accepted\"\n---\n# A\r\n<!-- no\n-->text";
        assert_eq!(plain(Markup::Markdown, text), "status: accepted\n\n# A\ntext");
        assert_eq!(plain(Markup::Markdown, "a <!-- open"), "a ");
        assert_eq!(plain(Markup::Markdown, "---\nno end"), "---\nno end");
    }

    #[test]
    fn badges_and_contents_are_dropped_but_not_code() {
        let body = "[![ci](x)](y)\n- [One](#one)\n1. [Two](#two)\n<p align=\"center\">\ntext [a](#b) here\n```\n![x]\n```";
        assert_eq!(without_noise(body), "text [a](#b) here\n```\n![x]\n```");
    }
}
