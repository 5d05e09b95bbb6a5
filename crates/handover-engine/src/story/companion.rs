//! Files next to a story that are written about it, such as its validation report.

use super::parse::claims;
use super::{Status, Story};

/// Why such a file is not a story.
pub(super) const REASON: &str = "written about a story";

/// How the names of such files end, after the id of the story.
const ENDS: &[&str] = &[
    "context",
    "decisions",
    "design",
    "handoff",
    "metrics",
    "retro",
    "retrospective",
    "test-spec",
    "traceability",
    "uat",
    "validation-report",
];

/// The id of the story that a file is about, if its name is that of a companion.
pub(super) fn about(name: &str) -> Option<&str> {
    let rest = ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    rest.strip_suffix(['-', '.', '_']).filter(|story| !story.is_empty())
}

/// Whether a text has the title of a story or a status.
pub(super) fn says_that_it_is_a_story(text: &str) -> bool {
    claims(text).numbers.is_some() || Status::of(text).is_some()
}

/// The positions of those stories that only continue the name of another one, which has their number and says
/// that it is a story, as they do not.
pub(super) fn among(found: &[(Story, &'static str)]) -> Vec<usize> {
    let continues = |story: &Story, of: &Story| {
        let rest = story.id.strip_prefix(of.id.as_str());
        rest.is_some_and(|rest| rest.starts_with(['-', '.', '_'])) && story.number == of.number
    };
    let is_companion = |story: &Story| {
        !says_that_it_is_a_story(&story.text)
            && found.iter().any(|(of, _)| continues(story, of) && says_that_it_is_a_story(&of.text))
    };
    let all = found.iter().enumerate();
    all.filter(|(_, (story, _))| is_companion(story)).map(|(n, _)| n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_companion_ends_with_what_it_is() {
        for (name, story) in [
            ("1-1-a-validation-report", Some("1-1-a")),
            ("1-1-a.context", Some("1-1-a")),
            ("1-2-seller-metrics", Some("1-2-seller")),
            ("1-2-metricsx", None),
            ("1-2-sellermetrics", None),
            ("-metrics", None),
            ("metrics", None),
        ] {
            assert_eq!(about(name), story, "{name}");
        }
    }
}
