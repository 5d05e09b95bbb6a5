//! A fix of what gates or a review found.

use super::{DETAIL, TaskKind, TaskParts, advice, findings, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Fix the work on one story of epic",
    who: "You fix what checks found in the work of another developer. Fix exactly that, and the \
          cause rather than the symptom; never weaken or delete a test to make it pass.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`IMPLEMENTATION COMPLETE: <story id>` or `IMPLEMENTATION BLOCKED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let story = parts.story;
    section(out, "What was found", "text", &findings(&story.findings), DETAIL);
    if !story.gate_detail.is_empty() {
        section(out, "What the checks printed", "text", &story.gate_detail, DETAIL);
    }
    advice(out, parts);
}
