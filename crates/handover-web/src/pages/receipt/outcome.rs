//! The two ends of a brief: the task that the agent got, and how it ended.

use handover_model::{Receipt, ReceiptState, VerdictRecord};
use handover_store::VerdictFilter;
use maud::{Markup, html};

use crate::error::PageError;
use crate::run_view::{self, Step};
use crate::site::Site;
use crate::view::{Tone, badge, relative_time, section, untrusted};

/// How the agent of a receipt ended, and the step of a run that it was.
pub(crate) struct Ended {
    pub(crate) verdict: Option<VerdictRecord>,
    pub(crate) step: Option<Step>,
}

impl Ended {
    pub(crate) fn read(site: &Site<'_>, receipt: &Receipt) -> Result<Self, PageError> {
        let filter = VerdictFilter {
            receipt: Some(receipt.id.clone()),
            limit: Some(1),
            ..VerdictFilter::default()
        };
        let verdict = site.store.verdicts(&receipt.session, &filter)?.pop();
        Ok(Self { verdict, step: run_view::step_of(site, receipt)? })
    }

    /// The verdict in a word, for lists and comparisons.
    pub(crate) fn word(&self) -> Markup {
        match (&self.verdict, &self.step) {
            (Some(record), _) => badge(word_tone(record.verdict.as_str()), record.verdict.as_str()),
            (None, Some(step)) if !step.verdict.is_empty() => {
                badge(word_tone(&step.verdict), &step.verdict)
            }
            (None, _) => html! { span class="muted" { "No verdict." } },
        }
    }
}

/// The tone of a verdict as a journal writes it.
pub(crate) fn word_tone(verdict: &str) -> Tone {
    match verdict {
        "complete" | "passed" | "passed_with_fixes" => Tone::Good,
        "none" | "skip" => Tone::Calm,
        "blocked" | "escalate" | "retry" | "rate_limit" | "overloaded" | "network" => Tone::Warn,
        _ => Tone::Bad,
    }
}

/// What the agent was asked to do.
pub(super) fn task(site: &Site<'_>, receipt: &Receipt) -> Markup {
    let clean = receipt.task.as_deref().map(|task| site.redactor.clean(task));
    section(
        "task",
        "Task",
        html! { @if clean.is_some() { "What it was asked to do, without secrets." } },
        html! {
            @match &clean {
                Some(task) => div class="paper task" { p class="words" { (untrusted(task.as_str())) } },
                None => p class="muted" { "The receipt has no task: the brief was made without one, or the agent program kept it to itself." },
            }
        },
    )
}

/// How it ended, and where that leads.
pub(super) fn outcome(site: &Site<'_>, receipt: &Receipt, ended: &Ended) -> Markup {
    let Ended { verdict, step } = ended;
    let summary = match (verdict, step) {
        (Some(record), _) => record.summary.as_deref(),
        (None, Some(step)) => Some(step.summary.as_str()).filter(|text| !text.is_empty()),
        (None, None) => None,
    };
    let findings = verdict.iter().flat_map(|record| &record.findings);
    let note = html! {
        @if let Some(record) = verdict { (relative_time(site.now, record.created_at)) }
    };
    section(
        "outcome",
        "Outcome",
        note,
        html! {
            p { (ended.word()) " " @if let Some(summary) = summary { (untrusted(summary)) } @else { (silence(receipt)) } }
            @if verdict.as_ref().is_some_and(|record| !record.findings.is_empty()) {
                ul class="findings" { @for finding in findings { li { (untrusted(finding)) } } }
            }
            @if let Some(step) = step { p { (step.link()) } }
        },
    )
}

/// Why there is no outcome.
fn silence(receipt: &Receipt) -> &'static str {
    match receipt.state {
        ReceiptState::Assembled => "The brief was never delivered.",
        ReceiptState::Failed => "The brief never arrived.",
        ReceiptState::Delivered | ReceiptState::Confirmed => {
            "The agent is still working or ended without reporting."
        }
    }
}
