//! Reads an epic's file: its title and the epics that it depends on.

use std::path::Path;

use handover_model::EpicId;

use super::parse::{numbered, strip_word};
use super::{Layout, StoryError, discover, fields};

const NAMES: &[&str] = &["depends_on", "depends on", "dependencies", "blocked by"];

/// The title of an epic, from its text. In a file about several, its heading is of a lower level.
pub fn epic_title(text: &str) -> String {
    let heading = fields::body_lines(text).find_map(heading).unwrap_or_default();
    let rest = strip_word(heading, "epic").unwrap_or(heading);
    match rest.split_once([':', '–', '—']) {
        Some((_, title)) if rest != heading => title.trim().to_owned(),
        Some(_) | None => heading.to_owned(),
    }
}

/// The text of a heading of any level.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// The epics that an epic depends on, in the order of its file. An epic without a file has none.
pub fn epic_dependencies(
    root: &Path,
    layout: &Layout,
    epic: &EpicId,
) -> Result<Vec<EpicId>, StoryError> {
    let Some((path, _)) = discover::epic_file(root, layout, epic)? else { return Ok(Vec::new()) };
    let text = discover::read(&root.join(&path))
        .map_err(|reason| StoryError::BadFile { path: path.clone(), reason })?;
    let text = section(&text, epic).map_or(text.as_str(), |part| part).to_owned();
    let mut words = Vec::new();
    let lines = fields::lines(&text);
    // Text below a heading is a sentence, handled further down.
    let is_field = |field: &fields::Field| {
        let line = lines[field.line].text.to_ascii_lowercase();
        NAMES.iter().any(|name| line.contains(name))
    };
    if let Some(field) = fields::find(&text, NAMES).filter(is_field) {
        words.extend(listed(&text[field.range.clone()]));
        // A YAML list continues on the following lines.
        let below = lines.iter().skip(field.line + 1);
        for line in below.take_while(|line| line.front && line.text.trim_start().starts_with("- "))
        {
            words.extend(listed(line.text));
        }
    }
    for name in ["dependencies", "depends on"] {
        for line in fields::section_items(&text, name) {
            words.extend(mentioned(line));
        }
    }
    let mut epics: Vec<EpicId> = Vec::new();
    for word in words {
        if let Ok(epic) = discover::epic_id(&word)
            && !epics.contains(&epic)
        {
            epics.push(epic);
        }
    }
    Ok(epics)
}

/// The part about one epic of a file about several; none if the file is about fewer.
pub(crate) fn section<'t>(text: &'t str, epic: &EpicId) -> Option<&'t str> {
    let lines = fields::lines(text);
    let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    let named = |line: &str| {
        let heading = line.trim_start_matches('#').trim();
        let word = strip_word(heading, "epic")?;
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
        discover::epic_id(&word[..end.unwrap_or(word.len())]).ok()
    };
    let headings: Vec<(usize, usize, Option<EpicId>)> = lines
        .iter()
        .filter(|line| !line.fenced && line.text.starts_with('#'))
        .map(|line| (line.start, level(line.text), named(line.text)))
        .collect();
    let is_own_title = |heading: &&(usize, usize, Option<EpicId>)| heading.1 > 1;
    let at = headings
        .iter()
        .filter(is_own_title)
        .find(|(_, _, name)| name.as_ref() == Some(epic))
        .map(|(start, level, _)| (*start, *level))?;
    let end = headings.iter().find(|(start, level, _)| *start > at.0 && *level <= at.1);
    Some(&text[at.0..end.map_or(text.len(), |(start, _, _)| *start)])
}

/// The stories that the file of an epic has headings for: `### Story 1.1: Cart` as `1.1`.
pub(super) fn listed_stories(text: &str, epic: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in fields::body_lines(text).filter(|line| line.starts_with("##")) {
        let (numbers, _) = numbered(line.trim_start_matches('#').trim());
        let Some((of, number)) = numbers.filter(|(of, _)| discover::same_epic(of, epic)) else {
            continue;
        };
        let story = format!("{of}.{number}");
        if !found.contains(&story) {
            found.push(story);
        }
    }
    found
}

const DECORATION: &[char] =
    &['-', '*', '+', ' ', '[', ']', '(', ')', '"', '\'', '`', ':', '.', '#'];

