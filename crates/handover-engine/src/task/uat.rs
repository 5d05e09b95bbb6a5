//! Somebody says how a person can try the work out.

use super::retro::stories;
use super::{DETAIL, Kind, TaskParts, section};

pub(super) const KIND: Kind = Kind {
    what: "Say how a person can try out epic",
    who: "You write down how a person tries out what an epic has built, step by step, with what to expect.",
    is_cold: false,
    sees_work: false,
    fields: "",
    signals: "`UAT GENERATED: <path of the document>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    section(out, "The stories", "text", &stories(parts), DETAIL);
}
