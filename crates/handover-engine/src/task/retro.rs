//! Somebody says what an epic taught.

use std::fmt::Write as _;

use handover_text::cut::cut;

use super::{DETAIL, Kind, TaskParts, section};

/// How much of one story's account is shown.
const ONE: usize = 300;

pub(super) const KIND: Kind = Kind {
    what: "Look back on epic",
    who: "You look back on an epic: what went well, what did not, and what the next one should know.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`RETRO COMPLETE: Epic <number of the epic>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    section(out, "The stories", "text", &stories(parts), DETAIL);
}

/// How each story of the epic ended.
pub(super) fn stories(parts: &TaskParts<'_>) -> String {
    let mut out = String::new();
    for story in &parts.state.stories {
        let last = story.record.iter().rev().find(|end| !end.summary.is_empty());
        let said = last.map_or(story.reason.as_str(), |end| end.summary.as_str());
        let _ = writeln!(out, "- {} ({}): {}", story.planned.id, story.state, cut(said, ONE));
    }
    out
}
