//! A fix of what gates or a review found.

use std::fmt::Write as _;

use handover_model::StoryState;

use super::known::told;
use super::{DETAIL, PATCH, TaskKind, TaskParts, advice, developer, findings, section};
use crate::reducer::StoryRun;

pub(super) const KIND: TaskKind = TaskKind {
    what: "Fix the work on one story of epic",
    who: "You fix what was found in another developer's work. Fix exactly that, and the \
          cause rather than the symptom; never weaken or delete a test to make it pass.",
    first_look: "",
    is_cold: false,
    sees_work: true,
    fields: super::WORK_FIELDS,
    signals: "`IMPLEMENTATION COMPLETE: <story id>` or `IMPLEMENTATION BLOCKED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let story = parts.story;
    if !story.findings.is_empty() {
        section(out, "What was found", "text", &findings(&story.findings), DETAIL);
    }
    if !story.gate_detail.is_empty() {
        section(out, "What the checks printed", "text", &story.gate_detail, DETAIL);
    }
    for other in others(parts) {
        let text = told(other);
        section(out, "The other story in these files", "text", &text, DETAIL);
        let _ = writeln!(out, "It is described in `{}`.\n", other.planned.path);
    }
    developer(out, parts);
    section(out, "The work so far", "diff", parts.patch, PATCH);
    advice(out, parts);
}

/// The finished stories that changed files in conflict.
pub(super) fn others<'a>(parts: &TaskParts<'a>) -> Vec<&'a StoryRun> {
    let is_concerned = |story: &&StoryRun| {
        let changed = |path: &String| story.account().files.contains(path);
        let mut places = parts.story.findings.iter().map(|finding| &finding.place);
        story.state == StoryState::Done && places.any(changed)
    };
    if !parts.story.resolves_conflict() {
        return Vec::new();
    }
    parts.state.stories.iter().filter(is_concerned).collect()
}
