//! The review of a story by an agent that sees the work for the first time.

use super::{PATCH, TaskKind, TaskParts, developer, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Review the work on one story of epic",
    first_look: "You are seeing this code for the first time. ",
    who: "You review code. Look for what is wrong: \
          missing behavior that the story asks for, unhandled errors, tests that prove nothing, \
          secrets, broken boundaries. Do not invent findings; an empty list is a valid result. Grade each: \
          high must be fixed before the commit, medium should be, low is a remark. \
          Another agent fixes what you find.",
    is_cold: true,
    sees_work: true,
    fields: ", \"findings\": [{\"severity\": \"high|medium|low\", \"file\": \"…\", \"line\": 1, \"issue\": \"…\"}]",
    signals: "`REVIEW PASSED: <story id>`, `REVIEW PASSED WITH FIXES: <story id> - <what>` or \
              `REVIEW FAILED: <story id> - <reason>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    developer(out, parts);
    section(out, "The work", "diff", parts.patch, PATCH);
}
