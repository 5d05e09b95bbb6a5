//! `sprint-status.yaml` has one line per story below `development_status:`. Lines are changed in place,
//! to keep the user's comments and order.

use std::path::Path;

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
}
