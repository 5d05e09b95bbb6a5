//! The status of a story, in every common spelling.

use super::fields;

/// Issues have a state.
const NAMES: &[&str] = &["status", "state"];

/// The status of a story according to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Not ready to be worked on.
    Backlog,
    /// Ready.
    Ready,
    /// In progress.
    InProgress,
    /// In review.
    Review,
    /// Done.
    Done,
    /// Blocked.
    Blocked,
    /// An unknown word.
    Other,
}

impl Status {
    /// Parses a value. Only whole words count: "not done yet" is not done.
    pub fn read(value: &str) -> Self {
        let value = value.split("<!--").next().unwrap_or_default();
        let end = [" - ", "–", "—", "(", "[", ",", ".", ";", ":", "/"]
            .iter()
            .filter_map(|mark| value.find(mark))
            .filter(|at| value[..*at].chars().any(char::is_alphanumeric))
            .min()
            .unwrap_or(value.len());
        let words: Vec<String> = value[..end]
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        match words.join("-").as_str() {
            "done" | "complete" | "completed" | "finished" | "closed" | "implemented"
            | "merged" | "x" => Self::Done,
            "ready"
            | "ready-for-dev"
            | "ready-for-development"
            | "approved"
            | "todo"
            | "to-do"
            | "open"
            | "planned"
            | "contexted" => Self::Ready,
            "in-progress" | "inprogress" | "started" | "doing" | "wip" | "in-development" => {
                Self::InProgress
            }
            "review" | "in-review" | "ready-for-review" | "code-review" | "ready-for-qa" => {
                Self::Review
            }
            "blocked" | "on-hold" | "escalated" => Self::Blocked,
            "backlog" | "draft" | "drafted" | "new" => Self::Backlog,
            _ => Self::Other,
        }
    }

    /// The status of a story; none if it has none.
    pub fn of(text: &str) -> Option<Self> {
        fields::find(text, NAMES).map(|field| Self::read(&text[field.range]))
    }
}

/// The line that holds the status.
pub(super) fn line(text: &str) -> Option<fields::Field> {
    fields::find(text, NAMES)
}

/// The text with a new status, in its existing spelling; below the title if it has none.
pub fn set(text: &str, word: &str) -> String {
    if let Some(field) = fields::find(text, NAMES) {
        return format!("{}{word}{}", &text[..field.range.start], &text[field.range.end..]);
    }
    let title =
        fields::lines(text).into_iter().find(|line| !line.fenced && line.text.starts_with("# "));
    match title {
        Some(line) => {
            let end = line.start + line.text.len();
            format!("{}\n\nStatus: {word}{}", &text[..end], &text[end..])
        }
        None => format!("Status: {word}\n\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_spelling_is_read_and_kept() {
        for (text, expected) in [
            ("# S\nStatus: done\n", "# S\nStatus: review\n"),
            ("# S\n**Status:** Done\n", "# S\n**Status:** review\n"),
            ("# S\n**Status**: Done ✅\n", "# S\n**Status**: review\n"),
            ("# S\n- **Status:** `done`\n", "# S\n- **Status:** `review`\n"),
            ("# S\n\n## Status: Completed\n", "# S\n\n## Status: review\n"),
            ("# S\n\n## Status\n\nDone\n\n## Story\n", "# S\n\n## Status\n\nreview\n\n## Story\n"),
            ("---\nstatus: done\n---\n# S\n", "---\nstatus: review\n---\n# S\n"),
            ("# S\r\nStatus: DONE\r\n", "# S\r\nStatus: review\r\n"),
        ] {
            assert_eq!(Status::of(text), Some(Status::Done), "{text:?}");
            assert_eq!(set(text, "review"), expected, "{text:?}");
        }
    }

    #[test]
    fn only_whole_words_count() {
        for value in ["not done yet", "almost done", "done-ish", "undone", "will be done", ""] {
            assert_ne!(Status::read(value), Status::Done, "{value:?}");
        }
        for value in ["done (2026-01-02)", "Done - see PR 7", "✅ Done", "done.", "DONE <!-- x -->"]
        {
            assert_eq!(Status::read(value), Status::Done, "{value:?}");
        }
    }

    #[test]
    fn a_status_in_code_or_in_a_later_section_is_none() {
        assert_eq!(Status::of("# S\n```\nStatus: done\n```\n"), None);
        assert_eq!(Status::of("# S\n\n## Notes\nStatus: done\n"), None);
        assert_eq!(set("# S\n\ntext\n", "done"), "# S\n\nStatus: done\n\ntext\n");
        assert_eq!(set("text\n", "done"), "Status: done\n\ntext\n");
    }

    #[test]
    fn words_mean_a_status() {
        for (status, words) in [
            (
                Status::Done,
                &[
                    "done",
                    "Complete",
                    "completed",
                    "finished",
                    "closed",
                    "implemented",
                    "merged",
                    "x",
                ][..],
            ),
            (
                Status::Ready,
                &[
                    "ready",
                    "Ready for dev",
                    "ready-for-development",
                    "approved",
                    "TODO",
                    "to do",
                    "open",
                    "planned",
                    "contexted",
                ],
            ),
            (
                Status::InProgress,
                &["in progress", "inprogress", "started", "doing", "WIP", "in-development"],
            ),
            (
                Status::Review,
                &["review", "in review", "ready for review", "code review", "ready-for-qa"],
            ),
            (Status::Blocked, &["blocked", "on hold", "escalated"]),
            (Status::Backlog, &["backlog", "draft", "drafted", "new"]),
            (Status::Other, &["", "perhaps", "done and dusted", "-"]),
        ] {
            for word in words {
                assert_eq!(Status::read(word), status, "{word}");
            }
        }
    }

    #[test]
    fn what_follows_the_status_does_not_matter() {
        for value in [
            "done – today",
            "done, finally",
            "done; see 7",
            "done: yes",
            "done/merged",
            "done [1]",
            "(done)",
        ] {
            assert_eq!(Status::read(value), Status::Done, "{value}");
        }
    }
}
