//! Why the work came back, and what happened to it before.
//!
//! Agents that repair work read first why it was sent back, and those that judge it again what was asked for.
//! Those it is escalated to also read the whole story of the group, and judges what was done since. Both are
//! shortened until they fit, and the reason is never left out.

use std::collections::HashSet;

use handover_model::roles::{Duty, ORCHESTRATOR, writes_code};
use handover_model::{
    Fate, GroupId, ItemKind, Role, ScreenFlag, Tokenizer, Trust, Verdict, VerdictId, VerdictRecord,
};
use handover_text::{Clean, tokens};
use serde::Serialize;

use super::admit::{self, Admission};
use super::{ContextRequest, Explained, ItemId, Redactions, Sources, render_history};

/// The most steps of a story.
const MAX_STEPS: usize = 12;

/// Ever shorter forms of a judgement: characters of the summary, findings, characters of each.
const FORMS: [(usize, usize, usize); 6] =
    [(1_200, 12, 300), (600, 8, 200), (300, 5, 150), (160, 3, 100), (120, 2, 80), (80, 1, 80)];

/// So many of the forms are long: they leave half of the room to the story. The others leave it a step.
const LONG_FORMS: usize = 3;

/// Ever shorter forms of a step, in characters.
const STEP_CHARS: [usize; 4] = [240, 160, 100, 60];

/// A verdict as the block shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownVerdict {
    /// The stored verdict.
    pub id: VerdictId,
    /// The role that gave it.
    pub role: Role,
    /// The group that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The attempt that it ended or judged, from 1.
    pub attempt: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The summary, shortened to fit.
    pub summary: String,
    /// What has to be fixed, what weighs most first, shortened to fit.
    pub findings: Vec<String>,
    /// How far to believe it.
    pub trust: Trust,
    /// What the screen found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// Whether its texts are not shown because of that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// How many findings are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_findings: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What the agent has to do about a judgement that sent the work back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reader {
    /// Repairs the work.
    #[default]
    Repairs,
    /// Finds out why, and changes nothing.
    Explains,
    /// Judges the repaired work.
    Rechecks,
}

impl Reader {
    fn of(role: &Role) -> Self {
        match Duty::of(role) {
            Duty::Judges => Self::Rechecks,
            Duty::Rescues if !writes_code(role) => Self::Explains,
            Duty::Builds | Duty::Rescues | Duty::Other => Self::Repairs,
        }
    }
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
    /// What the agent has to do about it.
    pub(super) reader: Reader,
    /// Whether the steps are only those after the judgement.
    pub(super) since: bool,
    /// Whether steps name their groups, because they are of several.
    pub(super) names_groups: bool,
    /// Whether something was cut that more room would show.
    pub(super) shortened: bool,
    /// Groups that nobody has reported about.
    pub(super) silent: Vec<GroupId>,
}

