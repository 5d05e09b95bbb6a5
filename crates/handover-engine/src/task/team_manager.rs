//! A team's project manager closes an epic.

use super::retro::epic_digest;
use super::{TaskKind, TaskParts, section};

pub(super) const KIND: TaskKind = TaskKind {
    what: "Close epic",
    who: "You manage a team that has finished its work on an epic. Compare what was asked for with how each \
          story ended, and say whether everything is done, or exactly what is missing.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    section(out, "The stories", "text", &epic_digest(parts, &parts.documents.criteria), usize::MAX);
}
