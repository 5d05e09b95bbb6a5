//! Why the work came back, and what happened to it before.
//!
//! Agents that repair work read first why it was sent back. Those it is escalated to also read the
//! whole story of the group. Both are shortened until they fit, and the reason is never left out.

use handover_model::roles::Duty;
use handover_model::{Fate, GroupId, ItemKind, Role, Tokenizer, Verdict, VerdictId, VerdictRecord};
use handover_text::{Clean, tokens};
use serde::Serialize;

use super::{ContextRequest, Explained, ItemId, Redactions, Sources, render};

/// The most steps of a story.
const MAX_STEPS: usize = 12;

/// Ever shorter forms of a judgement: characters of the summary, findings, characters of each.
const FORMS: [(usize, usize, usize); 5] =
    [(1_200, 12, 300), (600, 8, 200), (300, 5, 150), (160, 3, 100), (120, 0, 0)];

/// Ever shorter forms of a step, in characters.
const STEP_CHARS: [usize; 4] = [240, 160, 100, 60];

/// A verdict as the block shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownVerdict {
    /// The stored verdict.
    pub id: VerdictId,
    /// The role that gave it.
    pub role: Role,
    /// The attempt that it ended, from 1.
    pub attempt: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The summary, shortened to fit.
    pub summary: String,
    /// What has to be fixed, shortened to fit.
    pub findings: Vec<String>,
}

/// What a block says about earlier attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct History {
    /// The judgement that sent the work back.
    pub(super) sent_back: Option<ShownVerdict>,
    /// How every attempt and judgement ended, oldest first.
    pub(super) steps: Vec<ShownVerdict>,
    /// How many older steps are not shown.
    pub(super) older: usize,
    /// The attempt that the agent makes, from 1.
    pub(super) attempt: u32,
}

impl History {
    /// Tokens of the sections.
    pub(super) fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        let text = render::history(self);
        if text.is_empty() { 0 } else { tokens::count(tokenizer, &text) }
    }

    /// What the sections say, so that nothing else says it again.
    pub(super) fn said(&self) -> Vec<&str> {
        let shown = self.sent_back.iter().chain(&self.steps);
        let texts = shown.flat_map(|shown| shown.findings.iter().chain([&shown.summary]));
        texts.map(String::as_str).collect()
    }

    /// The ids of the verdicts that are shown.
    pub(super) fn ids(&self) -> Vec<VerdictId> {
        let mut ids: Vec<VerdictId> =
            self.sent_back.iter().chain(&self.steps).map(|shown| shown.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Removes the oldest step; `false` if there is none.
    pub(super) fn drop_step(&mut self) -> bool {
        if self.steps.is_empty() {
            return false;
        }
        self.steps.remove(0);
        self.older += 1;
        true
    }
}

/// What an agent that repairs work reads about earlier attempts, in at most `room` tokens if that
/// can be done without leaving the reason out.
pub(super) fn history(
    sources: Sources<'_>,
    request: &ContextRequest,
    verdicts: &[VerdictRecord],
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> (History, Vec<Explained>) {
    let duty = Duty::of(&request.role);
    if !duty.repairs() {
        return Default::default();
    }
    // What concerns the whole session concerns every group.
    let concerns = |group: &Option<GroupId>| group.is_none() || *group == request.group;
    let verdicts: Vec<&VerdictRecord> =
        verdicts.iter().filter(|verdict| concerns(&verdict.group)).collect();
    let last = verdicts.iter().find(|verdict| is_judgement(verdict));
    let sent_back = last.filter(|last| last.verdict.sends_back());
    let story = duty == Duty::Rescues && !verdicts.is_empty();
    if sent_back.is_none() && !story {
        return Default::default();
    }
    let mut clean = |record| CleanVerdict::new(record, sources, redactions);
    let mut history = History { attempt: request.iteration + 1, ..History::default() };
    if let Some(record) = sent_back {
        // Half of the room is for the story, if there is one.
        let (room, record) = (if story { room / 2 } else { room }, clean(record));
        for (summary, findings, each) in FORMS {
            history.sent_back = Some(record.shown(summary, findings, each));
            if history.tokens(tokenizer) <= room {
                break;
            }
        }
    }
    if story {
        let steps: Vec<CleanVerdict<'_>> =
            verdicts.iter().take(MAX_STEPS).rev().map(|record| clean(record)).collect();
        history.older = verdicts.len() - steps.len();
        for chars in STEP_CHARS {
            history.steps = steps.iter().map(|step| step.shown(chars, 0, 0)).collect();
            if history.tokens(tokenizer) <= room {
                break;
            }
        }
        while history.tokens(tokenizer) > room && history.drop_step() {}
    }
    let explained = explained(&history, &verdicts);
    (history, explained)
}

/// A verdict whose text has passed redaction.
struct CleanVerdict<'a> {
    record: &'a VerdictRecord,
    summary: Clean,
    findings: Vec<Clean>,
}

impl<'a> CleanVerdict<'a> {
    fn new(record: &'a VerdictRecord, sources: Sources<'_>, redactions: &mut Redactions) -> Self {
        let mut clean = |text: &str| redactions.clean(sources.redactor, text).one_line();
        let summary = clean(record.summary.as_deref().unwrap_or_default());
        let findings = record.findings.iter().map(|finding| clean(finding)).collect();
        Self { record, summary, findings }
    }

    fn shown(&self, summary: usize, findings: usize, each: usize) -> ShownVerdict {
        let cut = |text: &Clean, chars| text.cut(chars).as_str().to_owned();
        ShownVerdict {
            id: self.record.id,
            role: self.record.role.clone(),
            attempt: self.record.iteration + 1,
            verdict: self.record.verdict,
            summary: cut(&self.summary, summary),
            findings: self.findings.iter().take(findings).map(|text| cut(text, each)).collect(),
        }
    }
}

/// Whether a verdict accepts work or sends it back: a worker's own does neither.
fn is_judgement(record: &VerdictRecord) -> bool {
    let judges = matches!(Duty::of(&record.role), Duty::Judges | Duty::Other);
    judges && (record.verdict.accepts() || record.verdict.sends_back())
}

fn explained(history: &History, verdicts: &[&VerdictRecord]) -> Vec<Explained> {
    let ids = history.ids();
    let explain = |record: &&VerdictRecord| {
        let fate = if ids.contains(&record.id) { Fate::Fits } else { Fate::OverTheLimit };
        Explained::plain(ItemKind::Verdict, ItemId::Number(record.id.0), fate)
    };
    verdicts.iter().map(explain).collect()
}
