//! The digest of other agents' reasoning.

use std::collections::BTreeMap;

use handover_model::roles::RoleRules;
use handover_model::{Fate, ItemKind, Phase, Reasoning, ReasoningLevel, Tokenizer};
use handover_store::{ReasoningFilter, Result};
use handover_text::tokens;

use super::{ContextRequest, Explained, ItemId, PackedReasoning, Redactions, Sources, render};

const MAX_ENTRIES: usize = 5;
const MAX_PER_ROLE: usize = 2;
const MAX_CHARS: usize = 300;

/// Completion first, then decisions, then understanding, then the rest.
fn rank(phase: Phase) -> u8 {
    match phase {
        Phase::Completion => 0,
        Phase::Decisions => 1,
        Phase::Understanding => 2,
        Phase::Approach | Phase::Risks | Phase::Blockers | Phase::Pivot => 3,
    }
}

/// Shorter forms that are tried before an entry is left out, in characters.
const FORMS: [usize; 3] = [MAX_CHARS, 150, 80];

/// The chosen entries, and why each candidate is in or out.
pub(super) struct Digest {
    pub(super) entries: Vec<PackedReasoning>,
    pub(super) explained: Vec<Explained>,
}

pub(super) fn digest(
    sources: Sources<'_>,
    request: &ContextRequest,
    rules: &RoleRules,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Digest> {
    let filter = ReasoningFilter { group: request.group.clone(), ..ReasoningFilter::default() };
    let minimal = request.reasoning_level == ReasoningLevel::Minimal;
    let mut entries: Vec<Reasoning> = sources
        .store
        .reasoning(&request.session, &filter)?
        .into_iter()
        .filter(|entry| rules.sources.include(&entry.role) && rules.phases.contains(&entry.phase))
        .filter(|entry| !minimal || rank(entry.phase) <= 1)
        .collect();
    // The listing is newest first, and the sort is stable.
    entries.sort_by_key(|entry| rank(entry.phase));
    let mut per_role: BTreeMap<String, usize> = BTreeMap::new();
    let mut digest = Digest { entries: Vec::new(), explained: Vec::new() };
    let mut left = room;
    for entry in entries {
        let count = per_role.entry(entry.role.to_string()).or_default();
        let explained =
            |fate| Explained::plain(ItemKind::Reasoning, ItemId::Number(entry.id.0), fate);
        if digest.entries.len() == MAX_ENTRIES || *count == MAX_PER_ROLE {
            digest.explained.push(explained(Fate::OverTheLimit));
            continue;
        }
        let content = redactions.clean(sources.redactor, &entry.content).one_line();
        let packed = FORMS.iter().find_map(|chars| {
            let mut packed = PackedReasoning {
                id: entry.id,
                role: entry.role.clone(),
                phase: entry.phase,
                content: content.cut(*chars).as_str().to_owned(),
                tokens: 0,
            };
            packed.tokens = tokens::count(tokenizer, &render::reasoning(&packed));
            (packed.tokens <= left).then_some(packed)
        });
        match packed {
            Some(packed) => {
                left -= packed.tokens;
                *count += 1;
                let whole = packed.content.chars().count() >= content.as_str().chars().count();
                digest.explained.push(explained(if whole {
                    Fate::Fits
                } else {
                    Fate::FitsShortened
                }));
                digest.entries.push(packed);
            }
            None => digest.explained.push(explained(Fate::OverTheBudget)),
        }
    }
    Ok(digest)
}