impl History {
    /// Tokens of the sections.
    pub(super) fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        let text = render_history::history(self);
        if text.is_empty() { 0 } else { tokens::count(tokenizer, &text) }
    }

    /// What the sections say, so that nothing else says it again.
    pub(super) fn said(&self) -> Vec<&str> {
        let shown = self.sent_back.iter().chain(&self.steps);
        let texts = shown.flat_map(|shown| shown.findings.iter().chain([&shown.summary]));
        texts.map(String::as_str).collect()
    }

    /// Whether an attempt ended before the work was done.
    pub(super) fn was_blocked(&self) -> bool {
        self.steps.iter().any(|step| stops(step.verdict))
    }

    /// The verdicts that are shown, each once.
    pub(super) fn shown(&self) -> Vec<&ShownVerdict> {
        let mut shown: Vec<&ShownVerdict> = self.sent_back.iter().chain(&self.steps).collect();
        shown.sort_by_key(|verdict| verdict.id);
        shown.dedup_by_key(|verdict| verdict.id);
        shown
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

/// What an agent reads about earlier attempts, in at most `room` tokens if that can be done without leaving
/// out why the work was sent back.
pub(super) fn history(
    sources: Sources<'_>,
    request: &ContextRequest,
    verdicts: &[VerdictRecord],
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> (History, Vec<Explained>) {
    let past = Past::of(request, verdicts);
    if past.sent_back.is_none() && past.steps.is_empty() {
        return Default::default();
    }
    let admission = Admission::of(sources.config, &request.role);
    let mut clean = |record| {
        let attempt = attempt_of(record, verdicts);
        CleanVerdict::new(record, attempt, sources, admission, redactions)
    };
    let mut history = History {
        attempt: request.iteration + 1,
        reader: Reader::of(&request.role),
        since: past.since,
        names_groups: request.group.is_none(),
        ..History::default()
    };
    let sent_back = past.sent_back.map(&mut clean);
    let steps: Vec<CleanVerdict<'_>> =
        past.steps.iter().take(MAX_STEPS).rev().map(|record| clean(record)).collect();
    if let Some(record) = sent_back {
        let (half, most) = match steps.last() {
            Some(step) => (room / 2, room.saturating_sub(least_of(step, &history, tokenizer))),
            None => (room, room),
        };
        for (at, (summary, findings, each)) in FORMS.into_iter().enumerate() {
            history.sent_back = Some(record.shown(summary, findings, each));
            history.shortened = at > 0;
            if history.tokens(tokenizer) <= if at < LONG_FORMS { half } else { most } {
                break;
            }
        }
    }
    if !steps.is_empty() {
        history.older = past.steps.len() - steps.len();
        for (at, chars) in STEP_CHARS.into_iter().enumerate() {
            history.steps = steps.iter().map(|step| step.shown(chars, 0, 0)).collect();
            history.shortened |= at > 0;
            if history.tokens(tokenizer) <= room {
                break;
            }
        }
        while history.tokens(tokenizer) > room && history.drop_step() {}
    }
    let explained = explained(&history, &past.concerning);
    (history, explained)
}

/// What a story of one step takes at least.
fn least_of(step: &CleanVerdict<'_>, history: &History, tokenizer: Tokenizer) -> u64 {
    let chars = STEP_CHARS.into_iter().min().unwrap_or_default();
    let steps = vec![step.shown(chars, 0, 0)];
    History { steps, older: 1, ..history.clone() }.tokens(tokenizer)
}

/// The verdicts that matter to one agent, newest first.
#[derive(Default)]
struct Past<'v> {
    /// Every verdict about the work.
    concerning: Vec<&'v VerdictRecord>,
    /// The judgement that the agent has to answer or to check.
    sent_back: Option<&'v VerdictRecord>,
    /// How the work went on.
    steps: Vec<&'v VerdictRecord>,
    /// Whether the steps are only those after the judgement.
    since: bool,
}

impl<'v> Past<'v> {
    fn of(request: &ContextRequest, verdicts: &'v [VerdictRecord]) -> Self {
        // What concerns the whole session concerns every group.
        let concerns = |group: &Option<GroupId>| group.is_none() || *group == request.group;
        let concerning: Vec<&VerdictRecord> =
            verdicts.iter().filter(|verdict| concerns(&verdict.group)).collect();
        match Duty::of(&request.role) {
            Duty::Builds => Self::of_builder(concerning),
            Duty::Rescues => Self { steps: concerning.clone(), ..Self::sent_back(concerning) },
            // A review without the authors' reasoning gets nothing of their story either.
            Duty::Judges if request.reasoning == Some(false) => Self::default(),
            Duty::Judges if request.group.is_none() => Self::of_overseer(verdicts),
            Duty::Judges => Self::of_judge(concerning, &request.role),
            Duty::Other if request.group.is_none() && request.role.as_str() == ORCHESTRATOR => {
                Self::of_overseer(verdicts)
            }
            Duty::Other => Self::default(),
        }
    }

    /// The last judgement, if it sends the work back.
    fn sent_back(concerning: Vec<&'v VerdictRecord>) -> Self {
        let last = concerning.iter().find(|verdict| is_judgement(verdict));
        let sent_back = last.filter(|last| last.verdict.sends_back()).copied();
        Self { sent_back, concerning, ..Self::default() }
    }

    /// A builder answers the last judgement, and reads what an attempt since then could not get past and what
    /// others found out about it.
    fn of_builder(concerning: Vec<&'v VerdictRecord>) -> Self {
        let since = concerning.iter().take_while(|verdict| !is_judgement(verdict));
        let matters =
            |step: &&VerdictRecord| stopped(step) || Duty::of(&step.role) == Duty::Rescues;
        let steps: Vec<&VerdictRecord> = since.copied().filter(matters).collect();
        let past = Self::sent_back(concerning);
        Self { steps, since: past.sent_back.is_some(), ..past }
    }

    /// A judge checks its own points first, else those of another judge, and reads what was done since.
    fn of_judge(concerning: Vec<&'v VerdictRecord>, role: &Role) -> Self {
        let is_own = |verdict: &VerdictRecord| verdict.role == *role && is_judgement(verdict);
        let own = concerning.iter().position(|verdict| is_own(verdict));
        let open = own.filter(|at| concerning[*at].verdict.sends_back());
        let Some(at) = open else {
            let steps = concerning[..own.unwrap_or(concerning.len())].to_vec();
            return Self { steps, ..Self::sent_back(concerning) };
        };
        Self {
            sent_back: Some(concerning[at]),
            steps: concerning[..at].to_vec(),
            since: true,
            concerning,
        }
    }

    /// A judge of the whole session reads how each group stands.
    fn of_overseer(verdicts: &'v [VerdictRecord]) -> Self {
        let mut groups = HashSet::new();
        let newest = |verdict: &&VerdictRecord| groups.insert(verdict.group.clone());
        let steps: Vec<&VerdictRecord> = verdicts.iter().filter(newest).collect();
        Self { concerning: steps.clone(), steps, ..Self::default() }
    }
}

/// The attempt that a verdict is about, from 1: judges count their own, which says nothing about the work, so a
/// judgement has the number of the attempt before it.
fn attempt_of(record: &VerdictRecord, newest_first: &[VerdictRecord]) -> u32 {
    let judged = newest_first
        .iter()
        .skip_while(|other| other.id != record.id)
        .find(|other| writes_code(&other.role) && other.group == record.group)
        .filter(|_| is_judgement(record));
    judged.map_or(record.iteration, |judged| judged.iteration) + 1
}

/// Whether an attempt ended before the work was done.
fn stopped(record: &VerdictRecord) -> bool {
    stops(record.verdict)
}

fn stops(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Blocked | Verdict::Escalate)
}

