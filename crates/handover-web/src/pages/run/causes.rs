//! Why a step ended as it did: findings, what fails now and did not before, the output of gates, scenarios. The page
//! of the step and the file of its run show the same.

use handover_engine::data::{Finding, ScenarioResult};
use handover_model::{RunState, ScenarioOutcome};
use maud::{Markup, html};

use crate::pages::receipt::outcome::word_tone;
use crate::run_view::RunView;
use crate::steps::{RunStep, steps};
use crate::view::{
    Room, Tone, badge, beginning, count, duration, ending, excerpt, plural, section, single_line,
};

/// Bytes of each kind of cause on the page of a step, and in the file of a run; and of all steps in that file.
const ON_PAGE: usize = 16_000;
const IN_FILE: usize = 6_000;
const FILE: usize = 60_000;

/// One kind of cause.
struct Cause {
    id: &'static str,
    heading: &'static str,
    note: String,
    body: Markup,
}

/// The causes of a step, each in at most so many bytes.
fn of(step: &RunStep, bytes: usize) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !step.findings.is_empty() {
        let shown = Room::new(bytes).fill(step.findings.iter().map(|one| finding(one, bytes / 3)));
        causes.push(Cause {
            id: "findings",
            heading: "Findings",
            note: plural(step.findings.len(), "finding", "findings"),
            body: html! { ol class="list findings" { @for one in &shown { (one) } } (others(step.findings.len() - shown.len())) },
        });
    }
    if !step.failures.is_empty() {
        let failure = |one: &String| html! { li { code { (excerpt(one, 300)) } } };
        let shown = Room::new(bytes).fill(step.failures.iter().map(failure));
        causes.push(Cause {
            id: "failures",
            heading: "What fails now and did not before",
            note: plural(step.failures.len(), "failure", "failures"),
            body: html! { ul class="list" { @for one in &shown { (one) } } (others(step.failures.len() - shown.len())) },
        });
    }
    if !step.output.trim().is_empty() {
        causes.push(Cause {
            id: "output",
            heading: "Output of the gates",
            note: "The end of what the failing ones printed.".to_owned(),
            body: html! { pre class="log whole" tabindex="0" { (ending(&step.output, bytes)) } },
        });
    }
    if !step.scenarios.is_empty() {
        // What went wrong comes first: the rest may not fit.
        let mut all: Vec<&ScenarioResult> = step.scenarios.iter().collect();
        all.sort_by_key(|one| !one.is_wrong());
        let shown = Room::new(bytes).fill(all.iter().map(|one| scenario(one, bytes / 4)));
        causes.push(Cause {
            id: "scenarios",
            heading: "Scenarios",
            note: plural(all.len(), "scenario", "scenarios"),
            body: html! { ul class="list" { @for one in &shown { (one) } } (others(all.len() - shown.len())) },
        });
    }
    causes
}

fn others(hidden: usize) -> Markup {
    html! { @if hidden > 0 { p class="note" { "And " (plural(hidden, "other", "others")) ", in the journal of the run." } } }
}

fn finding(finding: &Finding, bytes: usize) -> Markup {
    html! {
        li {
            p {
                @if !finding.severity.is_empty() { (badge(severity(&finding.severity), &single_line(&finding.severity.to_lowercase()))) " " }
                @if !finding.place.is_empty() { code { (excerpt(&finding.place, 200)) } }
            }
            p class="words" { bdi { (beginning(&finding.text, bytes)) } }
        }
    }
}

fn severity(word: &str) -> Tone {
    use handover_model::Severity;
    match handover_engine::data::severity_of(word) {
        Severity::High => Tone::Bad,
        Severity::Medium => Tone::Warn,
        Severity::Low => Tone::Calm,
    }
}

fn scenario(one: &ScenarioResult, bytes: usize) -> Markup {
    let tone = match one.outcome {
        ScenarioOutcome::Passed => Tone::Good,
        ScenarioOutcome::NotRun => Tone::Calm,
        ScenarioOutcome::Failed | ScenarioOutcome::Refused => Tone::Bad,
    };
    html! {
        li {
            p { (badge(tone, one.outcome.as_str())) " " strong { (excerpt(&one.id, 60)) } " " (excerpt(&one.criterion, 200)) }
            @if !one.reason.is_empty() { p { (excerpt(&one.reason, 400)) } }
            @if !one.tail.trim().is_empty() { pre class="log" tabindex="0" { (ending(&one.tail, bytes)) } }
        }
    }
}

/// As sections of the page of the step.
pub(super) fn sections(step: &RunStep) -> Markup {
    html! {
        @for cause in of(step, ON_PAGE) { (section(cause.id, cause.heading, &cause.note, cause.body)) }
    }
}

/// Those of all steps that did not end well, for the file of a run: its reader cannot open the steps.
pub(crate) fn of_run(view: &RunView) -> Markup {
    let all: Vec<RunStep> = steps(&view.entries).into_iter().filter(is_wrong).collect();
    if all.is_empty() {
        return html! {};
    }
    let shown = Room::new(FILE).fill_from_end(all.iter().map(in_file));
    let hidden = all.len() - shown.len();
    let note = html! {
        @if view.state() == RunState::Done { "What went wrong on the way." } @else { "Of each step that did not end well." }
        @if hidden > 0 { " " (count(hidden)) " earlier ones are not in this file." }
    };
    let body = html! { ol class="timeline" { @for step in &shown { (step) } } };
    section("causes", "Why steps failed", note, body)
}

fn is_wrong(step: &RunStep) -> bool {
    step.verdict.as_deref().is_some_and(|word| matches!(word_tone(word), Tone::Bad | Tone::Warn))
}

fn in_file(step: &RunStep) -> Markup {
    html! {
        li {
            p class="meta" {
                strong { (excerpt(&step.name(), 60)) } " " code { (excerpt(&step.story, 80)) } " " (super::step::verdict(step))
                @if step.duration_ms > 0 { span class="muted" { " " (duration(step.duration_ms)) } }
            }
            @if !step.summary.is_empty() { p class="words" { bdi { (beginning(&step.summary, IN_FILE / 3)) } } }
            @for cause in of(step, IN_FILE) {
                h3 { (cause.heading) }
                p class="muted" { (cause.note) }
                (cause.body)
            }
        }
    }
}
