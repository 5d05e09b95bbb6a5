//! Title and summary of a Markdown text.

use handover_text::fence::outside_fences;

/// The first level-one heading, if any.
pub(super) fn title(body: &str) -> Option<&str> {
    outside_fences(body)
        .find_map(|line| line.strip_prefix("# "))
        .map(str::trim)
        .filter(|title| !title.is_empty())
}

/// The text of the `## Summary` section, else the first paragraph, else the title.
pub(super) fn summary(body: &str) -> Option<String> {
    summary_section(body)
        .or_else(|| paragraph(outside_fences(body)))
        .or_else(|| title(body).map(ToOwned::to_owned))
}

/// The text of the `## Summary` section.
pub(super) fn summary_section(body: &str) -> Option<String> {
    let mut lines = outside_fences(body).skip_while(|line| {
        let heading =
            line.strip_prefix("## ").map(|h| h.trim().trim_end_matches([':', '#']).trim());
        !heading.is_some_and(|h| h.eq_ignore_ascii_case("summary"))
    });
    lines.next()?;
    let inside = lines.take_while(|line| !is_heading(line));
    let text: Vec<&str> = inside.map(str::trim).filter(|l| !l.is_empty()).collect();
    (!text.is_empty()).then(|| text.join(" "))
}

fn paragraph<'t>(lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut text: Vec<&str> = Vec::new();
    for line in lines {
        let skip = line.trim().is_empty() || is_heading(line) || is_rule(line);
        match (skip, text.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, _) => text.push(line.trim()),
        }
    }
    (!text.is_empty()).then(|| text.join(" "))
}

fn is_heading(line: &str) -> bool {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t'])
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.bytes().all(|b| b == b'-') || line.bytes().all(|b| b == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_section_takes_precedence() {
        let body = "# OAuth\nIntro.\n\n## Summary\nTwo\nlines.\n\n## More\nx";
        assert_eq!(title(body), Some("OAuth"));
        assert_eq!(summary(body).unwrap(), "Two lines.");
    }

    #[test]
    fn falls_back_to_first_paragraph_then_title() {
        assert_eq!(summary("# T\n\n---\nFirst\npara.\n\nSecond").unwrap(), "First para.");
        assert_eq!(summary("# Only a title\n").unwrap(), "Only a title");
        assert_eq!(summary("  \n"), None);
    }

    #[test]
    fn ignores_headings_in_code() {
        let body = "```\n# no\n## Summary\nno\n```\nyes\n";
        assert_eq!((title(body), summary(body).unwrap().as_str()), (None, "yes"));
    }
}
