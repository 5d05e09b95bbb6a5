//! The steps of a run, from its journal: every agent, every run of the gates and of the scenarios, with its real
//! beginning and end, and everything that says why it ended as it did.

use handover_engine::data::{Finding, ScenarioResult};
use handover_engine::pipeline::Voice;
use handover_engine::reducer::{Effect, Event, GateOutcome, PhaseEnd};
use handover_model::{JournalEntry, JournalKind, ReceiptId, RunId, Timestamp};

/// One step of a story.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunStep {
    pub(crate) story: String,
    /// An agent's phase, `gates` or `uat`.
    pub(crate) phase: String,
    pub(crate) attempt: u32,
    pub(crate) voice: Option<Voice>,
    /// Nothing while it is at work.
    pub(crate) verdict: Option<String>,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) duration_ms: u64,
    pub(crate) cost_usd: f64,
    pub(crate) tokens: u64,
    pub(crate) turns: u64,
    /// What the agent said at its end, or why there is no verdict.
    pub(crate) summary: String,
    /// The findings of a review.
    pub(crate) findings: Vec<Finding>,
    /// What the gates found that the base does not have.
    pub(crate) failures: Vec<String>,
    /// The end of the output of failing gates.
    pub(crate) output: String,
    pub(crate) scenarios: Vec<ScenarioResult>,
    /// The class of a failure of the program itself.
    pub(crate) failure: Option<&'static str>,
    pub(crate) files: Vec<String>,
    pub(crate) restored: Vec<String>,
    pub(crate) receipt: Option<ReceiptId>,
    /// The work before and after the step.
    pub(crate) trees: Option<(String, String)>,
}

impl RunStep {
    /// The address of its page.
    pub(crate) fn path(&self, run: &RunId) -> String {
        let path = crate::run_view::step_path(run, &self.story, &self.phase, self.attempt.into());
        match &self.voice {
            Some(voice) => format!("{path}&voice={}", escaped(&voice_name(voice))),
            None => path,
        }
    }

    /// Its name in a sentence: `review 2`, `review 1 by ann`.
    pub(crate) fn name(&self) -> String {
        let voice = self.voice.as_ref().map(|voice| {
            let again = if voice.round > 1 { ", second round" } else { "" };
            format!(" by {}{again}", voice.persona)
        });
        format!("{} {}{}", self.phase, self.attempt, voice.unwrap_or_default())
    }

    /// Whether it is the step that an address names.
    pub(crate) fn is(&self, story: &str, phase: &str, attempt: u32, voice: Option<&str>) -> bool {
        let own = self.voice.as_ref().map(voice_name);
        self.story == story
            && self.phase == phase
            && self.attempt == attempt
            && own.as_deref() == voice
    }
}

fn voice_name(voice: &Voice) -> String {
    format!("{}-{}", voice.persona, voice.round)
}

