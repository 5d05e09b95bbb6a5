//! What the last days brought, in figures that a team can be shown: agents briefed, how much of it was used,
//! secrets that were kept out of them, errors that need not be made twice, and cost by day.

use handover_model::Timestamp;
use maud::{Markup, html};

use crate::error::PageError;
use crate::site::Site;
use crate::view::{count, money, plural, section, short_date, stat};

const DAY: i64 = 86_400_000_000;
/// Days of the figures and of the chart.
const WEEK: i64 = 7;
const CHART: usize = 14;

/// The cost of a day, as the chart draws it.
#[derive(Default, Clone, Copy)]
pub(super) struct Day {
    pub(super) cost: f64,
    pub(super) agents: usize,
}

pub(super) fn render(site: &Site<'_>, days: &[Day]) -> Result<Markup, PageError> {
    let since = Timestamp::from_micros(site.now.as_micros().saturating_sub(WEEK * DAY));
    let briefs = site.store.receipt_sums(site.project, since)?;
    let items = site.store.item_sums(site.project, since)?;
    let stopped: u64 = briefs.redactions.values().sum();
    Ok(html! {
        (section("team", "The last 7 days", html! { "What agents got, and what it was good for." }, html! {
            dl class="stats" {
                (stat("Agents briefed", count(briefs.delivered()), html! { (count(briefs.tokens)) " tokens" }))
                (stat("Share of briefs used", share(items.used_tokens, items.tokens), html! { @if items.judged == 0 { "known once agents have ended" } @else { "of the tokens of " a href="/use" { (plural(usize::try_from(items.judged).unwrap_or(usize::MAX), "brief", "briefs")) } } }))
                (stat("Secrets kept out of briefs", count(stopped), "each time, on their way in"))
                (stat("Known errors passed on", count(items.errors), "with what solved them"))
            }
        }))
        @if days.iter().any(|day| day.agents > 0) {
            (section("days", "Cost by day", html! { (money(days.iter().map(|day| day.cost).sum())) " in " (CHART) " days, of runs." }, chart(site, days)))
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

/// What agents cost on the last days, oldest first; the last one is today.
pub(super) fn days(site: &Site<'_>) -> Result<Vec<Day>, PageError> {
    let first = first_day(site);
    let mut days = vec![Day::default(); CHART];
    for cost in site.store.agent_costs(site.project, Timestamp::from_micros(first * DAY))? {
        if let Some(day) = usize::try_from(cost.day - first).ok().and_then(|at| days.get_mut(at)) {
            day.cost = cost.cost_usd;
            day.agents = usize::try_from(cost.agents).unwrap_or(usize::MAX);
        }
    }
    Ok(days)
}

fn first_day(site: &Site<'_>) -> i64 {
    site.now.as_micros().div_euclid(DAY) - CHART as i64 + 1
}

fn chart(site: &Site<'_>, days: &[Day]) -> Markup {
    let most = days.iter().map(|day| day.cost).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let first = first_day(site);
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
