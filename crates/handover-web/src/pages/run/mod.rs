//! A run: stories, phases, cost, questions, and current activity.

mod act;
pub(crate) mod causes;
mod costs;
mod grid;
mod log;
mod questions;
mod step;
mod story;
mod talk;
mod waterfall;

use handover_model::{JournalEntry, JournalKind, RunId, RunState, StoryState};
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::pages::receipt::outcome::word_tone;
use crate::run_view::{RunDocument, RunView, step_path};
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{
    Column, Row, Tone, badge, clock, count, duration, empty_state, excerpt, fraction, moment,
    plural, price, relative_time, section, share, short_id, stat, state_tone, table, untrusted,
    utc_note, with_code,
};

use self::questions::RejectedAnswer;
use super::runs::state_label;

pub(crate) const PAGES: &[PageEntry] = &[
    PageEntry::new("run", "/runs/{run}", "/runs", render),
    PageEntry {
        demo_query: "?story=1-4-invoice-mail",
        ..PageEntry::new("story", "/runs/{run}/stories", "/runs", story::render)
    },
    PageEntry {
        demo_query: "?story=1-4-invoice-mail&phase=dev&attempt=1",
        ..PageEntry::new("step", "/runs/{run}/steps", "/runs", step::render)
    },
    PageEntry::new("journal", "/runs/{run}/journal", "/runs", journal_page),
    // A form that was refused leaves the browser at this address, so it shows the run too.
    PageEntry {
        submit: Some(act::submit),
        ..PageEntry::new("act", "/runs/{run}/act", "/runs", render)
    },
    // A rejected answer leaves the browser at this address, so it shows the run too.
    PageEntry {
        submit: Some(questions::submit),
        ..PageEntry::new("answers", "/runs/{run}/answers", "/runs", render)
    },
];

/// Journal entries on the run's page, and per page of the whole journal.
const LAST: usize = 12;
const LISTED: usize = 200;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    render_with(site, &route.id("run")?, None)
}

/// Where the parts of a run are shown.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// On its page, with an answer that was rejected and can be corrected.
    Page(Option<&'a RejectedAnswer>),
    /// In a file for somebody who can neither follow links nor send forms.
    File,
}

/// The page, with an answer that was rejected and can be corrected.
fn render_with(site: &Site<'_>, id: &RunId, rejected: Option<&RejectedAnswer>) -> PageResult {
    let view = RunView::read(site, id)?;
    let body = html! {
        (heading(site, &view))
        (sections(site, &view, Place::Page(rejected))?)
        (log::section(site, &view))
        (section("journal", "Journal", html! { "The last entries of " (count(view.entries.len())) ". " a href={ "/runs/" (id) "/journal" } { "All of it" } },
            journal_table(id, &view.entries, view.entries.len().saturating_sub(LAST), LAST)))
    };
    Ok(Page {
        title: format!("Run of epic {}", view.run.epic),
        breadcrumbs: vec![("/runs".to_owned(), "Runs".to_owned())],
        body,
    })
}

/// The sections that the page shares with the exported report.
pub(crate) fn sections(
    site: &Site<'_>,
    view: &RunView,
    place: Place<'_>,
) -> Result<Markup, PageError> {
    let rejected = match place {
        Place::Page(rejected) => rejected,
        Place::File => None,
    };
    let of_grid = match place {
        Place::Page(_) => {
            "Verdict, duration and cost of every agent and gate; each leads to its cause."
        }
        Place::File => "Verdict, duration and cost of every agent and gate.",
    };
    Ok(match &view.document {
        Some(document) => html! {
            (figures(view, document))
            (questions::section(site, view, rejected)?)
            (next_step(site, view, document))
            (act::run_forms(site, view))
            (section("grid", "Stories and phases", of_grid, grid::grid(site, view, document)))
            (section("time", "Time", html! { "When each step ran, to scale; pauses are shortened." }, waterfall::run(site, view)))
            (section("ledger", "Cost", html! { (price(document.price())) " in total, as reported by the agent programs." }, costs::charts(site, view, document)?))
        },
        None => empty_state(
            "It crashed before it was planned.",
            "Start it again:",
            &format!("handover run {}", view.run.epic),
        ),
    })
}

/// The header of a run's pages.
pub(crate) fn heading(site: &Site<'_>, view: &RunView) -> Markup {
    let run = &view.run;
    html! {
        header class="page" id="head" data-live {
            h1 { "Epic " (run.epic) " " (badge(state_tone(view.state()), state_label(view.state()))) }
            p class="muted" {
                "Run " code { (short_id(run.id.as_str())) } " started " (relative_time(site.now, run.created_at)) ", last active " (relative_time(site.now, run.updated_at))
                ", records in session " a href={ "/sessions/" (run.session) } { (run.session) }
                @if let Some(document) = &view.document { ", branch " code { (excerpt(&document.branch, 100)) } }
            }
            (share(&format!("/runs/{}", run.id)))
        }
    }
}

