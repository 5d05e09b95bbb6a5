//! The digest of what other agents thought.

use std::collections::BTreeMap;

use handover_model::roles::RoleRules;
use handover_model::{Phase, Reasoning, ReasoningLevel, Tokenizer};
use handover_store::{ReasoningFilter, Result};
use handover_text::tokens;

use super::{PackedReasoning, Redactions, Request, Setting, render};

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

pub(super) fn digest(
    setting: Setting<'_>,
    request: &Request,
    rules: &RoleRules,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Vec<PackedReasoning>> {
    let filter = ReasoningFilter { group: request.group.clone(), ..ReasoningFilter::default() };
    let minimal = request.reasoning_level == ReasoningLevel::Minimal;
    let mut entries: Vec<Reasoning> = setting
        .store
        .reasoning(&request.session, &filter)?
        .into_iter()
        .filter(|entry| rules.sources.include(&entry.role) && rules.phases.contains(&entry.phase))
        .filter(|entry| !minimal || rank(entry.phase) <= 1)
        .collect();
    // The listing is newest first, and the sort is stable.
    entries.sort_by_key(|entry| rank(entry.phase));
    let mut per_role: BTreeMap<String, usize> = BTreeMap::new();
    let (mut digest, mut left) = (Vec::new(), room);
    for entry in entries {
        let count = per_role.entry(entry.role.to_string()).or_default();
        if digest.len() == MAX_ENTRIES || *count == MAX_PER_ROLE {
            continue;
        }
        let content = redactions.clean(setting.redactor, &entry.content).one_line().cut(MAX_CHARS);
        let mut packed = PackedReasoning {
            id: entry.id,
            role: entry.role,
            phase: entry.phase,
            content: content.as_str().to_owned(),
            tokens: 0,
        };
        packed.tokens = tokens::count(tokenizer, &render::reasoning(&packed));
        if packed.tokens <= left {
            left -= packed.tokens;
            *count += 1;
            digest.push(packed);
        }
    }
    Ok(digest)
}
