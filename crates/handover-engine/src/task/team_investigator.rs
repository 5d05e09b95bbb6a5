//! A team's investigator looks into unexplained failures.

use super::{DETAIL, PATCH, TaskKind, TaskParts, section, team};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Find out what blocks one story of epic",
    who: "You find out why something does not work that your team cannot explain: state what you observe, \
          form hypotheses, test them, and say which one holds and how you know.",
    first_look: "",
    is_cold: false,
    sees_work: true,
    fields: ", \"findings\": [{\"severity\": \"high|medium|low\", \"file\": \"…\", \"line\": 1, \"issue\": \"…\"}]",
    signals: "",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    team(out, parts);
    if !parts.story.gate_detail.is_empty() {
        section(out, "What the checks printed", "text", &parts.story.gate_detail, DETAIL);
    }
    section(out, "The work", "diff", parts.patch, PATCH);
}
