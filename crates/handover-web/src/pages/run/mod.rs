//! A run: its stories and phases, what they cost, and what is going on.

mod grid;
mod ledger;
mod log;
mod questions;

pub(crate) use questions::answer;

use handover_model::{JournalEntry, JournalKind, RunId, RunState, StoryState};
use maud::{Markup, html};

use crate::journal::{Document, Told};
use crate::layout::{Page, Part};
use crate::route::{Shown, Trouble};
use crate::show::{
    Column, Row, Tone, badge, clock, count, duration, empty, moment, money, of, plural, said,
    section, short, stat, state_tone, table, when,
};
use crate::{PageRequest, Site};

use self::questions::Refused;
use super::runs::word;

/// How many entries of the journal are on the page of the run, and on its own page.
const LAST: usize = 12;
const LISTED: usize = 200;

pub(crate) fn page(site: &Site<'_>, id: &RunId) -> Shown {
    page_with(site, id, None)
}

/// The page, and an answer that was refused, to be mended.
fn page_with(site: &Site<'_>, id: &RunId, refused: Option<&Refused>) -> Shown {
    let told = Told::read(site, id)?;
    let body = html! {
        (heading(site, &told))
        (parts(site, &told, refused)?)
        (log::section(site, &told))
        (section("journal", "Journal", html! { "The last entries of " (count(told.entries.len())) ". " a href={ "/runs/" (id) "/journal" } { "All of it" } },
            journal(&told.entries, told.entries.len().saturating_sub(LAST), LAST)))
    };
    Ok(Page {
        title: format!("Run of epic {}", told.run.epic),
        part: Part::Runs,
        above: vec![("/runs".to_owned(), "Runs".to_owned())],
        body,
    })
}

/// The parts of the page that also make a report.
pub(crate) fn parts(
    site: &Site<'_>,
    told: &Told,
    refused: Option<&Refused>,
) -> Result<Markup, Trouble> {
    Ok(match &told.document {
        Some(document) => html! {
            (figures(told, document))
            (questions::section(site, told, refused)?)
            (needed(told, document))
            (section("grid", "Stories and phases", html! { "What each agent and each check said, how long it took, what it cost." }, grid::grid(site, told, document)))
            (section("ledger", "Where the money went", html! { (money(document.cost_usd)) " in all, as the agents' programs report it." }, ledger::charts(site, told, document)?))
        },
        None => empty(
            "It died before it was planned.",
            "Start it again:",
            &format!("handover run {}", told.run.epic),
        ),
    })
}

/// The head of a run's pages.
pub(crate) fn heading(site: &Site<'_>, told: &Told) -> Markup {
    let run = &told.run;
    html! {
        header class="page" id="head" data-live {
            h1 { "Epic " (run.epic) " " (badge(state_tone(told.state()), word(told.state()))) }
            p class="muted" {
                "Run " code { (run.id) } " begun " (when(site.now, run.created_at)) ", last heard of " (when(site.now, run.updated_at))
                ", records in session " a href={ "/sessions/" (run.session) } { (run.session) }
                @if let Some(document) = &told.document { ", branch " code { (short(&document.branch, 100)) } }
            }
        }
    }
}

fn figures(told: &Told, document: &Document) -> Markup {
    let of_state =
        |state: &str| document.stories.iter().filter(|story| story.state == state).count();
    let (failed, blocked) = (of_state("failed"), of_state("blocked"));
    let doing = told.doing();
    html! {
        dl class="stats" id="figures" data-live {
            (stat("Stories done", of(of_state("done"), document.stories.len()), html! {
                @if failed > 0 { span class="bad" { (count(failed)) " failed" } " " }
                @if blocked > 0 { span class="warn" { (count(blocked)) " blocked" } }
            }))
            (stat("Cost", money(document.cost_usd), html! { (count(document.tokens)) " tokens" }))
            (stat("Time of agents and checks", duration(document.duration_ms), html! { (plural(usize::try_from(document.turns).unwrap_or(usize::MAX), "turn", "turns")) }))
            (stat("Right now", match doing.as_slice() {
                [] => html! { "–" },
                [one] => html! { (short(&one.what, 30)) },
                many => html! { (many.len()) " at once" },
            }, html! { @if let [one] = doing.as_slice() { (short(&one.story, 60)) } }))
        }
    }
}

