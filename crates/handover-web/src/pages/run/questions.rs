//! What a run asks people, the form for their answers, and what they have answered.

use handover_engine::question::{self, AnswerContext, MAX_ANSWER_BYTES, Question};
use handover_engine::{EngineError, fold};
use handover_model::RunId;
use handover_store::StoreError;
use maud::{Markup, html};

use super::page_with;
use crate::journal::Told;
use crate::route::{Sent, Trouble};
use crate::show::{plain, plural, said, section as part, short};
use crate::{PageRequest, Site};

/// An answer that was not taken.
pub(crate) struct Refused {
    story: Option<String>,
    text: String,
    reason: String,
}

/// Takes the form of an answer.
pub(crate) fn answer(site: &Site<'_>, request: &PageRequest, id: &RunId) -> Result<Sent, Trouble> {
    let story = request.sent("story").filter(|story| !story.is_empty());
    // Browsers send every line with an ending of its own.
    let text = request.sent("text").unwrap_or_default().replace("\r\n", "\n");
    let error = match write(site, id, story, &text) {
        Ok(()) => return Ok(Sent::Done(format!("/runs/{id}#answers"))),
        Err(error) => error,
    };
    let is_wrong = matches!(
        error,
        EngineError::NothingAsked { .. }
            | EngineError::SeveralAsked
            | EngineError::EmptyAnswer
            | EngineError::LongAnswer { .. }
    );
    let is_taken =
        matches!(error, EngineError::Store(StoreError::Locked { .. } | StoreError::Fenced { .. }));
    if !is_wrong && !is_taken {
        return Err(error.into());
    }
    let status = if is_wrong { 400 } else { 409 };
    let refused = Refused { story: story.map(str::to_owned), text, reason: error.to_string() };
    Ok(Sent::Refused(status, Box::new(page_with(site, id, Some(&refused))?)))
}

fn write(site: &Site<'_>, id: &RunId, story: Option<&str>, text: &str) -> Result<(), EngineError> {
    let asked = question::meant(question::open(site.store, Some(id))?, story)?;
    let context = AnswerContext {
        store: site.store,
        redactor: site.redactor,
        config: site.config,
        machine: site.machine,
        now: site.now,
    };
    context.answer(&asked, text)
}

/// What is asked, and what was answered.
pub(super) fn section(
    site: &Site<'_>,
    told: &Told,
    refused: Option<&Refused>,
) -> Result<Markup, Trouble> {
    let open = question::open(site.store, Some(&told.run.id))?;
    let of_story = |refused: &&Refused, story: &str| refused.story.as_deref() == Some(story);
    // What no form can show is told above them all.
    let stray = refused.filter(|refused| !open.iter().any(|open| of_story(refused, &open.story)));
    Ok(html! {
        @if let Some(refused) = stray {
            div class="notice bad" id="refused" role="alert" {
                p { strong { "The answer was not taken: " } (said(&refused.reason)) "." }
                @if !refused.text.trim().is_empty() { p class="words" { (said(&refused.text)) } }
            }
        }
        @if !open.is_empty() {
            (part("questions", "Waits for an answer", html! { (plural(open.len(), "question", "questions")) }, html! {
                @for (n, asked) in open.iter().enumerate() {
                    (one(site, told, n, asked, refused.filter(|refused| of_story(refused, &asked.story))))
                }
            }))
        }
        (answers(told)?)
    })
}

fn one(
    site: &Site<'_>,
    told: &Told,
    n: usize,
    asked: &Question,
    refused: Option<&Refused>,
) -> Markup {
    let Question { run, story, question } = asked;
    let stories = told.document.iter().flat_map(|document| document.units());
    let title = stories.into_iter().find(|unit| unit.id == *story).map(|unit| unit.title.as_str());
    html! {
        div class="notice warn" {
            p { strong { (short(title.unwrap_or_default(), 100)) } " " code { (short(story, 80)) } }
            p class="words" { (said(question)) }
            @if site.may_write {
                form class="answer" method="post" action={ "/runs/" (run.id) "/answers" } {
                    input type="hidden" name="story" value=(story);
                    label for={ "answer-" (n) } { "Your answer; the next agent reads exactly that" }
                    @if let Some(refused) = refused {
                        p class="bad" id={ "refused-" (n) } role="alert" { "It was not taken: " (said(&refused.reason)) "." }
                    }
                    textarea id={ "answer-" (n) } name="text" rows="4" maxlength=(MAX_ANSWER_BYTES) required
                        autofocus[refused.is_some()] data-unsent[refused.is_some()]
                        aria-describedby=[refused.map(|_| format!("refused-{n}"))] {
                        // The first line break of a text field is not part of its text.
                        "\n" @if let Some(refused) = refused { (refused.text) }
                    }
                    button { "Answer" }
                }
            } @else {
                pre { code { "handover answer " (run.id) " " (plain(story)) " \"…\" --resume" } }
            }
        }
    }
}

/// What people have answered so far.
fn answers(told: &Told) -> Result<Markup, Trouble> {
    let Some(folded) = fold(&told.run.id, &told.entries)? else { return Ok(html! {}) };
    let stories = folded.state.stories.iter();
    let given: Vec<_> = stories
        .flat_map(|story| story.answers.iter().map(|answer| (&story.planned.id, answer)))
        .collect();
    if given.is_empty() {
        return Ok(html! {});
    }
    Ok(part(
        "answers",
        "What people answered",
        html! { (plural(given.len(), "answer", "answers")) },
        html! {
            @for (story, answer) in given {
                div class="notice" {
                    p { code { (short(story, 80)) } }
                    p class="words muted" { (said(&answer.question)) }
                    p class="words" { (said(&answer.text)) }
                }
            }
        },
    ))
}
