//! The implementation of a story.

use handover_model::RunPhase;

use super::{DETAIL, TaskKind, TaskParts, advice, findings, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Implement one story of epic",
    who: "You implement one story, with tests, in one go. Nobody answers while you work: decide what you \
          can, and say what you decided. If only a person can decide, stop and report the question.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: super::WORK_FIELDS,
    signals: "`IMPLEMENTATION COMPLETE: <story id>` or `IMPLEMENTATION BLOCKED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let insights = parts.story.record.iter().filter(|end| end.phase == RunPhase::Kickoff);
    let earlier = parts.story.planned.earlier.as_ref().and_then(|it| it.kickoff.as_deref());
    for text in insights.map(|end| end.summary.as_str()).chain(earlier) {
        section(out, "Story Kickoff Insights", "text", text, DETAIL);
    }
    if !parts.story.findings.is_empty() {
        section(out, "What was found", "text", &findings(&parts.story.findings), DETAIL);
    }
    advice(out, parts);
}
