//! Questions of a run to people: the answer form, and the answers so far.

use handover_engine::question::{self, AnswerContext, MAX_ANSWER_BYTES, Question};
use handover_engine::{EngineError, fold};
use handover_model::RunId;
use handover_store::StoreError;
use maud::{Markup, html};

use super::render_with;
use crate::error::PageError;
use crate::form::token_field;
use crate::page::{FormOutcome, Route};
use crate::run_view::RunView;
use crate::site::Site;
use crate::view::{self, excerpt, plural, single_line, untrusted};

/// An answer that was not accepted, to be shown again with the reason.
pub(crate) struct RejectedAnswer {
    story: Option<String>,
    text: String,
    reason: String,
}

/// Handles the answer form.
pub(super) fn submit(site: &Site<'_>, route: &Route<'_>) -> Result<FormOutcome, PageError> {
    let id: &RunId = &route.id("run")?;
    let story = route.request.form_field("story").filter(|story| !story.is_empty());
    // Browsers submit CRLF line endings.
    let text = route.request.form_field("text").unwrap_or_default().replace("\r\n", "\n");
    let error = match record_answer(site, id, story, &text) {
        Ok(()) => return Ok(FormOutcome::Redirect(format!("/runs/{id}#answers"))),
        Err(error) => error,
    };
    let is_invalid = matches!(
        error,
        EngineError::NothingAsked { .. }
            | EngineError::SeveralAsked
            | EngineError::EmptyAnswer
            | EngineError::LongAnswer { .. }
    );
    let is_locked =
        matches!(error, EngineError::Store(StoreError::Locked { .. } | StoreError::Fenced { .. }));
    if !is_invalid && !is_locked {
        return Err(error.into());
    }
    let status = if is_invalid { 400 } else { 409 };
    let rejected =
        RejectedAnswer { story: story.map(str::to_owned), text, reason: error.to_string() };
    Ok(FormOutcome::Rejected(status, Box::new(render_with(site, id, Some(&rejected))?)))
}

fn record_answer(
    site: &Site<'_>,
    id: &RunId,
    story: Option<&str>,
    text: &str,
) -> Result<(), EngineError> {
    let asked = question::meant(question::open(site.store, Some(id))?, story)?;
    let context = AnswerContext {
        store: site.store,
        redactor: site.redactor,
        config: site.config,
        machine: site.machine,
        author: site.author,
        now: site.now,
    };
    context.answer(&asked, text)
}

/// Open questions and earlier answers.
pub(super) fn section(
    site: &Site<'_>,
    view: &RunView,
    rejected: Option<&RejectedAnswer>,
) -> Result<Markup, PageError> {
    let open = question::open(site.store, Some(&view.run.id))?;
    let of_story =
        |rejected: &&RejectedAnswer, story: &str| rejected.story.as_deref() == Some(story);
    // A rejection that belongs to no open question is shown above all forms.
    let stray =
        rejected.filter(|rejected| !open.iter().any(|open| of_story(rejected, &open.story)));
    Ok(html! {
        @if let Some(rejected) = stray {
            div class="notice bad" id="refused" role="alert" {
                p { strong { "The answer was not accepted: " } (untrusted(&rejected.reason)) "." }
                @if !rejected.text.trim().is_empty() { p class="words" { (untrusted(&rejected.text)) } }
            }
        }
        @if !open.is_empty() {
            (view::section("questions", "Waiting for an answer", html! { (open.len()) " waiting" }, html! {
                @for (n, asked) in open.iter().enumerate() {
                    (question_form(site, view, n, asked, rejected.filter(|rejected| of_story(rejected, &asked.story))))
                }
            }))
        }
        (answers(view)?)
    })
}

fn question_form(
    site: &Site<'_>,
    view: &RunView,
    n: usize,
    asked: &Question,
    rejected: Option<&RejectedAnswer>,
) -> Markup {
    let Question { run, story, question } = asked;
    let stories = view.document.iter().flat_map(|document| document.units());
    let title = stories.into_iter().find(|unit| unit.id == *story).map(|unit| unit.title.as_str());
    html! {
        div class="notice warn" {
            p { strong { (excerpt(title.unwrap_or_default(), 100)) } " " code { (excerpt(story, 80)) } }
            p class="words" { (untrusted(question)) }
            @if site.may_write {
                form class="answer" method="post" action={ "/runs/" (run.id) "/answers" } {
                    (token_field(site))
                    input type="hidden" name="story" value=(story);
                    label for={ "answer-" (n) } { "Your answer; the next agent reads it verbatim" }
                    @if let Some(rejected) = rejected {
                        p class="bad" id={ "refused-" (n) } role="alert" { "It was not accepted: " (untrusted(&rejected.reason)) "." }
                    }
                    textarea id={ "answer-" (n) } name="text" rows="4" maxlength=(MAX_ANSWER_BYTES) required
                        autofocus[rejected.is_some()] data-unsent[rejected.is_some()]
                        aria-describedby=[rejected.map(|_| format!("refused-{n}"))] {
                        // HTML drops the first line break of a textarea.
                        "\n" @if let Some(rejected) = rejected { (rejected.text) }
                    }
                    button { "Answer" }
                }
            } @else {
                pre { code { "handover run answer " (run.id) " " (single_line(story)) " \"…\" --resume" } }
            }
        }
    }
}

/// The answers so far.
fn answers(view: &RunView) -> Result<Markup, PageError> {
    let Some(folded) = fold(&view.run.id, &view.entries)? else { return Ok(html! {}) };
    let stories = folded.state.stories.iter();
    let given: Vec<_> = stories
        .flat_map(|story| story.answers.iter().map(|answer| (&story.planned.id, answer)))
        .collect();
    if given.is_empty() {
        return Ok(html! {});
    }
    Ok(view::section(
        "answers",
        "What people answered",
        html! { (plural(given.len(), "answer", "answers")) },
        html! {
            @for (story, answer) in given {
                div class="notice" {
                    p { code { (excerpt(story, 80)) } @if let Some(by) = &answer.by { span class="muted" { " by " (excerpt(by, 80)) } } }
                    p class="words muted" { (untrusted(&answer.question)) }
                    p class="words" { (untrusted(&answer.text)) }
                }
            }
        },
    ))
}
