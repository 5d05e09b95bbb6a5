//! The overview: activity, cost, and what needs attention.

mod team;

use std::collections::BTreeMap;

use handover_model::{
    Coverage, KnownEvent, Phase, ReceiptState, RunState, Session, SessionStatus, Timestamp,
};
use handover_store::{EventFilter, ReasoningFilter, ReceiptFilter, RunFilter};
use maud::{Markup, html};

use super::{away, receipts, runs, sessions};
use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::run_view::RunView;
use crate::site::Site;
use crate::view::{
    Tone, badge, count, empty_state, excerpt, money, plural, relative_time, role_name, section,
    stat,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry::in_nav("overview", "/", "Overview", render)];

const DAY: i64 = 86_400_000_000;
// How many records are listed. Figures count all of them.
const LISTED: usize = 6;
const FAILED: u32 = 5;
const NEEDS: usize = 12;
/// Runs that need a person, of which the reason is read: each is a whole journal.
const RUNS: usize = 15;

/// Something that needs a person's attention.
struct Need {
    tone: Tone,
    word: &'static str,
    link: String,
    what: Markup,
    at: Timestamp,
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let sessions = site.store.sessions(None)?;
    let runs = site.store.runs(&RunFilter::default())?;
    let latest = ReceiptFilter { limit: Some(LISTED as u32), ..ReceiptFilter::default() };
    let receipts = site.store.receipts(&latest)?;
    let midnight = Timestamp::from_micros(site.now.as_micros().div_euclid(DAY) * DAY);
    let active: Vec<Session> = sessions
        .iter()
        .filter(|session| session.status == SessionStatus::Active)
        .cloned()
        .collect();
    let days = team::days(site)?;
    let spent = days.last().copied().unwrap_or_default();
    let today = site.store.receipt_sums(site.project, midnight)?;
    let failed = today.by_state.get(&ReceiptState::Failed).copied().unwrap_or_default();
    let (needs, is_whole) = collect_needs(site, &active, &runs)?;
    let nothing = sessions.is_empty() && runs.is_empty();
    let team = team::render(site, &days)?;
    let away = away::summary(site, route)?;
    let body = html! {
        header class="page" { h1 { (site.project) } }
        @if nothing {
            (empty_state("Nothing has happened yet.", "Open a session, one for each piece of work, and give it something to hand over:",
                "handover session new login-rework\nhandover package add docs/notes.md --kind research\nhandover assemble --role developer --task \"…\" --deliver"))
            p class="muted" { "Or look at a demo first: " code { "handover demo --web" } "." }
        } @else {
            (away)
            dl class="stats" id="figures" data-live {
                (stat("Sessions", count(active.len()), html! { "active, " (count(sessions.len())) " in total" }))
                (stat("Runs", count(runs.iter().filter(|run| run.state == RunState::Running).count()), html! { "running, " (count(runs.len())) " in total" }))
                (stat("Cost today", money(spent.cost), html! { (plural(spent.agents, "agent", "agents")) " of runs" }))
                (stat("Briefed today", count(today.delivered()), html! { (count(today.tokens)) " tokens" }))
                (stat("Failed today", html! { span class=(if failed > 0 { "bad" } else { "" }) { (count(failed)) } }, if failed > 0 { "briefs that never arrived" } else if today.delivered() > 0 { "every brief arrived" } else { "no briefs yet" }))
            }
            @if let Some(counts) = (site.coverage)() { (covered(&counts)) }
            (section("needs", "Needs a person", html! { @if !needs.is_empty() { @if !is_whole { "At least " } (count(needs.len())) " waiting. " } a href="/away" { "What happened lately" } }, need_list(site, &needs)))
            (team)
            @if !runs.is_empty() {
                (section("runs", "Runs", html! { a href="/runs" { "All runs" } }, runs::rows(site, &runs[..runs.len().min(LISTED)])))
            }
            @if !sessions.is_empty() {
                (section("sessions", "Sessions", html! { a href="/sessions" { "All sessions" } }, sessions::rows(site, &sessions[..sessions.len().min(LISTED)])))
            }
            @if !receipts.is_empty() {
                (section("receipts", "Latest briefs", html! { "What agents were given." }, receipts::rows(site, &receipts)))
            }
        }
    };
    Ok(Page { title: "Overview".to_owned(), breadcrumbs: Vec::new(), body })
}

/// What became of the subagents of agent programs.
fn covered(counts: &BTreeMap<Coverage, u64>) -> Markup {
    let of = |state: &Coverage| counts.get(state).copied().unwrap_or_default();
    let missed = of(&Coverage::Missed) > 0;
    html! {
        p class="note" id="coverage" {
            (badge(if missed { Tone::Bad } else { Tone::Good }, "coverage"))
            " Subagents of the last 7 days: "
            @for (nth, state) in Coverage::ALL.iter().enumerate() {
                @if nth > 0 { ", " } (count(of(state))) " " (state.as_str())
            }
            "."
            @if missed { " " code { "handover coverage" } " says why." }
        }
    }
}

