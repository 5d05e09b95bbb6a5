//! A conversation starts with an empty window: the state of the work in a few lines.

use handover_model::{Group, GroupStatus, Package, Reasoning, SessionId, Tokenizer};
use handover_text::cut::cut;
use handover_text::quote::quote_inline;
use handover_text::tokens;

/// What the lines may cost.
pub const MAX_TOKENS: u64 = 300;

/// How long one of them may be.
const LINE_CHARS: usize = 200;

/// What is known of the work, each list with the most important first.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// The groups of the session.
    pub groups: Vec<Group>,
    /// Critical packages that nobody was given yet.
    pub critical: Vec<Package>,
    /// What was decided last.
    pub decisions: Vec<Reasoning>,
}

/// The state of the work; none if there is nothing to tell.
pub fn restore(session: &SessionId, work: &Work, tokenizer: Tokenizer) -> Option<String> {
    let groups = work.groups.iter().filter(|group| is_open(group.status)).map(|group| {
        let title = group.title.as_deref().map_or_else(String::new, |title| format!(": {title}"));
        format!("Open group {} ({}){title}", group.id, group.status)
    });
    let critical = work.critical.iter().map(|package| {
        format!("Critical, and nobody has it yet: {} – {}", package.path, package.summary)
    });
    let decisions =
        work.decisions.iter().map(|entry| format!("Decided by {}: {}", entry.role, entry.content));
    let mut text = format!("State of the work in Handover session {session}:\n");
    let opening = text.len();
    for line in critical.chain(groups).chain(decisions) {
        // What is stored is data: it fakes neither a heading nor a marker of ours.
        let line = format!("- {}\n", quote_inline(&cut(&line, LINE_CHARS)));
        let longer = format!("{text}{line}");
        if tokens::count(tokenizer, &longer) <= MAX_TOKENS {
            text = longer;
        }
    }
    (text.len() > opening).then_some(text)
}

fn is_open(status: GroupStatus) -> bool {
    match status {
        GroupStatus::Pending
        | GroupStatus::InProgress
        | GroupStatus::ApprovedPendingMerge
        | GroupStatus::Merging => true,
        GroupStatus::Completed | GroupStatus::Failed => false,
    }
}
