//! A look at a story before the work starts.

use super::{TaskKind, TaskParts};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Before the work starts, look at one story of epic",
    who: "You look at a story, and at the code that it is about, before another agent implements it. Say what \
          that agent should know: structure, approach, tests, risks.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`KICKOFF COMPLETE: <story id>`",
    body,
};

fn body(_out: &mut String, _parts: &TaskParts<'_>) {}
