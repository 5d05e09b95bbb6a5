//! CHANGELOG.md: what a release contains, and how its section gets its name.

use anyhow::{Context, Result, ensure};

const UNRELEASED: &str = "## Unreleased\n";

/// The changelog whose unreleased section became a version's.
pub fn released(changelog: &str, version: &str, date: &str) -> Result<String> {
    ensure!(section(changelog, version).is_none(), "CHANGELOG.md already has a section {version}");
    let notes =
        section(changelog, "Unreleased").context("CHANGELOG.md has no section \"Unreleased\"")?;
    ensure!(
        notes.contains("\n- "),
        "the section \"Unreleased\" of CHANGELOG.md is empty: nothing to release"
    );
    Ok(changelog.replacen(UNRELEASED, &format!("{UNRELEASED}\n## {version} ({date})\n"), 1))
}

/// The text of a section, without its heading.
pub fn section<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let mut sections = changelog.split("\n## ").skip(1);
    let section = sections.find(|section| section.split_whitespace().next() == Some(version))?;
    section.find('\n').map(|end| &section[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.1.0 (2025-01-01)\n\n- All.\n";

    #[test]
    fn the_unreleased_section_gets_version_and_date() {
        let text = released(CHANGELOG, "0.2.0", "2026-01-02").unwrap();
        assert!(
            text.starts_with(
                "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-02)\n\n### Added\n"
            )
        );
        assert_eq!(section(&text, "0.2.0"), Some("\n\n### Added\n\n- A thing.\n"));
        assert_eq!(section(&text, "Unreleased"), Some("\n"));
    }

    #[test]
    fn a_release_needs_something_to_say_and_a_new_version() {
        let again = released(CHANGELOG, "0.1.0", "2026-01-02").unwrap_err();
        assert!(again.to_string().contains("already has a section 0.1.0"));
        let text = released(CHANGELOG, "0.2.0", "2026-01-02").unwrap();
        let empty = released(&text, "0.3.0", "2026-01-02").unwrap_err();
        assert!(empty.to_string().contains("is empty"), "{empty}");
    }
}
