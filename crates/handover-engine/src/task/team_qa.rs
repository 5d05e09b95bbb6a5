//! A QA expert of a team tests the work.

use super::{Kind, PATCH, TaskParts, section, team};

pub(super) const KIND: Kind = Kind {
    what: "Test the work on one story of epic",
    who: "You test what a developer of your team has built: does it do what the story asks for, also at its \
          edges, and do its tests prove it? Run what you need; what you change is taken back. Say what \
          fails, exactly and so that somebody else can mend it.",
    is_cold: false,
    sees_work: true,
    fields: ", \"findings\": [{\"severity\": \"high|medium|low\", \"file\": \"…\", \"line\": 1, \"issue\": \"…\"}]",
    signals: "",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    team(out, parts);
    section(out, "The work", "diff", parts.patch, PATCH);
}
