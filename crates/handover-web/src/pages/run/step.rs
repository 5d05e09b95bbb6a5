//! One step of a story: why it ended as it did. The script shows it as a drawer on the run's page.

use handover_engine::{Said, conversation};
use handover_files::Folder;
use handover_model::{Host, RunId};
use handover_text::cut::cut;
use handover_text::quote::visible;
use maud::{Markup, html};

use super::log::log_file;
use crate::error::PageError;
use crate::page::{Page, PageResult, Route};
use crate::pages::receipt::outcome::word_tone;
use crate::run_view::RunView;
use crate::site::Site;
use crate::steps::{RunStep, escaped, steps};
use crate::view::{
    Tone, badge, bytes, copy_link, count, duration, excerpt, fact, facts, money, plural,
    relative_time, section, single_line, untrusted,
};

/// How much is read of a log, and how much of a conversation is shown.
const LOG: u64 = 512 << 10;
const LINES: usize = 160;
const TEXT: usize = 4_000;
const TOOL: usize = 2_000;
/// How much of a patch is shown.
pub(super) const PATCH: usize = 60_000;
const FILES: usize = 60;
/// Characters of each part of a prompt.
const PROMPT: usize = 20_000;

pub(super) fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    if route.query("story").is_none() {
        return super::render(site, route);
    }
    let id: RunId = route.id("run")?;
    let view = RunView::read(site, &id)?;
    let all = steps(&view.entries);
    let asked = |name: &str| route.query(name).unwrap_or_default();
    let attempt = asked("attempt").parse().unwrap_or(1);
    let voice = route.query("voice");
    // A step that was repeated after a crash is there twice; the last one counts.
    let at = all.iter().rposition(|step| step.is(asked("story"), asked("phase"), attempt, voice));
    let Some(at) = at else {
        let name = format!("{} {} of {}", asked("phase"), asked("attempt"), asked("story"));
        return Err(PageError::not_found("step", &cut(&name, 200)));
    };
    let step = &all[at];
    let title = view.document.iter().flat_map(|document| document.units());
    let title = title.into_iter().find(|unit| unit.id == step.story);
    let body = html! {
        header class="page" {
            h1 { (excerpt(&capital(&step.name()), 80)) " " (verdict(step)) }
            p class="lead" { a href={ "/runs/" (id) "/stories?story=" (escaped(&step.story)) } { (excerpt(title.map_or(&step.story, |story| &story.title), 100)) } }
            @if !step.summary.is_empty() { p class="words" { (untrusted(&cut(&step.summary, TEXT))) } }
            (numbers(site, step))
            p class="links" { (copy_link(&step.path(&id))) }
        }
        (causes(step))
        (work(site, step))
        (prompt(site, step))
        (conversation_section(site, &view, step))
        (neighbours(&id, &all, at))
    };
    Ok(Page {
        title: format!("{} of {}", step.name(), step.story),
        breadcrumbs: vec![
            ("/runs".to_owned(), "Runs".to_owned()),
            (format!("/runs/{id}"), format!("Epic {}", view.run.epic)),
        ],
        body,
    })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub(super) fn verdict(step: &RunStep) -> Markup {
    match &step.verdict {
        Some(word) => badge(word_tone(word), word),
        None => badge(Tone::Good, "at work"),
    }
}

fn numbers(site: &Site<'_>, step: &RunStep) -> Markup {
    facts(html! {
        @if let Some(started) = step.started { (fact("Started", relative_time(site.now, started))) }
        @if step.duration_ms > 0 { (fact("Took", duration(step.duration_ms))) }
        @if step.cost_usd > 0.0 || step.tokens > 0 {
            (fact("Cost", html! { (money(step.cost_usd)) ", " (count(step.tokens)) " tokens, " (plural(usize::try_from(step.turns).unwrap_or(usize::MAX), "turn", "turns")) }))
        }
        @if let Some(failure) = step.failure { (fact("Program", html! { "ended with " (failure.replace('_', " ")) })) }
        @if let Some(receipt) = &step.receipt {
            (fact("Brief", html! { a href={ "/receipts/" (receipt) } { "what it was given" } }))
        }
    })
}

