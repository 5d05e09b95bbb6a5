//! `sprint-status.yaml` has one line per story below `development_status:`. Lines are changed in place,
//! to keep the user's comments and order.

use std::path::Path;

use super::Status;
use crate::bounded;

const PLACES: &[&str] = &[
    "docs/sprint-artifacts/sprint-status.yaml",
    "docs/sprints/sprint-status.yaml",
    "_bmad-output/sprint-status.yaml",
    "_bmad-output/implementation-artifacts/sprint-status.yaml",
    "docs/sprint-status.yaml",
    "sprint-status.yaml",
];

/// Finds the file, relative to a folder.
pub fn find(folder: &Path) -> Option<&'static str> {
    PLACES.iter().copied().find(|place| folder.join(place).is_file())
}

/// The status that the file has for a story, if it lists it.
pub fn get(folder: &Path, story: &str) -> Option<Status> {
    let text = bounded::text(&folder.join(find(folder)?))?;
    let plain = normal(story);
    entries(&text).find_map(|(key, value)| {
        (key == story || normal(key) == plain).then(|| Status::read(value))
    })
}

/// Whether the file lists a story of an epic that is not done, whether or not there is a file for it.
pub fn lists_open(text: &str, epic: &str) -> bool {
    let prefix = format!("{epic}-");
    let mut entries = entries(text);
    entries.any(|(key, status)| {
        let number = normal(key);
        let number = number.strip_prefix(&prefix);
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            && Status::read(status) != Status::Done
    })
}

/// Keys and values below `development_status:`.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "development_status:").skip(1);
    let inside = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '#']));
    inside.filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        let value = value.split(" #").next().unwrap_or_default().trim();
        Some((key.trim().trim_matches(['"', '\'']), value))
    })
}

/// The text with a new status for a story; none if it does not list the story. `story-1.2-x` and
/// `story-1-2-x` are listed as `1-2-x`.
pub fn set(text: &str, story: &str, status: &str) -> Option<String> {
    let plain = normal(story);
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let indented = body.starts_with([' ', '\t']);
        if !indented && !body.trim().is_empty() && !body.starts_with('#') {
            inside = body.trim_end() == "development_status:";
        }
        if inside
            && indented
            && let Some((key, value)) = body.split_once(':')
        {
            let name = key.trim().trim_matches(['"', '\'']);
            if name == story || normal(name) == plain {
                let comment = value.find(" #").map_or("", |at| &value[at..]);
                out.push_str(key);
                out.push_str(": ");
                out.push_str(status);
                out.push_str(comment);
                out.push_str(&line[body.len()..]);
                changed = true;
                continue;
            }
        }
        out.push_str(line);
    }
    changed.then_some(out)
}

fn normal(key: &str) -> String {
    let lower = key.to_ascii_lowercase();
    let rest = lower
        .strip_prefix("story")
        .map_or(lower.as_str(), |rest| rest.trim_start_matches(['-', '_', '.']));
    rest.replace('.', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_changes_and_nothing_else() {
        let text = "# plan\nproject: x\ndevelopment_status:\n  epic-1: backlog\n  1-2-login: ready-for-dev # soon\n  \"1-3-out\": backlog\nother:\n  1-2-login: keep\n";
        let after = set(text, "story-1.2-login", "done").unwrap();
        assert_eq!(after, text.replacen("ready-for-dev", "done", 1));
        assert_eq!(
            set(text, "epic-1", "done").unwrap(),
            text.replacen("epic-1: backlog", "epic-1: done", 1)
        );
        assert!(set(&after, "1-3-out", "done").unwrap().contains("\"1-3-out\": done\n"));
        assert_eq!(set(text, "9-9-none", "done"), None);
    }

    #[test]
    fn an_epic_is_open_while_a_story_of_it_is() {
        let text = "development_status:\n  epic-1: in-progress\n  1-1-a: done\n  story-1.2-b: drafted # x\n  \
                    epic-1-retrospective: optional\n  11-1-c: backlog\n";
        assert!(lists_open(text, "1"));
        assert!(!lists_open(&text.replace("drafted", "done"), "1"));
        assert!(!lists_open(text, "2"));
    }

    #[test]
    fn stories_are_found_under_every_spelling() {
        let text = "development_status:\n  story-1-2-login: backlog\n\tstory_1.3_out: backlog\n";
        assert!(set(text, "1-2-login", "done").unwrap().contains("story-1-2-login: done\n"));
        assert!(set(text, "STORY-1.2-LOGIN", "done").is_some());
        assert!(set(text, "1.3_out", "done").unwrap().contains("story_1.3_out: done\n"));
        assert_eq!(set(text, "1-2", "done"), None);
        assert_eq!(set("other:\n  1-2-login: x\n", "1-2-login", "done"), None);
        // Lines end as they did, and comments between stories change nothing.
        let dos = "development_status:\r\n# first\r\n  1-2-login: x\r\n";
        assert_eq!(set(dos, "1-2-login", "done").unwrap(), dos.replace(": x", ": done"));
    }

    #[test]
    fn the_first_usual_place_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()), None);
        for place in PLACES.iter().rev() {
            let path = folder.path().join(place);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
            assert_eq!(find(folder.path()), Some(*place));
        }
        let other = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(other.path().join("sprint-status.yaml")).unwrap();
        assert_eq!(find(other.path()), None, "a folder is no file");
    }
}
