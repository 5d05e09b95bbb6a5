//! Somebody who has not seen it looks at the work.

use handover_model::RunPhase;

use super::{DETAIL, Kind, PATCH, TaskParts, said, section};

pub(super) const KIND: Kind = Kind {
    what: "Review the work on one story of epic",
    who: "You review code. You are seeing this code for the first time. Look for what is wrong: \
          behaviour that the story asks for and that is missing, errors that are not handled, tests \
          that prove nothing, secrets, broken boundaries. Do not invent findings; none is a result. \
          You only look: change nothing, your findings are mended by somebody else.",
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
