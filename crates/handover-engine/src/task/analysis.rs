//! The analysis of a failure.

use crate::reducer::Failure;

use super::{DETAIL, PATCH, TaskKind, TaskParts, findings, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Say what to do about the failure of one story of epic",
    who: "You find out why the work on a story failed and say what to do: retry, with what the next \
          agent must know that the last one did not; skip the story; or escalate, with the exact question \
          that a person must answer.",
    first_look: "",
    is_cold: false,
    sees_work: true,
    fields: "",
    signals: "`ANALYSIS COMPLETE: <story id> - Retry`, `… - Skip` or `… - Escalate`, with the reason after it",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let story = parts.story;
    if !story.reason.is_empty() {
        section(out, "How it failed", "text", &story.reason, DETAIL);
    }
    if !story.findings.is_empty() {
        section(out, "What was found", "text", &findings(&story.findings), DETAIL);
    }
    if !story.gate_detail.is_empty() {
        section(out, "What the checks printed", "text", &story.gate_detail, DETAIL);
    }
    let earlier = story.failures.iter().rev().skip(1).rev();
    for Failure { reason, advice, .. } in earlier {
        let text = format!("{reason}\n\n{}", advice.as_deref().unwrap_or_default());
        section(out, "An earlier failure, and what was said about it", "text", &text, DETAIL);
    }
    section(out, "The work", "diff", parts.patch, PATCH);
}
