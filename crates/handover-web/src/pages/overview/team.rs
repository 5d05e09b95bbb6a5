//! What the last days brought, in figures that a team can be shown: agents briefed, how much of it was used,
//! secrets that were stopped, errors that need not be made twice, and cost by day.

use handover_engine::stats::use_of;
use handover_model::{ItemKind, Receipt, Run, Timestamp};
use maud::{Markup, html};

use crate::error::PageError;
use crate::run_view;
use crate::site::Site;
use crate::view::{count, money, section, short_date, stat};

const DAY: i64 = 86_400_000_000;
/// Days of the figures and of the chart.
const WEEK: i64 = 7;
const CHART: usize = 14;
/// Briefs whose items are read: whether they were used is known per item.
const READ: usize = 100;

/// The cost of a day, as the chart draws it.
#[derive(Default, Clone, Copy)]
struct Day {
    cost: f64,
    agents: usize,
}

pub(super) fn render(
    site: &Site<'_>,
    receipts: &[Receipt],
    runs: &[Run],
) -> Result<Markup, PageError> {
    let since = Timestamp::from_micros(site.now.as_micros().saturating_sub(WEEK * DAY));
    let lately = || receipts.iter().filter(|one| one.delivered_at.is_some_and(|at| at >= since));
    let stopped: u64 = lately().flat_map(|one| one.redactions.values()).sum();
    let (mut tokens, mut used, mut judged, mut errors) = (0, 0, 0_usize, 0_usize);
    for receipt in lately().take(READ) {
        let whole = site.store.receipt(&receipt.id)?;
        errors += whole.items.iter().filter(|item| item.kind == ItemKind::Error).count();
        if let Some(of) = use_of(&whole).filter(|of| of.tokens > 0) {
            (tokens, used, judged) = (tokens + of.tokens, used + of.used_tokens, judged + 1);
        }
    }
    let days = by_day(site, runs)?;
    let briefed = lately().count();
    Ok(html! {
        (section("team", "The last 7 days", html! { "What agents got, and what it was good for." }, html! {
            dl class="stats" {
                (stat("Agents briefed", count(briefed), html! { (count(lately().map(|one| one.tokens).sum::<u64>())) " tokens" }))
                (stat("Used of it", share(used, tokens), html! { @if judged == 0 { "known once agents have ended" } @else { "of the tokens of " a href="/use" { (count(judged)) " briefs" } } }))
                (stat("Secrets stopped", count(stopped), "on their way into briefs"))
                (stat("Known errors passed on", count(errors), "with what solved them"))
            }
        }))
        @if days.iter().any(|day| day.agents > 0) {
            (section("days", "Cost by day", html! { (money(days.iter().map(|day| day.cost).sum())) " in " (CHART) " days, of runs." }, chart(site, &days)))
        }
    })
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.0} %", part as f64 / whole as f64 * 100.0)
    }
}

/// The last days, oldest first.
fn by_day(site: &Site<'_>, runs: &[Run]) -> Result<[Day; CHART], PageError> {
    let today = site.now.as_micros().div_euclid(DAY);
    let first = today - CHART as i64 + 1;
    let mut days = [Day::default(); CHART];
    for run in runs.iter().filter(|run| run.updated_at.as_micros().div_euclid(DAY) >= first) {
        for agent in run_view::finished_agents(&site.store.journal(&run.id, 1)?) {
            let at = agent.at.as_micros().div_euclid(DAY) - first;
            if let Some(day) = usize::try_from(at).ok().and_then(|at| days.get_mut(at)) {
                day.cost += agent.cost_usd;
                day.agents += 1;
            }
        }
    }
    Ok(days)
}

fn chart(site: &Site<'_>, days: &[Day; CHART]) -> Markup {
    let most = days.iter().map(|day| day.cost).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let first = site.now.as_micros().div_euclid(DAY) - CHART as i64 + 1;
    let date = |nth: usize| short_date(Timestamp::from_micros((first + nth as i64) * DAY));
    let label = days.iter().enumerate().filter(|(_, day)| day.agents > 0);
    let label: Vec<String> =
        label.map(|(nth, day)| format!("{} {}", date(nth), money(day.cost))).collect();
    html! {
        div class="scroll latest" tabindex="0" role="region" aria-label="Cost by day, scrolls sideways" {
        svg class="days" viewBox="0 0 700 130" role="img" aria-label=(format!("Cost by day: {}", label.join(", "))) {
            line x1="0" x2="700" y1="108" y2="108" {}
            @for (nth, day) in days.iter().enumerate() {
                @let (x, height) = (nth as f64 * 50.0, day.cost / most * 86.0);
                @if day.agents > 0 {
                    rect x=(x + 8.0) y=(format!("{:.1}", 108.0 - height.max(2.0))) width="34" height=(format!("{:.1}", height.max(2.0))) rx="3" {}
                    text x=(x + 25.0) y=(format!("{:.1}", 103.0 - height.max(2.0))) text-anchor="middle" { (money(day.cost)) }
                }
                @if nth % 2 == 1 || day.agents > 0 { text x=(x + 25.0) y="123" text-anchor="middle" { (date(nth)) } }
            }
        }
        }
    }
}