fn figures(view: &RunView, document: &RunDocument) -> Markup {
    let of_state =
        |state: &str| document.stories.iter().filter(|story| story.state == state).count();
    let (failed, blocked) = (of_state("failed"), of_state("blocked"));
    let active = view.active_work();
    html! {
        dl class="stats" id="figures" data-live {
            (stat("Stories done", fraction(of_state("done"), document.stories.len()), html! {
                @if failed > 0 { span class="bad" { (count(failed)) " failed" } " " }
                @if blocked > 0 { span class="warn" { (count(blocked)) " blocked" } }
            }))
            (stat("Cost", price(document.price()), html! { (count(document.tokens)) " tokens" }))
            (stat("Agent and gate time", duration(document.duration_ms), html! { (plural(usize::try_from(document.turns).unwrap_or(usize::MAX), "turn", "turns")) }))
            (stat("Right now", match active.as_slice() {
                _ if document.waits_until.is_some() && view.state() == RunState::Running => html! { "waiting" },
                [] => html! { "–" },
                [one] => html! { (excerpt(&one.what, 30)) },
                many => html! { (many.len()) " at once" },
            }, html! { @if let [one] = active.as_slice() { (excerpt(&one.story, 60)) } }))
        }
    }
}

/// Why the run stopped, and the command that continues it.
fn next_step(site: &Site<'_>, view: &RunView, document: &RunDocument) -> Markup {
    let epic = &view.run.epic;
    let (tone, what, command) = match view.state() {
        RunState::Running | RunState::Done => {
            return html! { (waiting(document)) (closing_notes(document)) };
        }
        RunState::Interrupted => (
            Tone::Warn,
            "It was interrupted; nothing is lost.",
            format!("handover run {epic} --resume"),
        ),
        RunState::Budget => (
            Tone::Warn,
            "Its budget is exhausted.",
            format!("handover run {epic} --resume --max-cost USD"),
        ),
        RunState::Environment => (
            Tone::Warn,
            "Something outside is missing or broken.",
            format!("handover run {epic} --resume"),
        ),
        RunState::Failed => (
            Tone::Bad,
            "Some stories failed; their work is kept on separate branches.",
            format!("handover run {epic}"),
        ),
        RunState::Blocked if document.units().any(|story| story.question.is_some()) => (
            Tone::Warn,
            "Some stories wait for an answer. Resume the run once they have it:",
            format!("handover run {epic} --resume"),
        ),
        RunState::Blocked if view.is_answered() => (
            Tone::Good,
            "Everything is answered. Resume the run:",
            format!("handover run {epic} --resume"),
        ),
        RunState::Blocked => (
            Tone::Warn,
            match site.may_write {
                true => "Some stories are blocked. Answer them above, or start again:",
                false => "Some stories are blocked. Answer them, or start again:",
            },
            format!("handover run {epic}"),
        ),
    };
    html! {
        div class={ "notice " (tone.class()) } id="needed" data-live {
            // What it waited for is no longer true once it is answered.
            @let reason = document.reason.as_ref().filter(|_| !view.is_answered());
            p { strong { (what) } @if let Some(reason) = reason { " " (with_code(reason, 1_000)) } }
            @for story in document.units().filter(|story| matches!(story.state(), StoryState::Failed | StoryState::Blocked)) {
                p {
                    code { (excerpt(&story.id, 80)) } " " (story.state().as_str())
                    @if let Some(reason) = &story.reason { ": " (with_code(reason, 300)) }
                }
            }
            pre { code { (command) } }
        }
        (closing_notes(document))
    }
}

/// Why nothing happens, and until when.
fn waiting(document: &RunDocument) -> Markup {
    html! {
        @if let Some(until) = document.waits_until {
            div class="notice warn" id="needed" data-live {
                p {
                    strong { "The agent program has reached a usage limit." } " The run waits until "
                    (moment(until)) " and then continues by itself."
                }
            }
        }
    }
}

/// What a reader should know whatever the state of the run is.
fn closing_notes(document: &RunDocument) -> Markup {
    let changed = document.units().filter(|story| !story.test_setup.is_empty());
    html! {
        @for story in changed {
            div class="notice warn" {
                p { code { (excerpt(&story.id, 80)) } " changed how it is tested:" }
                ul { @for line in &story.test_setup { li { (excerpt(line, 400)) } } }
            }
        }
        @if let Some(refused) = &document.merge_refused {
            p class="notice warn" { "Your branch was not fast-forwarded: " (untrusted(refused)) }
        }
    }
}

