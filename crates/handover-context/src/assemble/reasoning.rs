//! The digest of other agents' reasoning.

use std::collections::BTreeMap;

use handover_model::roles::RoleRules;
use handover_model::{Fate, ItemKind, Phase, Reasoning, ReasoningLevel, Tokenizer};
use handover_store::{ReasoningFilter, Result};
use handover_text::tokens;

use super::learned::{says_the_same, word_set};
use super::{ContextRequest, Explained, ItemId, PackedReasoning, Redactions, Sources, render};

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

/// Whether a level includes a phase.
fn includes(level: ReasoningLevel, phase: Phase) -> bool {
    match level {
        ReasoningLevel::Minimal => matches!(phase, Phase::Completion | Phase::Decisions),
        ReasoningLevel::Medium => !matches!(phase, Phase::Blockers | Phase::Pivot),
        ReasoningLevel::Full => true,
    }
}

/// The most entries of a role, and of all together.
fn limits(level: ReasoningLevel) -> (usize, usize) {
    match level {
        ReasoningLevel::Minimal => (2, 5),
        ReasoningLevel::Medium => (5, 10),
        ReasoningLevel::Full => (usize::MAX, usize::MAX),
    }
}

/// Shorter forms that are tried before an entry is left out, in characters.
const FORMS: [usize; 3] = [MAX_CHARS, 150, 80];

/// Earlier attempts start at a shorter form.
const EARLIER_FORMS: [usize; 2] = [150, 80];

/// The chosen entries, and why each candidate is in or out.
#[derive(Default)]
pub(super) struct Digest {
    pub(super) entries: Vec<PackedReasoning>,
    pub(super) explained: Vec<Explained>,
}

/// What a digest is limited by.
pub(super) struct Limits<'a> {
    pub(super) rules: &'a RoleRules,
    pub(super) level: ReasoningLevel,
    pub(super) room: u64,
    pub(super) tokenizer: Tokenizer,
}

/// Chooses from what the sources of a role thought: the newest attempt of each first, and within it the
/// completion. What `shown` says already is left out.
pub(super) fn digest(
    sources: Sources<'_>,
    request: &ContextRequest,
    limits_of: &Limits<'_>,
    shown: &[&str],
    redactions: &mut Redactions,
) -> Result<Digest> {
    let Limits { rules, level, room, tokenizer } = *limits_of;
    let mut entries = sources.store.reasoning(&request.session, &ReasoningFilter::default())?;
    // What concerns the whole session concerns every group.
    entries.retain(|entry| {
        (request.group.is_none() || entry.group.is_none() || entry.group == request.group)
            && rules.sources.include(&entry.role)
            && rules.phases.contains(&entry.phase)
            && (rules.phases.len() <= 3 || includes(level, entry.phase))
    });
    let behind = Attempts::of(&entries);
    // The listing is newest first, and the sort is stable.
    entries.sort_by_key(|entry| (behind.of_entry(entry), rank(entry.phase)));
    let (per_role, in_all) = limits(level);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut said: Vec<_> = shown.iter().map(|text| word_set(text)).collect();
    let (mut digest, mut left) = (Digest::default(), room);
    for entry in entries {
        let count = counts.entry(entry.role.to_string()).or_default();
        let explained =
            |fate| Explained::plain(ItemKind::Reasoning, ItemId::Number(entry.id.0), fate);
        if digest.entries.len() >= in_all || *count >= per_role {
            digest.explained.push(explained(Fate::OverTheLimit));
            continue;
        }
        let content = redactions.clean(sources.redactor, &entry.content).one_line();
        let words = word_set(content.as_str());
        if said.iter().any(|shown| says_the_same(shown, &words)) {
            digest.explained.push(explained(Fate::ShownAlready));
            continue;
        }
        let forms: &[usize] = if behind.of_entry(&entry) == 0 { &FORMS } else { &EARLIER_FORMS };
        let packed = forms.iter().find_map(|chars| {
            let mut packed = PackedReasoning {
                id: entry.id,
                role: entry.role.clone(),
                phase: entry.phase,
                attempt: entry.iteration + 1,
                confidence: entry.confidence,
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
                said.push(words);
                digest.entries.push(packed);
            }
            None => digest.explained.push(explained(Fate::OverTheBudget)),
        }
    }
    Ok(digest)
}

/// The latest attempt of each role in each group.
struct Attempts(BTreeMap<(String, Option<String>), u32>);

impl Attempts {
    fn of(entries: &[Reasoning]) -> Self {
        let mut latest = BTreeMap::new();
        for entry in entries {
            let attempt: &mut u32 = latest.entry(Self::key(entry)).or_default();
            *attempt = (*attempt).max(entry.iteration);
        }
        Self(latest)
    }

    fn key(entry: &Reasoning) -> (String, Option<String>) {
        (entry.role.to_string(), entry.group.as_ref().map(ToString::to_string))
    }

    /// How many attempts an entry is behind the latest of its role.
    fn of_entry(&self, entry: &Reasoning) -> u32 {
        self.0.get(&Self::key(entry)).map_or(0, |latest| latest - entry.iteration)
    }
}