fn need_list(site: &Site<'_>, needs: &[Need]) -> Markup {
    html! {
        @if needs.is_empty() { p class="muted" { "Nothing. Every brief arrived, and no run is waiting." } }
        ul class="list needs" {
            @for need in needs.iter().take(NEEDS) {
                li {
                    (badge(need.tone, need.word))
                    a href=(need.link) { (need.what) }
                    span class="muted" { (relative_time(site.now, need.at)) }
                }
            }
            @if needs.len() > NEEDS { li class="muted" { "and " (plural(needs.len() - NEEDS, "other", "others")) } }
        }
    }
}

/// Stopped runs, failed briefs, blockers and degraded handoffs; and whether those are all.
fn collect_needs(
    site: &Site<'_>,
    active: &[Session],
    runs: &[handover_model::Run],
) -> Result<(Vec<Need>, bool), PageError> {
    let mut needs = Vec::new();
    let mut epics = Vec::new();
    let mut is_whole = true;
    for run in runs {
        // Only the latest run of each epic counts.
        if epics.contains(&&run.epic) {
            continue;
        }
        epics.push(&run.epic);
        if run.state == RunState::Done {
            continue;
        }
        if needs.len() >= RUNS {
            is_whole = false;
            break;
        }
        let Ok(view) = RunView::read(site, &run.id) else { continue };
        let (tone, word) = match view.state() {
            RunState::Running | RunState::Done => continue,
            RunState::Failed => (Tone::Bad, "failed"),
            state @ (RunState::Interrupted
            | RunState::Budget
            | RunState::Environment
            | RunState::Blocked) => (Tone::Warn, runs::state_label(state)),
        };
        let reason = view.document.as_ref().and_then(|document| {
            let story = document
                .stories
                .iter()
                .find(|story| matches!(story.state.as_str(), "failed" | "blocked"));
            document.reason.clone().or_else(|| story.and_then(|story| story.reason.clone()))
        });
        needs.push(Need {
            tone,
            word,
            link: format!("/runs/{}", run.id),
            what: html! { "Epic " (run.epic) @if let Some(reason) = reason { ": " (excerpt(&reason, 140)) } },
            at: run.updated_at,
        });
    }
    let week = site.now.as_micros().saturating_sub(7 * DAY);
    let state = Some(ReceiptState::Failed);
    let failed = ReceiptFilter { state, limit: Some(FAILED), ..ReceiptFilter::default() };
    for receipt in site.store.receipts(&failed)? {
        if receipt.created_at.as_micros() < week {
            break;
        }
        needs.push(Need {
            tone: Tone::Bad,
            word: "brief failed",
            link: format!("/receipts/{}", receipt.id),
            what: html! { (role_name(receipt.role.as_str())) " in " (receipt.session) @if let Some(failure) = &receipt.failure { ": " (excerpt(failure, 120)) } },
            at: receipt.created_at,
        });
    }
    for session in active.iter().take(8) {
        needs_of_session(site, session, &mut needs)?;
    }
    needs.sort_by_key(|need| (need.tone != Tone::Bad, std::cmp::Reverse(need.at)));
    Ok((needs, is_whole))
}

fn needs_of_session(
    site: &Site<'_>,
    session: &Session,
    needs: &mut Vec<Need>,
) -> Result<(), PageError> {
    let id = &session.id;
    let blockers = ReasoningFilter {
        phase: Some(Phase::Blockers),
        limit: Some(3),
        ..ReasoningFilter::default()
    };
    for entry in site.store.reasoning(id, &blockers)? {
        needs.push(Need {
            tone: Tone::Warn,
            word: "blocker",
            link: format!("/sessions/{id}/reasoning?role={}", entry.role),
            what: html! { (role_name(entry.role.as_str())) ": " (excerpt(&entry.content, 140)) },
            at: entry.created_at,
        });
    }
    let degraded = EventFilter {
        kind: Some(KnownEvent::Degraded.into()),
        limit: Some(3),
        ..EventFilter::default()
    };
    for event in site.store.events(id, &degraded)? {
        let text = |key: &str| event.payload[key].as_str().unwrap_or_default().to_owned();
        needs.push(Need {
            tone: Tone::Warn,
            word: "degraded",
            link: format!("/sessions/{id}"),
            what: html! { "An agent in " (id) " got less than it should have. " (excerpt(&text("reason"), 120)) },
            at: event.created_at,
        });
    }
    Ok(())
}
