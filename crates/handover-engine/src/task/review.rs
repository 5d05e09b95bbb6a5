//! The review of a story by an agent that sees the work for the first time.

use handover_model::RunPhase;

use super::{DETAIL, PATCH, TaskKind, TaskParts, said, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Review the work on one story of epic",
    who: "You review code. You are seeing this code for the first time. Look for what is wrong: \
          missing behavior that the story asks for, unhandled errors, tests that prove nothing, \
          secrets, broken boundaries. Do not invent findings; an empty list is a valid result. \
          You are read-only: another agent fixes what you find.",
    is_cold: true,
    sees_work: true,
    fields: ", \"findings\": [{\"severity\": \"high|medium|low\", \"file\": \"…\", \"line\": 1, \"issue\": \"…\"}]",
    signals: "`REVIEW PASSED: <story id>`, `REVIEW PASSED WITH FIXES: <story id> - <what>` or \
              `REVIEW FAILED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    let is_work = |phase| matches!(phase, RunPhase::Dev | RunPhase::Fix);
    if let Some(record) = parts.story.record.iter().rev().find(|end| is_work(end.phase)) {
        section(out, "What the developer says", "text", &said(record), DETAIL);
    }
    section(out, "The work", "diff", parts.patch, PATCH);
}