/// The final summaries of all agents, for the exported report.
pub(crate) fn agent_summaries(view: &RunView) -> Markup {
    let agents = view.finished_agents();
    if agents.is_empty() {
        return html! {};
    }
    section(
        "said",
        "Final messages of the agents",
        html! { "In chronological order. Times are UTC." },
        html! {
            ol class="timeline" {
                @for agent in &agents {
                    li {
                        p class="meta" {
                            (clock(agent.at))
                            " " strong { (excerpt(&agent.phase, 30)) " " (agent.attempt) } " " code { (excerpt(&agent.story, 80)) }
                        }
                        p class="words" { (excerpt(&agent.summary, 1_000)) }
                    }
                }
            }
        },
    )
}

fn journal_table(run: &RunId, entries: &[JournalEntry], from: usize, most: usize) -> Markup {
    use Column::{Number, Text};
    let columns =
        [Number("No."), Text("Time"), Text("Kind"), Text("What"), Text("Story"), Text("Outcome")];
    table(
        "small journal",
        &columns,
        entries.iter().skip(from).take(most).map(|entry| journal_row(run, entry)),
    )
}

fn journal_row(run: &RunId, entry: &JournalEntry) -> Row {
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
        JournalKind::Result => result_tone(entry),
    };
    let nothing = || html! { "–" };
    let outcome = match outcome {
        "" => nothing(),
        commit if commit == word("commit") => html! {
            a href={ "/runs/" (run) "/stories?story=" (escaped(word("story"))) "#landed" } { code { (excerpt(commit, 11)) } }
        },
        outcome => excerpt(&outcome.replace('_', " "), 120),
    };
    // An agent of a party has no page of its own.
    let is_step = !word("phase").is_empty() && entry.entry["voice"].is_null();
    let attempt = html! {
        @match attempt {
            Some(attempt) if is_step => a href=(step_path(run, word("story"), word("phase"), attempt)) data-drawer {
                (excerpt(&what, 60)) " " (excerpt(word("phase"), 30)) " " (attempt)
            },
            Some(attempt) => { (excerpt(&what, 60)) " " span class="muted" { (attempt) } },
            None => (excerpt(&what, 60)),
        }
    };
    let story = word("story");
    Row::new(
        html! { (entry.seq) },
        [
            clock(entry.created_at),
            badge(tone, entry.kind.as_str()),
            attempt,
            if story.is_empty() {
                nothing()
            } else {
                html! { a href={ "/runs/" (run) "/stories?story=" (escaped(story)) } { (excerpt(story, 60)) } }
            },
            outcome,
        ],
    )
}

/// The color of a result: that of what happened.
fn result_tone(entry: &JournalEntry) -> Tone {
    let word = |key: &str| entry.entry[key].as_str().unwrap_or_default();
    match word("event") {
        "gave_up" | "refused" => Tone::Bad,
        "stopped" => Tone::Warn,
        "phase_ended" if entry.entry["verdict"].is_null() => Tone::Bad,
        _ => match [word("verdict"), word("outcome"), word("state")]
            .into_iter()
            .find(|word| !word.is_empty())
        {
            Some("done") | None => Tone::Good,
            Some(word) => word_tone(word),
        },
    }
}

/// The whole journal, paginated.
fn journal_page(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &RunId = &route.id("run")?;
    let view = RunView::read(site, id)?;
    let all = view.entries.len();
    let last = all.saturating_sub(1) / LISTED * LISTED;
    let from = route.query("from").and_then(|from| from.parse().ok()).unwrap_or(last).min(all);
    let body = html! {
        (heading(site, &view))
        (section("journal", "Journal", html! { (plural(all, "entry", "entries")) ", written before and after every effect." (utc_note()) }, html! {
            (journal_table(id, &view.entries, from, LISTED))
            nav class="pages" aria-label="More entries" {
                @if from > 0 { a href={ "/runs/" (id) "/journal?from=" (from.saturating_sub(LISTED)) } { "Earlier" } }
                @if from + LISTED < all { a href={ "/runs/" (id) "/journal?from=" (from + LISTED) } { "Later" } }
            }
        }))
    };
    Ok(Page {
        title: format!("Journal of epic {}", view.run.epic),
        breadcrumbs: vec![
            ("/runs".to_owned(), "Runs".to_owned()),
            (format!("/runs/{id}"), format!("Epic {}", view.run.epic)),
        ],
        body,
    })
}
