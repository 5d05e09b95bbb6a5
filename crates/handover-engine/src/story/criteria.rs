//! The acceptance criteria of a story, with the ids that scenarios refer to.

use super::fields;

const HEADINGS: [&str; 2] = ["acceptance criteria", "acceptance criterion"];

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Its id within the story, such as `AC1`.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// The criteria of a story in order: `1. …`, `- AC2: …`, `**AC3** …` or plain list items. Indented lines belong
/// to the item above.
pub fn criteria(text: &str) -> Vec<Criterion> {
    let mut found: Vec<Criterion> = Vec::new();
    let lines = HEADINGS
        .iter()
        .map(|heading| fields::section_items(text, heading))
        .find(|lines| !lines.is_empty())
        .unwrap_or_default();
    for line in lines {
        let bare = line.trim();
        if bare.is_empty() {
            continue;
        }
        let is_inside = line.starts_with([' ', '\t']);
        match (item(bare), is_inside, found.last_mut()) {
            (Some((number, rest)), false, _) => {
                let number = number.unwrap_or(found.len() as u64 + 1);
                found.push(Criterion { id: format!("AC{number}"), text: rest.to_owned() });
            }
            (_, _, Some(last)) => {
                last.text.push(' ');
                last.text.push_str(bare);
            }
            (_, _, None) => {}
        }
    }
    found
}

/// The number, if it has one, and the text of a list item.
fn item(line: &str) -> Option<(Option<u64>, &str)> {
    let decoration = ['*', '_', '`', ' ', ':', '.', ')', '-', '–', '—', '[', ']'];
    let listed = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let rest = listed.unwrap_or(line);
    let rest = rest.strip_prefix("[ ]").or_else(|| rest.strip_prefix("[x]")).unwrap_or(rest);
    let rest = rest.trim_start_matches(['*', '_', '`', ' ', '#']);
    let digits_of =
        rest.get(..2).filter(|word| word.eq_ignore_ascii_case("ac")).map(|_| &rest[2..]);
    let after = digits_of.map_or(rest, |it| it.trim_start_matches(['-', ' ']));
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let number = after[..end].parse().ok();
    let is_numbered = digits_of.is_some() || after[end..].starts_with(['.', ')', ':']);
    match number {
        Some(number) if is_numbered => {
            Some((Some(number), after[end..].trim_start_matches(decoration)))
        }
        Some(_) | None => listed.map(|_| (None, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &str) -> Vec<String> {
        let text =
            format!("# Story 1.1: Cart\n\n## Acceptance Criteria\n\n{list}\n## Tasks\n\n1. no\n");
        criteria(&text).into_iter().map(|one| format!("{} {}", one.id, one.text)).collect()
    }

    #[test]
    fn every_common_spelling_is_read() {
        assert_eq!(ids("1. adds\n2. removes\n"), ["AC1 adds", "AC2 removes"]);
        assert_eq!(ids("- AC1: adds\n- **AC2:** removes\n"), ["AC1 adds", "AC2 removes"]);
        assert_eq!(ids("**AC3** – adds\n"), ["AC3 adds"]);
        assert_eq!(
            ids("- [ ] adds\n- [x] removes\n"),
            ["AC1  adds", "AC2  removes"].map(|it| it.replace("  ", " "))
        );
        assert_eq!(
            ids("1. adds\n   - at once\n\n   even twice\n"),
            ["AC1 adds - at once even twice"]
        );
        assert_eq!(ids("It works.\n"), Vec::<String>::new());
        assert!(criteria("# Story 1.1\n\n1. no\n").is_empty());
    }
}
