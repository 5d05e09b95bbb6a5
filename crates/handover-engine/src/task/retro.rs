//! The retrospective of an epic.

use handover_text::tokens::for_model;

use super::{TaskKind, TaskParts, section};
use crate::retro::{Criteria, digest};

/// How many tokens the account of all stories may have, however many there are.
const TOKENS: u64 = 6_000;

pub(super) const KIND: TaskKind = TaskKind {
    what: "Look back on epic",
    who: "You look back on an epic: what went well, what did not, and what the next one should know. You say \
          what is true of this project and would surprise somebody new; no platitudes.",
    first_look: "",
    is_cold: false,
    sees_work: false,
    fields: ", \"retro\": {\"summary\": \"…\", \"went_well\": [\"…\"], \"went_badly\": [\"…\"], \"actions\": [\"…\"], \
             \"patterns\": [{\"text\": \"…\", \"why\": \"…\", \"file\": \"…\"}], \"decisions\": [{\"text\": \"…\", \
             \"why\": \"…\"}], \"gotchas\": [{\"text\": \"…\", \"file\": \"…\"}], \"files\": [{\"file\": \"…\", \
             \"why\": \"…\"}], \"test_conventions\": [\"…\"]}",
    signals: "`RETRO COMPLETE: Epic <number of the epic>`",
    body,
};

fn body(out: &mut String, parts: &TaskParts<'_>) {
    section(out, "The stories", "text", &epic_digest(parts, &parts.documents.criteria), usize::MAX);
}

/// How each story of the epic went, shortened to fit.
pub(super) fn epic_digest(parts: &TaskParts<'_>, criteria: &Criteria) -> String {
    digest(parts.state, criteria, for_model(parts.state.options.model.as_deref()), TOKENS)
}