/// A verdict whose text has passed redaction.
struct CleanVerdict<'a> {
    record: &'a VerdictRecord,
    attempt: u32,
    summary: Clean,
    findings: Vec<Clean>,
    flags: Vec<ScreenFlag>,
    /// Whether only the verdict itself may be shown.
    withheld: bool,
}

impl<'a> CleanVerdict<'a> {
    fn new(
        record: &'a VerdictRecord,
        attempt: u32,
        sources: Sources<'_>,
        admission: Admission,
        redactions: &mut Redactions,
    ) -> Self {
        let mut clean = |text: &str| redactions.clean(sources.redactor, text).one_line();
        let summary = clean(record.summary.as_deref().unwrap_or_default());
        let mut findings: Vec<Clean> =
            record.findings.iter().map(|finding| clean(finding)).collect();
        // What is cut is what weighs least.
        findings.sort_by_key(|finding| weight(finding.as_str()));
        let texts = || findings.iter().chain([&summary]).map(Clean::as_str);
        let admitted = admission.check(record.trust, texts());
        let withheld = admitted.is_err();
        // Why work came back is never left out, but then in no words of the judge's.
        let flags = admitted.unwrap_or_else(|_| admit::flags(texts()));
        Self { record, attempt, summary, findings, flags, withheld }
    }

    fn shown(&self, summary: usize, findings: usize, each: usize) -> ShownVerdict {
        let (summary, findings) = if self.withheld { (0, 0) } else { (summary, findings) };
        let count = self.findings.len().min(findings);
        let cut = |text: &Clean, chars| text.cut(chars).as_str().to_owned();
        ShownVerdict {
            id: self.record.id,
            role: self.record.role.clone(),
            group: self.record.group.clone(),
            attempt: self.attempt,
            verdict: self.record.verdict,
            summary: cut(&self.summary, summary),
            findings: self.findings.iter().take(count).map(|text| cut(text, each)).collect(),
            trust: self.record.trust,
            flags: self.flags.clone(),
            withheld: self.withheld,
            more_findings: self.findings.len() - count,
        }
    }
}

/// Sorts findings by the severity that they start with; those without one are in the middle.
fn weight(finding: &str) -> u8 {
    let severity = finding.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match severity.map(|(word, _)| word) {
        Some("critical" | "blocker") => 0,
        Some("high" | "major") => 1,
        Some("low" | "minor" | "info") => 3,
        _ => 2,
    }
}

/// Whether a verdict accepts work or sends it back: a worker's own does neither.
fn is_judgement(record: &VerdictRecord) -> bool {
    let judges = matches!(Duty::of(&record.role), Duty::Judges | Duty::Other);
    judges && (record.verdict.accepts() || record.verdict.sends_back())
}

fn explained(history: &History, verdicts: &[&VerdictRecord]) -> Vec<Explained> {
    let shown = history.shown();
    let explain = |record: &&VerdictRecord| {
        let is_shown = shown.iter().any(|verdict| verdict.id == record.id);
        let fate = if is_shown { Fate::Fits } else { Fate::OverTheLimit };
        Explained::plain(ItemKind::Verdict, ItemId::Number(record.id.0), fate, record.trust)
    };
    verdicts.iter().map(explain).collect()
}