/// The epics of a field: `1, epic-2`, `[1, 2]` or `Epic auth`.
fn listed(value: &str) -> Vec<String> {
    let items = value.split([',', ';', '&']).map(|item| item.trim().trim_matches(DECORATION));
    items
        .filter_map(|item| {
            let named = strip_word(item, "epics").or_else(|| strip_word(item, "epic"));
            let word = named.unwrap_or(item).split_whitespace().next()?.trim_matches(DECORATION);
            let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains('.');
            (is_number || named.is_some()).then(|| number_of(word))
        })
        .collect()
}

/// The epics that a sentence names: `Epic 1`, `epic-2-login`, `Epics 3, 4 and 5`. A number alone means
/// nothing unless the whole line is one.
fn mentioned(line: &str) -> Vec<String> {
    let bare = line.trim().trim_matches(DECORATION);
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![bare.to_owned()];
    }
    let mut found = Vec::new();
    let mut counting = false;
    for word in line.split([' ', ',', ';', '(', ')', '/', '\t']).filter(|word| !word.is_empty()) {
        let bare = word.trim_matches(DECORATION);
        let lower = bare.to_ascii_lowercase();
        if lower == "epic" || lower == "epics" {
            counting = true;
        } else if let Some(id) = lower.strip_prefix("epic-") {
            counting = false;
            found.push(number_of(&bare[bare.len() - id.len()..]));
        } else if counting && !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
            found.push(bare.to_owned());
        } else if !matches!(lower.as_str(), "and" | "&" | "or" | "") {
            counting = false;
        }
    }
    found
}

/// Only the number of `2-login` counts.
fn number_of(word: &str) -> String {
    let first = word.split('-').next().unwrap_or(word);
    if first.parse::<u64>().is_ok() { first.to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_lists_numbers_and_names() {
        for (value, expected) in [
            ("1, epic-2", &["1", "2"][..]),
            ("[1, 2]", &["1", "2"]),
            ("Epic auth", &["auth"]),
            ("Epics 3; 4 & epic 5-login", &["3", "4", "5"]),
            ("\"1\", '2'", &["1", "2"]),
            ("1.2", &[]),
            ("none", &[]),
            ("PostgreSQL 16", &[]),
            ("", &[]),
            ("2 (accounts)", &["2"]),
        ] {
            assert_eq!(listed(value), expected, "{value}");
        }
    }

    #[test]
    fn a_sentence_mentions_epics_by_that_word() {
        for (line, expected) in [
            ("- Epic 1: accounts", &["1"][..]),
            ("Epics 3, 4 and 5", &["3", "4", "5"]),
            ("epic-2-login must be done", &["2"]),
            ("after epic-auth", &["auth"]),
            ("7", &["7"]),
            ("- 8", &["8"]),
            ("PostgreSQL 16 and 3 engineers", &[]),
            ("Epic planning took 3 days", &[]),
            ("Epic 1 took 3 days", &["1"]),
            ("Epic 1 or (Epic 2)", &["1", "2"]),
            ("", &[]),
        ] {
            assert_eq!(mentioned(line), expected, "{line}");
        }
    }

    #[test]
    fn a_file_about_several_epics_has_a_part_for_each() {
        let text = "# Epics\n\n## Epic 1: Shop\n\nSell.\n\n### Story 1.1: Cart\n\n## Epic 2: More\n\nGrow.\n";
        let part = |epic: &str| section(text, &EpicId::new(epic).unwrap());
        assert_eq!(part("1"), Some("## Epic 1: Shop\n\nSell.\n\n### Story 1.1: Cart\n\n"));
        assert_eq!(part("2"), Some("## Epic 2: More\n\nGrow.\n"));
        assert_eq!(part("3"), None);
        let own = EpicId::new("1").unwrap();
        assert_eq!(section("# Epic 1: Shop\n\n## Goal\n", &own), None, "a file of its own");
    }

    #[test]
    fn of_a_name_with_a_number_only_the_number_counts() {
        assert_eq!(number_of("2-login"), "2");
        assert_eq!(number_of("12"), "12");
        assert_eq!(number_of("auth-2"), "auth-2");
    }

    #[test]
    fn titles_keep_what_follows_the_number() {
        for (text, title) in [
            ("# Epic 1: Shop\n", "Shop"),
            ("# Epic 1 – Shop: the cart\n", "Shop: the cart"),
            ("# epic-1: Shop", "Shop"),
            ("# Shop: everything", "Shop: everything"),
            ("# Epic 1", "Epic 1"),
            ("## Epic 1: Shop\n\n### Story 1.1: Cart\n", "Shop"),
            ("#hashtag\n\n### Epic 2 — Pay\n", "Pay"),
            ("no heading", ""),
        ] {
            assert_eq!(epic_title(text), title, "{text}");
        }
    }
}
