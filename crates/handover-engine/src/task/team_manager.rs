//! A project manager of a team closes an epic.

use super::retro::epic_digest;
use super::{Kind, TaskParts, section};

pub(super) const KIND: Kind = Kind {
    what: "Close epic",
    who: "You manage a team whose work on an epic has come to its end. Hold what was asked for against how \
          each story ended, and say whether everything is there, or exactly what is not. You only look.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    section(out, "The stories", "text", &epic_digest(parts), usize::MAX);
}