/// What a person should know or do.
fn needed(told: &Told, document: &Document) -> Markup {
    let epic = &told.run.epic;
    let (tone, what, command) = match told.state() {
        RunState::Running | RunState::Done => return merge_note(document),
        RunState::Interrupted => (
            Tone::Warn,
            "It was interrupted; nothing is lost.",
            format!("handover run {epic} --resume"),
        ),
        RunState::Budget => (
            Tone::Warn,
            "Its budget is used up.",
            format!("handover run {epic} --resume --max-cost USD"),
        ),
        RunState::Environment => (
            Tone::Warn,
            "Something outside is missing or broken.",
            format!("handover run {epic} --resume"),
        ),
        RunState::Failed => (
            Tone::Bad,
            "Some stories failed; their work is kept on branches of their own.",
            format!("handover run {epic} --skip-done"),
        ),
        RunState::Blocked if document.units().any(|story| story.question.is_some()) => (
            Tone::Warn,
            "Some stories wait for an answer. With it the run goes on:",
            format!("handover run {epic} --resume"),
        ),
        RunState::Blocked if told.is_answered() => (
            Tone::Good,
            "Everything that was asked is answered. The run goes on with:",
            format!("handover run {epic} --resume"),
        ),
        RunState::Blocked => {
            (Tone::Warn, "Some stories are blocked.", format!("handover run {epic} --skip-done"))
        }
    };
    html! {
        div class={ "notice " (tone.class()) } id="needed" data-live {
            p { strong { (what) } @if let Some(reason) = &document.reason { " " (said(reason)) } }
            @for story in document.units().filter(|story| matches!(story.state(), StoryState::Failed | StoryState::Blocked)) {
                p {
                    code { (short(&story.id, 80)) } " " (story.state().as_str())
                    @if let Some(reason) = &story.reason { ": " (short(reason, 300)) }
                }
            }
            pre { code { (command) } }
        }
        (merge_note(document))
    }
}

fn merge_note(document: &Document) -> Markup {
    html! {
        @if let Some(refused) = &document.merge_refused {
            p class="notice warn" { "Your branch did not follow: " (said(refused)) }
        }
    }
}

/// What each agent said at its end, for whoever has only the report.
pub(crate) fn said_by_agents(told: &Told) -> Markup {
    let ended = told.ended();
    if ended.is_empty() {
        return html! {};
    }
    section(
        "said",
        "What agents said at their end",
        html! { "In the order of time, UTC." },
        html! {
            ol class="timeline" {
                @for end in &ended {
                    li {
                        p class="meta" {
                            time datetime=(end.at) title=(moment(end.at)) { (clock(end.at)) }
                            " " strong { (short(&end.phase, 30)) " " (end.attempt) } " " code { (short(&end.story, 80)) }
                        }
                        p class="words" { (short(&end.summary, 1_000)) }
                    }
                }
            }
        },
    )
}

/// Entries of a journal.
fn journal(entries: &[JournalEntry], from: usize, most: usize) -> Markup {
    use Column::{Number, Text};
    let columns =
        [Number("No."), Text("Time"), Text("Kind"), Text("What"), Text("Story"), Text("Outcome")];
    table("small journal", &columns, entries.iter().skip(from).take(most).map(line))
}

fn line(entry: &JournalEntry) -> Row {
    let word = |key: &str| entry.entry[key].as_str().unwrap_or_default();
    let what = [word("effect"), word("event"), word("note")].concat().replace('_', " ");
    let attempt = entry.entry["attempt"].as_u64();
    let outcome = ["verdict", "outcome", "state", "summary", "reason", "text", "commit"]
        .into_iter()
        .map(word)
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let tone = match entry.kind {
        JournalKind::Intent | JournalKind::Note => Tone::Calm,
        JournalKind::Result => Tone::Good,
    };
    let nothing = || html! { "–" };
    let outcome = match outcome {
        "" => nothing(),
        commit if commit == word("commit") => html! { code { (short(commit, 11)) } },
        outcome => short(&outcome.replace('_', " "), 120),
    };
    let attempt = html! {
        (short(&what, 60))
        @if let Some(attempt) = attempt { " " span class="muted" { (short(word("phase"), 30)) " " (attempt) } }
    };
    let story = word("story");
    Row::new(
        html! { (entry.seq) },
        [
            html! { time datetime=(entry.created_at) title=(moment(entry.created_at)) { (clock(entry.created_at)) } },
            badge(tone, entry.kind.as_str()),
            attempt,
            if story.is_empty() { nothing() } else { short(story, 60) },
            outcome,
        ],
    )
}

/// The whole journal, page by page.
pub(crate) fn journal_page(site: &Site<'_>, request: &PageRequest, id: &RunId) -> Shown {
    let told = Told::read(site, id)?;
    let all = told.entries.len();
    let last = all.saturating_sub(1) / LISTED * LISTED;
    let from = request.field("from").and_then(|from| from.parse().ok()).unwrap_or(last).min(all);
    let body = html! {
        (heading(site, &told))
        (section("journal", "Journal", html! { (plural(all, "entry", "entries")) ", written before and after everything that is done. Times are UTC." }, html! {
            (journal(&told.entries, from, LISTED))
            nav class="pages" aria-label="More entries" {
                @if from > 0 { a href={ "/runs/" (id) "/journal?from=" (from.saturating_sub(LISTED)) } { "Earlier" } }
                @if from + LISTED < all { a href={ "/runs/" (id) "/journal?from=" (from + LISTED) } { "Later" } }
            }
        }))
    };
    Ok(Page {
        title: format!("Journal of epic {}", told.run.epic),
        part: Part::Runs,
        above: vec![
            ("/runs".to_owned(), "Runs".to_owned()),
            (format!("/runs/{id}"), format!("Epic {}", told.run.epic)),
        ],
        body,
    })
}
