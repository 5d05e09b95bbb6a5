//! Reads a handoff back, entry by entry, so that each agent gets the entries that are relevant to it.

use crate::data::{Lesson, Retro};

/// Separates an entry from the file that it is about.
pub(super) const IN_FILE: &str = " · in ";

const MAX_BYTES: usize = 256 << 10;
const MAX_ENTRIES: usize = 60;

/// A part of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Patterns.
    Patterns,
    /// Decisions.
    Decisions,
    /// Pitfalls.
    Gotchas,
    /// Files worth knowing.
    Files,
    /// Test conventions.
    TestConventions,
}

impl Section {
    /// All sections, in the order of the file.
    pub const ALL: [Self; 5] =
        [Self::Patterns, Self::Decisions, Self::Gotchas, Self::Files, Self::TestConventions];

    /// Its heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Patterns => "Patterns",
            Self::Decisions => "Decisions",
            Self::Gotchas => "Gotchas",
            Self::Files => "Files",
            Self::TestConventions => "Test conventions",
        }
    }

    /// The lessons of a retrospective that belong to this section.
    pub(super) fn of(self, retro: &Retro) -> &[Lesson] {
        match self {
            Self::Patterns => &retro.patterns,
            Self::Decisions => &retro.decisions,
            Self::Gotchas => &retro.gotchas,
            Self::Files => &retro.files,
            Self::TestConventions => &retro.test_conventions,
        }
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffEntry {
    /// The section that it is in.
    pub section: Section,
    /// Its text.
    pub text: String,
    /// The file that it is about.
    pub file: Option<String>,
}

/// The handoff of an earlier epic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    /// The summary paragraph.
    pub summary: String,
    /// All entries, in the order of the file.
    pub entries: Vec<HandoffEntry>,
}

impl Handoff {
    /// Reads a file leniently: lines that cannot be parsed are skipped.
    pub fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let mut handoff = Self::default();
        let mut summary: Vec<String> = Vec::new();
        let mut section = None;
        let mut in_summary = false;
        for line in crate::story::body_lines(text) {
            if let Some(heading) = line.strip_prefix("## ") {
                let named =
                    |wanted: &Section| wanted.heading().eq_ignore_ascii_case(heading.trim());
                section = Section::ALL.into_iter().find(named);
                in_summary = heading.trim().eq_ignore_ascii_case("summary");
            } else if in_summary {
                summary.push(plain(line));
            } else if let (Some(section), Some(item)) = (section, item(line))
                && handoff.entries.len() < MAX_ENTRIES
            {
                let (text, file) = match item.rsplit_once(IN_FILE) {
                    Some((text, file)) => (text, Some(plain(file))),
                    None => (item, None),
                };
                let text = plain(text);
                let file = file.or_else(|| (section == Section::Files).then(|| first_word(&text)));
                handoff.entries.push(HandoffEntry { section, text, file });
            }
        }
        handoff.summary = handover_text::cut::one_line(&summary.join(" "));
        handoff
    }
}

fn item(line: &str) -> Option<&str> {
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?.trim();
    (!item.is_empty()).then_some(item)
}

fn first_word(text: &str) -> String {
    text.split([' ', ':']).next().unwrap_or_default().to_owned()
}

/// Removes Markdown escapes; the text is quoted again wherever it is shown.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().trim_start_matches("> ").chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation);
        if !escapes {
            out.push(c);
        } else if let Some(next) = chars.next() {
            out.push(next);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_section_by_section() {
        let text = "---\ntype: handoff\n---\n# Handoff of epic 1\n\n## Summary\n\nTwo stories,\none lesson.\n\n\
                    ## Patterns\n\n- errors are enums · in src/error.rs\n* numbers are typed\nprose\n\n\
                    ## FILES\n\n- src/main.rs: the entry\n- src/lib.rs\n\n## Weather\n\n- sunny\n";
        let handoff = Handoff::parse(text);
        assert_eq!(handoff.summary, "Two stories, one lesson.");
        let entries: Vec<(Section, &str, Option<&str>)> = handoff
            .entries
            .iter()
            .map(|entry| (entry.section, entry.text.as_str(), entry.file.as_deref()))
            .collect();
        assert_eq!(
            entries,
            [
                (Section::Patterns, "errors are enums", Some("src/error.rs")),
                (Section::Patterns, "numbers are typed", None),
                (Section::Files, "src/main.rs: the entry", Some("src/main.rs")),
                (Section::Files, "src/lib.rs", Some("src/lib.rs")),
            ]
        );
    }

    #[test]
    fn escapes_of_markdown_are_removed() {
        assert_eq!(plain(r"a\_b \*c\*"), "a_b *c*");
        assert_eq!(plain(r"> quoted \\ x"), r"quoted \ x");
        assert_eq!(plain(r"C:\dir ends with \"), r"C:\dir ends with \");
    }

    #[test]
    fn items_are_lines_with_a_bullet() {
        assert_eq!(item("- a"), Some("a"));
        assert_eq!(item("* a  "), Some("a"));
        assert_eq!(item("-a"), None);
        assert_eq!(item("- "), None);
        assert_eq!(item("text"), None);
        assert_eq!(first_word("src/a.rs: x"), "src/a.rs");
    }

    #[test]
    fn every_section_has_its_lessons_and_its_heading() {
        let lesson = |text: &str| vec![Lesson::new(text)];
        let retro = Retro {
            patterns: lesson("p"),
            decisions: lesson("d"),
            gotchas: lesson("g"),
            files: lesson("f"),
            test_conventions: lesson("t"),
            ..Retro::default()
        };
        let all: Vec<(&str, &str)> = Section::ALL
            .into_iter()
            .map(|section| (section.heading(), section.of(&retro)[0].text.as_str()))
            .collect();
        assert_eq!(
            all,
            [
                ("Patterns", "p"),
                ("Decisions", "d"),
                ("Gotchas", "g"),
                ("Files", "f"),
                ("Test conventions", "t"),
            ]
        );
    }

    #[test]
    fn only_the_beginning_of_a_huge_file_is_read() {
        let long = format!("## Gotchas\n- {}\n- last\n", "ä".repeat(MAX_BYTES));
        let handoff = Handoff::parse(&long);
        assert_eq!(handoff.entries.len(), 1);
        assert!(handoff.entries[0].text.len() <= MAX_BYTES);
    }
}
