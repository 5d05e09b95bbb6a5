//! A team's tech lead decides about the work and helps members who are stuck.

use super::{PATCH, TaskKind, TaskParts, section, team};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Decide about the work on one story of epic",
    who: "You lead a team and decide whether work is committed: is it correct, simple, safe and in the right \
          place? A developer who is stuck gets guidance from you instead. What you ask for is done by \
          another agent, who knows no more than what you write.",
    first_look: "",
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
