//! Which files are stories of an epic, what they say, and the order of work.

use std::path::PathBuf;

use handover_engine::story::{
    Layout, Record, StoryError, append, discover, epic_dependencies, epic_id, epic_title,
    find_sprint_status, in_order,
};
use handover_model::EpicId;

struct Docs(tempfile::TempDir);

impl Docs {
    fn new(files: &[(&str, &str)]) -> Self {
        let docs = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = docs.root().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        docs
    }

    fn root(&self) -> PathBuf {
        fs_err::canonicalize(self.0.path()).unwrap()
    }

    /// The ids of the epic's stories, in the order of work.
    fn ids(&self, epic: &str) -> Result<Vec<String>, StoryError> {
        let found = discover(&self.root(), &Layout::default(), &id(epic))?;
        Ok(found.stories.into_iter().map(|(story, _)| story.id).collect())
    }

    fn waits(&self, epic: &str) -> Vec<(String, Vec<String>)> {
        let found = discover(&self.root(), &Layout::default(), &id(epic)).unwrap();
        found.stories.into_iter().map(|(story, waits)| (story.id, waits)).collect()
    }
}

fn id(epic: &str) -> EpicId {
    EpicId::new(epic).unwrap()
}

fn stories(names: &[&str]) -> Docs {
    let files: Vec<(String, String)> = names
        .iter()
        .map(|name| (format!("docs/stories/{name}.md"), format!("# {name}\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    Docs::new(&files)
}

#[test]
fn file_names_decide_which_epic_a_story_belongs_to() {
    let docs = stories(&[
        "1-1-login",
        "1.2-logout",
        "story-1-3-reset",
        "Story_1.4",
        "11-1-other",
        "2-1-cart",
        "1-login",
        "notes",
        "1-5a",
        "epic-1-overview",
        "1-1-login-retro",
        "1-6-x-decisions",
    ]);
    assert_eq!(docs.ids("1").unwrap(), ["1-1-login", "1.2-logout", "story-1-3-reset", "Story_1.4"]);
    assert_eq!(docs.ids("11").unwrap(), ["11-1-other"]);
}

#[test]
fn leading_zeros_make_no_difference() {
    let docs = stories(&["01-02-b", "1-1-a"]);
    assert_eq!(docs.ids("1").unwrap(), ["1-1-a", "01-02-b"]);
    assert_eq!(epic_id("007").unwrap().as_str(), "7");
}

#[test]
fn stories_are_ordered_by_number_not_by_name() {
    let docs = stories(&["1-10-z", "1-9-a", "1-2-m"]);
    assert_eq!(docs.ids("1").unwrap(), ["1-2-m", "1-9-a", "1-10-z"]);
}

#[test]
fn a_field_or_a_title_can_claim_a_story() {
    let docs = Docs::new(&[
        ("docs/stories/login.md", "---\nepic: 1\n---\n# Login\n"),
        ("docs/stories/logout.md", "# Story 1.2: Logout\n"),
        ("docs/stories/prose.md", "# Prose\n\nThis belongs to epic 1.\n"),
        ("docs/stories/foreign.md", "**Epic:** Epic 2: Cart\n# X\n"),
    ]);
    let found = discover(&docs.root(), &Layout::default(), &id("1")).unwrap();
    let mut reasons: Vec<(&str, &str)> =
        found.matches.iter().map(|it| (it.path.as_str(), it.reason)).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [("docs/stories/login.md", "its field `epic`"), ("docs/stories/logout.md", "its title")]
    );
    let logout = found.stories.iter().find(|(story, _)| story.id == "logout").unwrap();
    assert_eq!((logout.0.title.as_str(), logout.0.number), ("Logout", Some(2)));
}

#[test]
fn contradictions_are_errors() {
    for (name, text) in [
        ("1-1-a", "---\nepic: 2\n---\n# A\n"),
        ("1-1-a", "# Story 2.1: A\n"),
        ("2-1-a", "---\nepic: 1\n---\n# A\n"),
    ] {
        let docs = Docs::new(&[(&format!("docs/stories/{name}.md"), text)]);
        let error = docs.ids("1").unwrap_err();
        assert!(matches!(error, StoryError::Contradiction { .. }), "{name} {text}: {error}");
    }
}

#[test]
fn the_same_story_in_two_folders_is_ambiguous() {
    let docs = Docs::new(&[("docs/stories/1-1-a.md", "# A\n"), ("docs/sprints/1-1-a.md", "# A\n")]);
    assert!(matches!(docs.ids("1"), Err(StoryError::Ambiguous { .. })));
}

#[test]
fn missing_epics_and_epics_without_stories_are_distinguished() {
    let docs = Docs::new(&[("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n")]);
    assert!(matches!(docs.ids("1"), Err(StoryError::NoStories { .. })));
    assert!(matches!(docs.ids("2"), Err(StoryError::NotFound { .. })));
}

#[test]
fn two_files_of_one_epic_are_ambiguous() {
    let docs = Docs::new(&[
        ("docs/epics/epic-1-shop.md", "# Epic 1\n"),
        ("docs/epics/old/epic-01.md", "# Epic 1\n"),
        ("docs/epics/epic-12.md", "# Epic 12\n"),
        ("docs/stories/12-1-a.md", "# A\n"),
    ]);
    assert!(matches!(docs.ids("1"), Err(StoryError::Ambiguous { .. })));
    let found = discover(&docs.root(), &Layout::default(), &id("12")).unwrap();
    assert_eq!(found.epic_file.as_deref(), Some("docs/epics/epic-12.md"));
}

#[test]
fn unreadable_stories_are_errors_and_other_files_are_not() {
    let docs = stories(&["1-1-a"]);
    fs_err::write(docs.root().join("docs/stories/image.md"), [0xff, 0xfe]).unwrap();
    assert_eq!(docs.ids("1").unwrap(), ["1-1-a"]);
    fs_err::write(docs.root().join("docs/stories/1-2-b.md"), [0xff, 0xfe]).unwrap();
    assert!(matches!(docs.ids("1"), Err(StoryError::BadFile { .. })));
    fs_err::write(docs.root().join("docs/stories/1-2-b.md"), "x".repeat((1 << 20) + 1)).unwrap();
    assert!(matches!(docs.ids("1"), Err(StoryError::BadFile { .. })));
    fs_err::write(docs.root().join("docs/stories/1-2-b.md"), "x".repeat(1 << 20)).unwrap();
    assert_eq!(docs.ids("1").unwrap().len(), 2);
}

#[test]
fn names_must_be_short_and_visible() {
    for name in ["1-1-a\u{7}", &format!("1-1-{}", "a".repeat(200)), "1-1-a "] {
        let docs = stories(&[name]);
        let error = docs.ids("1").unwrap_err();
        assert!(matches!(error, StoryError::BadName { .. }), "{name:?}: {error}");
    }
    let longest = format!("1-1-{}", "a".repeat(196));
    assert_eq!(stories(&[&longest]).ids("1").unwrap(), [longest]);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_ignored() {
    let docs = stories(&["1-1-a"]);
    let outside = Docs::new(&[("1-2-b.md", "# B\n")]);
    let link = docs.root().join("docs/stories/1-2-b.md");
    std::os::unix::fs::symlink(outside.root().join("1-2-b.md"), link).unwrap();
    assert_eq!(docs.ids("1").unwrap(), ["1-1-a"]);
}

#[test]
fn dependencies_are_read_in_every_common_form() {
    for text in [
        "---\ndepends_on: [1-1-a]\n---\n# B\n",
        "---\ndepends_on:\n  - 1-1-a\n---\n# B\n",
        "# B\n**Depends on:** Story 1.1 (accounts)\n",
        "# B\nDependencies: 1.1\n",
        "# B\n\n## Dependencies\n\n- Story 1.1\n- none of the others\n",
        "# B\nBlocked by: `story-1-1-a.md`\n",
        "# B\nDepends on: 1.1; 2.7 & 1-1-a\n",
    ] {
        let docs =
            Docs::new(&[("docs/stories/1-1-a.md", "# A\n"), ("docs/stories/1-2-b.md", text)]);
        let waits = docs.waits("1");
        assert_eq!(waits[1], ("1-2-b".to_owned(), vec!["1-1-a".to_owned()]), "{text}");
    }
}

#[test]
fn prose_and_code_are_not_dependencies() {
    for text in [
        "# B\n\n## Notes\n\nDepends on: 1.1\n",
        "# B\n```\nDepends on: 1.1\n```\n",
        "# B\nDepends on: nothing\n",
    ] {
        let docs =
            Docs::new(&[("docs/stories/1-1-a.md", "# A\n"), ("docs/stories/1-2-b.md", text)]);
        assert_eq!(docs.waits("1")[1].1, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn dependencies_come_first_and_numbers_decide_the_rest() {
    let docs = Docs::new(&[
        ("docs/stories/1-1-a.md", "# A\nDepends on: 1.3\n"),
        ("docs/stories/1-2-b.md", "# B\n"),
        ("docs/stories/1-3-c.md", "# C\n"),
        ("docs/stories/1-4-d.md", "# D\nDepends on: 1.1, 1.2\n"),
    ]);
    assert_eq!(docs.ids("1").unwrap(), ["1-2-b", "1-3-c", "1-1-a", "1-4-d"]);
    assert_eq!(docs.waits("1")[3].1, ["1-1-a", "1-2-b"]);
}

#[test]
fn unknown_dependencies_and_cycles_are_errors() {
    let docs = Docs::new(&[("docs/stories/1-1-a.md", "# A\nDepends on: 1.9\n")]);
    let error = docs.ids("1").unwrap_err();
    assert!(matches!(&error, StoryError::UnknownDependency { on, .. } if on == "1.9"), "{error}");
    let docs = Docs::new(&[
        ("docs/stories/1-1-a.md", "# A\nDepends on: 1.2\n"),
        ("docs/stories/1-2-b.md", "# B\nDepends on: 1.3\n"),
        ("docs/stories/1-3-c.md", "# C\nDepends on: 1.2\n"),
    ]);
    let error = docs.ids("1").unwrap_err();
    let StoryError::Cycle { stories } = error else { panic!("{error}") };
    assert_eq!(stories.first(), stories.last());
    assert_eq!(stories, ["1-2-b", "1-3-c", "1-2-b"]);
}

#[test]
fn a_number_that_two_stories_have_is_an_ambiguous_dependency() {
    let docs = Docs::new(&[
        ("docs/stories/1-1-a.md", "# A\n"),
        ("docs/stories/1-1-b.md", "# B\n"),
        ("docs/stories/1-2-c.md", "# C\nDepends on: 1.1\n"),
    ]);
    assert!(matches!(docs.ids("1"), Err(StoryError::Ambiguous { .. })));
    assert!(in_order("1", Vec::new()).unwrap().is_empty());
}

#[test]
fn epics_are_named_in_many_ways() {
    for (word, expected) in [
        ("1", "1"),
        ("epic-1", "1"),
        ("Epic 1", "1"),
        ("docs/epics/epic-1-login.md", "1"),
        ("docs/epics/01-login.md", "1"),
        ("epic-auth.md", "auth"),
        ("auth", "auth"),
    ] {
        assert_eq!(epic_id(word).unwrap().as_str(), expected, "{word}");
    }
    assert!(epic_id("").is_err());
}

#[test]
fn titles_lose_the_number_of_the_epic() {
    assert_eq!(epic_title("# Epic 1: Shop\n"), "Shop");
    assert_eq!(epic_title("# Epic 2 – Cart and more\n"), "Cart and more");
    assert_eq!(epic_title("# Shop: online\n"), "Shop: online");
    assert_eq!(epic_title("text\n"), "");
}

#[test]
fn dependencies_of_epics_are_read_in_every_common_form() {
    for (text, expected) in [
        ("---\ndepends_on: [1, 2]\n---\n# Epic 3\n", vec!["1", "2"]),
        ("---\ndepends_on:\n  - epic-2\n  - 1\n---\n# Epic 3\n", vec!["2", "1"]),
        ("# Epic 3\n**Depends on:** Epic 1 (accounts), epic-2-cart\n", vec!["1", "2"]),
        ("# Epic 3\n\n## Dependencies\n\nNeeds Epics 1, 2 and 4 of 2024.\n", vec!["1", "2", "4"]),
        ("# Epic 3\n\n## Dependencies\n\n- 1\n- Node 18\n", vec!["1"]),
        ("# Epic 3\n\nIt is better than epic 1.\n", vec![]),
    ] {
        let docs = Docs::new(&[("docs/epics/epic-3.md", text)]);
        let epics = epic_dependencies(&docs.root(), &Layout::default(), &id("3")).unwrap();
        let epics: Vec<&str> = epics.iter().map(EpicId::as_str).collect();
        assert_eq!(epics, expected, "{text}");
    }
    let docs = Docs::new(&[]);
    assert!(epic_dependencies(&docs.root(), &Layout::default(), &id("3")).unwrap().is_empty());
}

#[test]
fn records_are_quoted_and_empty_parts_left_out() {
    let record = Record {
        heading: "Dev Agent Record",
        fields: vec![("Date", "2026-01-01".to_owned()), ("Role", " ".to_owned())],
        texts: vec![("Summary", "## Fake heading\nreal".to_owned()), ("Empty", String::new())],
        lists: vec![("Files", vec!["a.rs".to_owned()]), ("None", Vec::new())],
    };
    let text = append("# Story\n\n\n", &record);
    assert!(text.starts_with("# Story\n\n## Dev Agent Record\n\n- **Date:** 2026"), "{text}");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["# Story", "## Dev Agent Record", "### Summary", "### Files"]);
    assert!(!text.contains("Role") && text.contains("- a.rs"), "{text}");
}

#[test]
fn the_sprint_status_is_found_in_the_usual_folders() {
    let docs = Docs::new(&[("docs/sprint-status.yaml", "")]);
    assert_eq!(find_sprint_status(&docs.root()), Some("docs/sprint-status.yaml"));
    assert_eq!(find_sprint_status(&Docs::new(&[]).root()), None);
}
