//! The digest of other agents' reasoning.

use std::collections::{BTreeMap, HashMap, HashSet};

use handover_model::roles::{Duty, RoleRules, writes_code};
use handover_model::{
    Fate, ItemKind, Phase, Reasoning, ReasoningId, ReasoningLevel, Role, Tokenizer,
};
use handover_store::{ReasoningFilter, Result};
use handover_text::{cut, tokens};

use super::admit::Admission;
use super::alive::{self, CHECKED};
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
    /// Whether an attempt was blocked: then what blocked it matters at any level.
    pub(super) blocked: bool,
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
    let Limits { rules, level, room, tokenizer, blocked } = *limits_of;
    let mut entries = sources.store.reasoning(&request.session, &ReasoningFilter::default())?;
    // An agent that takes over a second time builds on what it found the first time.
    let continues = request.iteration > 0 && Duty::of(&request.role) == Duty::Rescues;
    // What concerns the whole session concerns every group.
    entries.retain(|entry| {
        (request.group.is_none() || entry.group.is_none() || entry.group == request.group)
            && (rules.sources.include(&entry.role) || continues && entry.role == request.role)
            && rules.phases.contains(&entry.phase)
            && (rules.phases.len() <= 3
                || includes(level, entry.phase)
                || blocked && entry.phase == Phase::Blockers)
    });
    let attempts = Attempts::of(&entries);
    // The listing is newest first, and the sort is stable.
    entries.sort_by_key(|entry| (attempts.behind(entry), rank(entry.phase)));
    // Among those of the same weight, what is about things that are gone comes last.
    let best = entries.iter().take(CHECKED);
    let gone = best.filter(|entry| alive::subject_is_gone(sources.fresh, &entry.content));
    let gone: HashSet<ReasoningId> = gone.map(|entry| entry.id).collect();
    if !gone.is_empty() {
        let sunk = |entry: &Reasoning| gone.contains(&entry.id);
        entries.sort_by_key(|entry| (attempts.behind(entry), rank(entry.phase), sunk(entry)));
    }
    let admission = Admission::of(sources.config, &request.role);
    let (per_role, in_all) = limits(level);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut said: Vec<_> = shown.iter().map(|text| word_set(text)).collect();
    let (mut digest, mut left) = (Digest::default(), room);
    for entry in entries {
        let count = counts.entry(entry.role.to_string()).or_default();
        let explained = |fate| {
            Explained::plain(ItemKind::Reasoning, ItemId::Number(entry.id.0), fate, entry.trust)
        };
        // What a judge said before is settled by what it said since; only those who rescue need the story.
        let is_judge = Duty::of(&entry.role) == Duty::Judges;
        if is_judge && Duty::of(&request.role) != Duty::Rescues && attempts.is_old(&entry) {
            digest.explained.push(explained(Fate::Settled));
            continue;
        }
        if digest.entries.len() >= in_all || *count >= per_role {
            digest.explained.push(explained(Fate::OverTheLimit));
            continue;
        }
        let content = redactions.clean(sources.redactor, &entry.content).one_line();
        let content = alive::annotated(sources.fresh, content.as_str().to_owned());
        let flags = match admission.check(entry.trust, [content.as_str()]) {
            Ok(flags) => flags,
            Err(fate) => {
                digest.explained.push(explained(fate));
                continue;
            }
        };
        let words = word_set(&content);
        if said.iter().any(|shown| says_the_same(shown, &words)) {
            digest.explained.push(explained(Fate::ShownAlready));
            continue;
        }
        let forms: &[usize] = if attempts.behind(&entry) == 0 { &FORMS } else { &EARLIER_FORMS };
        let packed = forms.iter().find_map(|chars| {
            let mut packed = PackedReasoning {
                id: entry.id,
                role: entry.role.clone(),
                phase: entry.phase,
                attempt: attempts.of_entry(&entry) + 1,
                group: entry.group.clone().filter(|_| request.group.is_none()),
                confidence: entry.confidence,
                content: cut::cut(&content, *chars),
                trust: entry.trust,
                flags: flags.clone(),
                stale: Vec::new(),
                tokens: 0,
            };
            packed.tokens = tokens::count(tokenizer, &render::reasoning(&packed));
            (packed.tokens <= left).then_some(packed)
        });
        match packed {
            Some(packed) => {
                left -= packed.tokens;
                *count += 1;
                let whole = packed.content.chars().count() >= content.chars().count();
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

/// The attempts that entries are about.
struct Attempts {
    /// The latest of each role in each group.
    latest: BTreeMap<(String, Option<String>), u32>,
    /// What judges said is about the attempt before it: its role and number.
    judged: BTreeMap<ReasoningId, (Role, u32)>,
}

impl Attempts {
    /// Of a listing that is newest first.
    fn of(entries: &[Reasoning]) -> Self {
        let mut latest = BTreeMap::new();
        for entry in entries {
            let attempt: &mut u32 = latest.entry(key(&entry.role, entry)).or_default();
            *attempt = (*attempt).max(entry.iteration);
        }
        let (mut work, mut judged) = (HashMap::new(), BTreeMap::new());
        for entry in entries.iter().rev() {
            if writes_code(&entry.role) {
                work.insert(&entry.group, (entry.role.clone(), entry.iteration));
            } else if Duty::of(&entry.role) == Duty::Judges
                && let Some(attempt) = work.get(&entry.group)
            {
                judged.insert(entry.id, attempt.clone());
            }
        }
        Self { latest, judged }
    }

    /// The number of the attempt that an entry is about, from 0.
    fn of_entry(&self, entry: &Reasoning) -> u32 {
        self.judged.get(&entry.id).map_or(entry.iteration, |(_, attempt)| *attempt)
    }

    /// Whether its author said something in a later attempt of its own.
    fn is_old(&self, entry: &Reasoning) -> bool {
        self.latest.get(&key(&entry.role, entry)).is_some_and(|latest| entry.iteration < *latest)
    }

    /// How many attempts an entry is behind the latest.
    fn behind(&self, entry: &Reasoning) -> u32 {
        let role = self.judged.get(&entry.id).map_or(&entry.role, |(role, _)| role);
        let latest = self.latest.get(&key(role, entry)).copied().unwrap_or_default();
        latest.saturating_sub(self.of_entry(entry))
    }
}

/// A role in the group of an entry.
fn key(role: &Role, entry: &Reasoning) -> (String, Option<String>) {
    (role.to_string(), entry.group.as_ref().map(ToString::to_string))
}