/// The prompt of an agent, folded: its brief and its task.
fn prompt(site: &Site<'_>, step: &RunStep) -> Markup {
    let receipt = step.receipt.as_ref().and_then(|id| site.store.receipt(id).ok());
    let Some(receipt) = receipt else { return html! {} };
    let texts = [("The brief", &receipt.text), ("The task", &receipt.task)];
    section(
        "prompt",
        "Prompt",
        html! { a href={ "/receipts/" (receipt.id) } { "Why it knew what it knew" } },
        html! {
            @for (name, text) in texts {
                @if let Some(text) = text {
                    details {
                        summary { (name) }
                        pre class="log" tabindex="0" dir="auto" { (visible(&cut(site.redactor.clean(text).as_str(), PROMPT))) }
                    }
                }
            }
        },
    )
}

/// What the gates, the scenarios or the reviewer found.
fn causes(step: &RunStep) -> Markup {
    html! {
        @if !step.findings.is_empty() {
            (section("findings", "Findings", html! { (plural(step.findings.len(), "finding", "findings")) }, html! {
                ol class="list findings" {
                    @for finding in &step.findings {
                        li {
                            p {
                                @if !finding.severity.is_empty() { (badge(severity(&finding.severity), &single_line(&finding.severity.to_lowercase()))) " " }
                                @if !finding.place.is_empty() { code { (excerpt(&finding.place, 200)) } }
                            }
                            p class="words" { (untrusted(&cut(&finding.text, TEXT))) }
                        }
                    }
                }
            }))
        }
        @if !step.failures.is_empty() {
            (section("failures", "What fails now and did not before", html! { (plural(step.failures.len(), "failure", "failures")) }, html! {
                ul class="list" { @for failure in step.failures.iter().take(100) { li { code { (excerpt(failure, 300)) } } } }
            }))
        }
        @if !step.output.trim().is_empty() {
            (section("output", "Output of the gates", html! { "The end of what the failing ones printed." }, html! {
                pre class="log whole" tabindex="0" { (visible(&step.output)) }
            }))
        }
        @if !step.scenarios.is_empty() { (scenarios(step)) }
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

fn scenarios(step: &RunStep) -> Markup {
    use handover_model::ScenarioOutcome;
    section(
        "scenarios",
        "Scenarios",
        html! { (plural(step.scenarios.len(), "scenario", "scenarios")) },
        html! {
            ul class="list" {
                @for one in &step.scenarios {
                    @let tone = match one.outcome { ScenarioOutcome::Passed => Tone::Good, ScenarioOutcome::NotRun => Tone::Calm, ScenarioOutcome::Failed | ScenarioOutcome::Refused => Tone::Bad };
                    li {
                        p { (badge(tone, one.outcome.as_str())) " " strong { (excerpt(&one.id, 60)) } " " (excerpt(&one.criterion, 200)) }
                        @if !one.reason.is_empty() { p { (excerpt(&one.reason, 400)) } }
                        @if !one.tail.trim().is_empty() { pre class="log" tabindex="0" { (visible(&one.tail)) } }
                    }
                }
            }
        },
    )
}

/// The files and the patch of the step.
fn work(site: &Site<'_>, step: &RunStep) -> Markup {
    let patch = step.trees.as_ref().and_then(|(from, to)| (site.patch)(from, to, PATCH));
    if patch.is_none() && step.files.is_empty() && step.restored.is_empty() {
        return html! {};
    }
    section(
        "work",
        "What it changed",
        html! { "In its worktree." },
        html! {
            @if !step.restored.is_empty() {
                p class="notice warn" { "Changes that it was not allowed to make were reverted: " (excerpt(&step.restored.join(", "), 600)) }
            }
            @match &patch {
                Some(patch) if !patch.trim().is_empty() => (diff(site, patch)),
                _ if !step.files.is_empty() => {
                    p class="note" { "Against the story’s base:" }
                    ul class="list" { @for file in step.files.iter().take(FILES) { li { code { (excerpt(file, 200)) } } } }
                    @if step.files.len() > FILES { p class="muted" { "and " (count(step.files.len() - FILES)) " others" } }
                },
                _ => p class="muted" { "Nothing." },
            }
        },
    )
}

pub(super) fn diff(site: &Site<'_>, patch: &str) -> Markup {
    let clean = site.redactor.clean(patch);
    html! {
        pre class="diff whole" tabindex="0" {
            @for line in clean.as_str().lines() {
                @let text = visible(line);
                @if line.starts_with("diff --git") { strong { (text) "\n" } }
                @else if line.starts_with("+++") || line.starts_with("---") { span class="muted" { (text) "\n" } }
                @else if line.starts_with('+') { ins { (text) "\n" } }
                @else if line.starts_with('-') { del { (text) "\n" } }
                @else { span { (text) "\n" } }
            }
        }
    }
}

/// What the agent said and did.
fn conversation_section(site: &Site<'_>, view: &RunView, step: &RunStep) -> Markup {
    if matches!(step.phase.as_str(), "gates") || step.phase == "uat" && step.receipt.is_none() {
        return html! {};
    }
    let host = handover_engine::fold(&view.run.id, &view.entries).ok().flatten();
    let host = host.map_or(Host::COMMAND, |folded| folded.state.options.host);
    let runs = Folder::of(site.paths.root()).inside("runs").inside(view.run.id.as_str());
    let log = log_file(&runs, &step.story, &step.phase, step.attempt.into(), step.voice.as_ref());
    let read = log.and_then(|(folder, name)| folder.tail(&name, LOG).ok().flatten());
    let Some((raw, is_whole)) = read else {
        return section(
            "said",
            "Conversation",
            "",
            html! { p class="muted" { "Its output was not kept on this machine." } },
        );
    };
    let clean = site.redactor.redact_bytes(&raw);
    let text = String::from_utf8_lossy(&clean);
    // The first line may be incomplete.
    let text = if is_whole { &*text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    let lines = conversation(host, text);
    let hidden = lines.len().saturating_sub(LINES);
    let note = html! {
        (plural(lines.len(), "entry", "entries"))
        @if !is_whole { ", of the last " (bytes(LOG)) " of its output" }
        @if hidden > 0 { ", the last " (LINES) }
        ". Tool calls unfold."
    };
    section(
        "said",
        "Conversation",
        note,
        html! {
            @if lines.is_empty() { p class="muted" { "It has printed nothing." } }
            ol class="talk" { @for said in lines.iter().skip(hidden) { li class=(kind(said)) { (line(said)) } } }
        },
    )
}

const fn kind(said: &Said) -> &'static str {
    match said {
        Said::Text(_) => "text",
        Said::Tool { failed: Some(true), .. } => "tool failed",
        Said::Tool { .. } => "tool",
        Said::Notice(_) => "notice-line",
        Said::Line(_) => "line",
        Said::Result { .. } => "result",
    }
}

fn line(said: &Said) -> Markup {
    match said {
        Said::Text(text) => html! { p class="words" { (untrusted(&cut(text, TEXT))) } },
        Said::Line(text) => html! { pre { (visible(&cut(text, TEXT))) } },
        Said::Notice(text) => html! { p class="muted" { (untrusted(&cut(text, TOOL))) } },
        Said::Result { text, failed } => html! {
            p { (badge(if *failed { Tone::Bad } else { Tone::Calm }, if *failed { "error" } else { "result" })) }
            p class="words" { (untrusted(&cut(text, TEXT))) }
        },
        Said::Tool { name, about, input, shown, failed } => html! {
            details {
                summary { strong { (excerpt(name, 60)) } " " code { (excerpt(about, 120)) } @if *failed == Some(true) { " " (badge(Tone::Bad, "failed")) } }
                @if !input.is_empty() { pre class="log" tabindex="0" { (visible(&cut(input, TOOL))) } }
                @if !shown.is_empty() { pre class="log" tabindex="0" { (visible(&cut(shown, TOOL))) } }
            }
        },
    }
}

/// The steps before and after, of the same story.
fn neighbours(run: &RunId, all: &[RunStep], at: usize) -> Markup {
    let own = |step: &&RunStep| step.story == all[at].story;
    let before = all[..at].iter().rfind(own);
    let after = all[at + 1..].iter().find(own);
    html! {
        nav class="pages" aria-label="Steps of this story" {
            @if let Some(step) = before { a href=(step.path(run)) rel="prev" { "Before: " (excerpt(&step.name(), 60)) } }
            @if let Some(step) = after { a href=(step.path(run)) rel="next" { "Then: " (excerpt(&step.name(), 60)) } }
        }
    }
}
