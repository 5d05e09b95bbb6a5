//! One step of a story: why it ended as it did. The script shows it as a drawer on the run's page.

use handover_model::RunId;
use handover_text::cut::cut;
use maud::{Markup, html};

use super::{causes, talk};
use crate::error::PageError;
use crate::page::{Page, PageResult, Route};
use crate::pages::receipt::outcome::word_tone;
use crate::run_view::RunView;
use crate::site::Site;
use crate::steps::{RunStep, escaped, steps};
use crate::view::{
    Room, Tone, badge, beginning, copy_link, count, duration, excerpt, fact, facts, money, plural,
    relative_time, section,
};

/// Bytes of what the agent said at its end, of each part of its prompt, and of a diff, as they are sent.
const SUMMARY: usize = 6_000;
const PROMPT: usize = 14_000;
const DIFF: usize = 44_000;
/// How much of a patch is asked for, of which every file gets its share, and bytes of one of its lines.
pub(super) const PATCH: usize = 28_000;
const LINE: usize = 2_000;
const FILES: usize = 60;

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
            @if !step.summary.is_empty() { p class="words" { bdi { (beginning(&step.summary, SUMMARY)) } } }
            (numbers(site, step))
            p class="links" { (copy_link(&step.path(&id))) }
        }
        (causes::sections(step))
        (work(site, step))
        (prompt(site, step))
        (talk::conversation_of(site, &view, step))
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
                        pre class="log" tabindex="0" dir="auto" { (beginning(site.redactor.clean(text).as_str(), PROMPT)) }
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
    let lines: Vec<&str> = clean.as_str().lines().collect();
    let shown = Room::new(DIFF).fill(lines.iter().map(|line| diff_line(line)));
    let hidden = lines.len() - shown.len();
    html! {
        pre class="diff whole" tabindex="0" { @for line in &shown { (line) } }
        @if hidden > 0 { p class="note" { (plural(hidden, "line", "lines")) " did not fit on this page." } }
    }
}

fn diff_line(line: &str) -> Markup {
    let text = beginning(line, LINE);
    html! {
        @if line.starts_with("diff --git") { strong { (text) "\n" } }
        @else if line.starts_with("+++") || line.starts_with("---") { span class="muted" { (text) "\n" } }
        @else if line.starts_with('+') { ins { (text) "\n" } }
        @else if line.starts_with('-') { del { (text) "\n" } }
        @else { span { (text) "\n" } }
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