/// A text as the value of a query parameter.
pub(crate) fn escaped(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The steps of a journal, in the order of their beginnings. Entries that cannot be read are passed over.
pub(crate) fn steps(entries: &[JournalEntry]) -> Vec<RunStep> {
    let mut steps: Vec<RunStep> = Vec::new();
    let mut open: Vec<(Effect, usize)> = Vec::new();
    let mut trees: Vec<(String, String)> = Vec::new();
    for entry in entries {
        match entry.kind {
            JournalKind::Intent => {
                let Ok(effect) = serde_json::from_value::<Effect>(entry.entry.clone()) else {
                    continue;
                };
                let Some(step) = begun(&effect, entry.created_at) else { continue };
                open.retain(|(other, _)| *other != effect);
                open.push((effect, steps.len()));
                steps.push(step);
            }
            JournalKind::Result => {
                let Ok(event) = serde_json::from_value::<Event>(entry.entry.clone()) else {
                    continue;
                };
                let at = open.iter().position(|(effect, _)| event.answers(effect));
                let step = at.map(|at| open.remove(at).1);
                if let Event::Opened { story, tree, .. } | Event::Rebased { story, tree, .. } =
                    &event
                {
                    set_tree(&mut trees, story, tree);
                }
                if let Some(step) = step.and_then(|step| steps.get_mut(step)) {
                    step.ended = Some(entry.created_at);
                    finish(step, event, &mut trees);
                }
            }
            JournalKind::Note => {}
        }
    }
    steps
}

fn set_tree(trees: &mut Vec<(String, String)>, story: &str, tree: &str) -> Option<String> {
    match trees.iter_mut().find(|(of, _)| of == story) {
        Some((_, known)) => Some(std::mem::replace(known, tree.to_owned())),
        None => {
            trees.push((story.to_owned(), tree.to_owned()));
            None
        }
    }
}

/// A step that has started; none for effects that nobody waits for.
fn begun(effect: &Effect, at: Timestamp) -> Option<RunStep> {
    let (story, phase, attempt, voice) = match effect {
        Effect::Agent { story, phase, attempt, voice } => {
            (story, phase.as_str(), *attempt, voice.clone())
        }
        Effect::Gates { story, attempt } => (story, "gates", *attempt, None),
        Effect::Uat { story, attempt } => (story, "uat", *attempt, None),
        Effect::CheckBase
        | Effect::Open { .. }
        | Effect::Wait { .. }
        | Effect::Rebase { .. }
        | Effect::Forgo { .. }
        | Effect::GiveUp { .. }
        | Effect::Commit { .. }
        | Effect::Park { .. }
        | Effect::Merge
        | Effect::Ask
        | Effect::Halt { .. }
        | Effect::Finish => return None,
    };
    Some(RunStep {
        story: story.clone(),
        phase: phase.to_owned(),
        attempt,
        voice,
        started: Some(at),
        ..RunStep::default()
    })
}

fn finish(step: &mut RunStep, event: Event, trees: &mut Vec<(String, String)>) {
    match event {
        Event::PhaseEnded(end) => finish_agent(step, *end, trees),
        Event::GatesEnded { outcome, failures, detail, duration_ms, .. } => {
            let word = match outcome {
                GateOutcome::Passed => "passed",
                GateOutcome::None => "none",
                GateOutcome::Failed => "failed",
            };
            step.verdict = Some(word.to_owned());
            step.summary = match outcome {
                GateOutcome::Passed => "Nothing fails that does not fail on the base, too.",
                GateOutcome::None => "The project has no gates.",
                GateOutcome::Failed => "Something fails that the base passes.",
            }
            .to_owned();
            (step.failures, step.output, step.duration_ms) = (failures, detail, duration_ms);
        }
        Event::UatEnded { results, problem, duration_ms, .. } => {
            let wrong = problem.is_some() || results.iter().any(ScenarioResult::is_wrong);
            step.verdict = Some(if wrong { "failed" } else { "passed" }.to_owned());
            step.summary = problem.unwrap_or_default();
            (step.scenarios, step.duration_ms) = (results, duration_ms);
        }
        Event::Started { .. }
        | Event::Resumed { .. }
        | Event::Opened { .. }
        | Event::BaseChecked { .. }
        | Event::Rebased { .. }
        | Event::WaitEnded { .. }
        | Event::GaveUp { .. }
        | Event::Refused { .. }
        | Event::Committed { .. }
        | Event::Parked { .. }
        | Event::Answered { .. }
        | Event::Retried { .. }
        | Event::Approved { .. }
        | Event::Merged { .. }
        | Event::Stopped { .. }
        | Event::Ended { .. } => {}
    }
}

fn finish_agent(step: &mut RunStep, end: PhaseEnd, trees: &mut Vec<(String, String)>) {
    let failure = end.failure.map(handover_model::FailureClass::as_str);
    let verdict = end.verdict.map(handover_model::Verdict::as_str);
    let before = set_tree(trees, &end.story, &end.tree);
    step.trees = before.filter(|before| *before != end.tree).map(|before| (before, end.tree));
    step.verdict = Some(verdict.or(failure).unwrap_or("unclear").to_owned());
    step.failure = failure;
    step.duration_ms = end.spent.duration_ms;
    step.cost_usd = end.spent.cost_usd;
    step.tokens = end.spent.tokens;
    step.turns = end.spent.turns;
    step.summary = end.summary;
    step.findings = end.findings;
    step.files = end.files;
    step.restored = end.restored;
    step.receipt = end.receipt.and_then(|id| ReceiptId::new(id).ok());
}
