//! A team's QA expert tests the work.

use super::{PATCH, TaskKind, TaskParts, section, team};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Test the work on one story of epic",
    who: "You test what a developer of your team has built: does it do what the story asks for, including \
          edge cases, and do its tests prove it? Run what you need. Say exactly what fails, so that another \
          agent can fix it.",
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
