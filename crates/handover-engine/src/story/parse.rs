//! Parses a story file.

use super::{Status, fields};

/// A story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The file's name without `.md`.
    pub id: String,
    /// Its path, relative to the project.
    pub path: String,
    /// Its heading, without the number.
    pub title: String,
    /// Its number within the epic.
    pub number: Option<u64>,
    /// Its status.
    pub status: Option<Status>,
    /// The stories that it depends on, as the file names them.
    pub depends_on: Vec<String>,
    /// The text.
    pub text: String,
}

/// Which epic and number a file claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// The epic in the front matter or in a line above the sections.
    pub(super) epic: Option<String>,
    /// Epic and number of the title, `# Story 1.2: …`.
    pub(super) numbers: Option<(String, u64)>,
    pub(super) title: String,
    pub(super) depends_on: Vec<String>,
}

pub(super) fn claims(text: &str) -> Claims {
    let value =
        |names: &[&str]| fields::find(text, names).map(|field| text[field.range].trim().to_owned());
    let (numbers, title) = numbered(&heading(text));
    Claims {
        epic: value(&["epic_id", "epic id", "epic", "milestone"]).map(|value| epic_word(&value)),
        numbers,
        // An issue has its title in the front matter.
        title: Some(title)
            .filter(|title| !title.is_empty())
            .or_else(|| value(&["title"]))
            .unwrap_or_default(),
        depends_on: dependencies(text),
    }
}

/// The first heading.
pub(super) fn heading(text: &str) -> String {
    fields::body_lines(text)
        .find_map(|line| line.strip_prefix("# "))
        .map(|heading| heading.trim().to_owned())
        .unwrap_or_default()
}

/// `Story 1.2: Title` as its numbers and the title.
pub(super) fn numbered(heading: &str) -> (Option<(String, u64)>, String) {
    let after = strip_word(heading, "story");
    let rest = after.unwrap_or(heading);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)));
    let (number, title) = rest.split_at(end.unwrap_or(rest.len()));
    let number = number.trim_end_matches(['.', '-', '_']);
    let split = number.rsplit_once(['.', '-']);
    let numbers = split.and_then(|(epic, number)| {
        Some((epic.to_owned(), number.parse().ok()?)).filter(|_| after.is_some())
    });
    if numbers.is_none() {
        return (None, heading.to_owned());
    }
    (numbers, title.trim_start_matches([':', '-', '–', '—', ' ']).trim().to_owned())
}

pub(super) fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let ends = rest.starts_with([' ', '-', '_', '.', '#', ':']);
    (start.eq_ignore_ascii_case(word) && ends)
        .then(|| rest.trim_start_matches([' ', '-', '_', '.', '#', ':']))
}

/// `Epic 1: Accounts`, `epic-1` and `1` alike.
fn epic_word(value: &str) -> String {
    let value = value.trim().trim_matches(['"', '\'', '`', '*', '[']);
    let rest = strip_word(value, "epic").unwrap_or(value);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '-', '_']).to_owned()
}

/// Dependencies named in a line, in the front matter or in a section.
fn dependencies(text: &str) -> Vec<String> {
    const NAMES: &[&str] = &["depends_on", "depends on", "dependencies", "blocked by"];
    let mut found = Vec::new();
    if let Some(field) = fields::find(text, NAMES) {
        found.extend(items(&text[field.range.clone()]));
        // A YAML list continues on the following lines.
        let lines = fields::lines(text);
        let below = lines.iter().skip(field.line + 1);
        let list = below.take_while(|line| line.front && line.text.trim_start().starts_with("- "));
        for line in list {
            found.extend(items(line.text));
        }
    }
    for name in ["dependencies", "depends on"] {
        for line in fields::section_items(text, name) {
            found.extend(items(line));
        }
    }
    let mut unique = Vec::new();
    for item in found {
        if !unique.contains(&item) {
            unique.push(item);
        }
    }
    unique
}

/// The ids of one line: `1.1, story-1-2-login` or `- Story 1.1 (accounts)`.
fn items(line: &str) -> Vec<String> {
    let line = line.replace(" and ", ",");
    line.split([',', ';', '&'])
        .map(|item| item.trim().trim_matches(['-', '*', '+', ' ', '[', ']', '"', '\'', '`']))
        .map(|item| strip_word(item, "story").unwrap_or(item))
        .filter_map(|item| item.split_whitespace().next())
        .map(|word| {
            word.trim_matches(['(', ')', ':', '.', '`', '"', '\'', '[', ']', '*'])
                .trim_end_matches(".md")
        })
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_loses_its_numbers() {
        for (heading, numbers, title) in [
            ("Story 1.2: Login", Some(("1", 2)), "Login"),
            ("Story 1-2 – Login", Some(("1", 2)), "Login"),
            ("story 1.2.3: Login", Some(("1.2", 3)), "Login"),
            ("Story auth-2: Login", Some(("auth", 2)), "Login"),
            ("Story 1.2", Some(("1", 2)), ""),
            ("Story: Login", None, "Story: Login"),
            ("1.2 Login", None, "1.2 Login"),
            ("Storytelling 1.2", None, "Storytelling 1.2"),
            ("", None, ""),
        ] {
            let numbers = numbers.map(|(epic, number)| (epic.to_owned(), number));
            assert_eq!(numbered(heading), (numbers, title.to_owned()), "{heading}");
        }
    }

    #[test]
    fn words_are_stripped_whole() {
        assert_eq!(strip_word("Epic 1", "epic"), Some("1"));
        assert_eq!(strip_word("epic-1", "epic"), Some("1"));
        assert_eq!(strip_word("EPIC: # 1", "epic"), Some("1"));
        assert_eq!(strip_word("epics 1", "epic"), None);
        assert_eq!(strip_word("epic", "epic"), None);
        assert_eq!(strip_word("é", "epic"), None);
    }

    #[test]
    fn an_epic_is_named_in_many_ways() {
        for (value, epic) in [
            ("Epic 1: Accounts", "1"),
            ("epic-1", "1"),
            ("1", "1"),
            ("\"auth\"", "auth"),
            ("[1](epic-1.md)", "1"),
            ("**auth**", "auth"),
            ("1 (accounts)", "1"),
            ("1.", "1"),
        ] {
            assert_eq!(epic_word(value), epic, "{value}");
        }
    }

    #[test]
    fn dependencies_are_ids_with_a_number() {
        for (line, ids) in [
            ("1.1, story-1-2-login", &["1.1", "1-2-login"][..]),
            ("- Story 1.1 (accounts)", &["1.1"]),
            ("* [1-1-a](1-1-a.md)", &["1-1-a](1-1-a"]),
            ("`1-1-a.md`; \"1-2-b\" & 1.3", &["1-1-a", "1-2-b", "1.3"]),
            ("none", &[]),
            ("", &[]),
        ] {
            assert_eq!(items(line), ids, "{line}");
        }
    }

    #[test]
    fn claims_are_read_from_fields_title_and_sections() {
        let text = "---\nepic: Epic 2\ndepends_on:\n  - 2.1\n  - \"2-2-b\"\n---\n# Story 2.3: Pay\n\n\
                    ## Dependencies\n\n- Story 2.1\n- Story 2.4\n";
        let claims = claims(text);
        assert_eq!(claims.epic.as_deref(), Some("2"));
        assert_eq!(claims.numbers, Some(("2".to_owned(), 3)));
        assert_eq!(claims.title, "Pay");
        assert_eq!(claims.depends_on, ["2.1", "2-2-b", "2.4"]);
    }
}
