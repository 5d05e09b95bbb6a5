//! A look at a story before the work starts.

use super::{TaskKind, TaskParts};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Look at one story before the work on it starts, of epic",
    who: "You look at a story and at the code that it is about before somebody else implements it. Say \
          what they should know: structure, approach, tests, risks.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`KICKOFF COMPLETE: <story id>`",
    body,
};

fn body(_out: &mut String, _parts: &TaskParts<'_>) {}
