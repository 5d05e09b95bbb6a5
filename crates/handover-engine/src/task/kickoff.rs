//! Somebody looks at a story before anybody works on it.

use super::{Kind, TaskParts};

pub(super) const KIND: Kind = Kind {
    what: "Look at one story before the work on it begins, of epic",
    who: "You look at a story and at the code that it is about before somebody else implements it. Say \
          what they should know: structure, a way to do it, how to test it, what can go wrong. You only \
          look: change nothing.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`KICKOFF COMPLETE: <story id>`",
    body,
};

fn body(_out: &mut String, _parts: &TaskParts<'_>) {}
