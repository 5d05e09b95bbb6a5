//! A tech lead of a team decides about the work, and helps whoever is stuck.

use super::{Kind, PATCH, TaskParts, section, team};

pub(super) const KIND: Kind = Kind {
    what: "Decide about the work on one story of epic",
    who: "You lead a team and decide whether work can be kept: is it right, simple, safe and in its place? \
          Whoever is stuck gets guidance from you instead. You only look: what you ask for is done by \
          somebody else, who knows no more than what you write.",
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
