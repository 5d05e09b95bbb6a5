//! The implementation of a story.

use handover_model::RunPhase;

use super::{DETAIL, TaskKind, TaskParts, advice, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Implement one story of epic",
    who: "You implement one story, with tests, in one go. Nobody can answer questions: decide, and say \
          what you decided. If something outside your control stops you, report that you are blocked.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`IMPLEMENTATION COMPLETE: <story id>` or `IMPLEMENTATION BLOCKED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let insights = parts.story.record.iter().filter(|end| end.phase == RunPhase::Kickoff);
    for end in insights {
        section(out, "Story Kickoff Insights", "text", &end.summary, DETAIL);
    }
    advice(out, parts);
}
