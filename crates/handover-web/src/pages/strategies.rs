//! The strategies of the project.

use handover_model::{Edit, ItemKind, RecordState, Strategy};
use handover_store::StrategyFilter;
use maud::{Markup, html};

use super::knowledge::tabs;
use super::record::{self, RECIPIENTS};
use crate::error::PageError;
use crate::form::{Subject, retire_or_restore};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Row, Tone, badge, count, empty_state, excerpt, fact, facts, kept_views,
    meter, ordered_table, plural, relative_time, retired, section, single_line, stale_names,
    untrusted,
};

pub(crate) const PAGES: &[PageEntry] = &[
    PageEntry::new("strategies", "/strategies", "/knowledge", render),
    PageEntry::new("strategy", "/strategies/{strategy}", "/knowledge", one),
];

/// Strategies on the page.
const LISTED: usize = 200;

const COLUMNS: [Column; 6] = [
    Column::Text("Insight"),
    Column::Text("About"),
    Column::Text("Applies to"),
    Column::Number("Helped"),
    Column::Graphic("Helped, as a bar"),
    Column::Text("Last"),
];

fn key(strategy: &Strategy, column: usize) -> Key {
    match column {
        0 => Key::text(&strategy.insight),
        1 => Key::text(strategy.topic.as_str()),
        2 => Key::text(technologies(strategy)),
        3 => Key::Number(strategy.helpfulness as f64),
        _ => Key::Number(strategy.last_seen.as_micros() as f64),
    }
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let order = Order::read(route, &COLUMNS);
    let mut strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    order.apply(&mut strategies, key);
    let all = strategies.len();
    strategies.truncate(LISTED);
    let note = html! { (plural(all, "strategy", "strategies")) @if !order.is_chosen() { ", most helpful first" } "." };
    let body = html! {
        header class="page" {
            h1 { "Strategies" }
            p class="lead" { "What worked in one session and is passed on to later ones with the same technology." }
            (tabs("/strategies"))
        }
        (kept_views())
        (section("strategies", "What worked", note, html! {
            @if strategies.is_empty() {
                (empty_state("No strategies yet.", "They are extracted from the decisions and completions of a group that is done:", "handover strategy extract --group login"))
            } @else {
                (rows(site, &strategies, &order))
            }
        }))
    };
    Ok(Page { title: "Strategies".to_owned(), breadcrumbs: Vec::new(), body })
}

/// The page of one strategy.
fn one(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id = route.param("strategy");
    let all = site.store.strategies(site.project, &StrategyFilter::default())?;
    let Some(strategy) = all.into_iter().find(|strategy| strategy.id == id) else {
        return Err(PageError::not_found("strategy", id));
    };
    let given = site.store.given(site.project, ItemKind::Strategy, id, RECIPIENTS)?;
    let changed =
        record::history(site, |edit| matches!(edit, Edit::Strategy { id: of, .. } if of == id))?;
    let is_retired = strategy.state == RecordState::Retired;
    let helped = usize::try_from(strategy.helpfulness).unwrap_or(usize::MAX);
    let stale = site.fresh.names(&strategy.insight).stale;
    let body = html! {
        header class="page" {
            h1 { (excerpt(&strategy.insight, 160)) }
            (retired(strategy.state, strategy.reason.as_deref()))
            (facts(html! {
                (fact("About", badge(Tone::Calm, strategy.topic.as_str())))
                (fact("Applies to", excerpt(&technologies(&strategy), 60)))
                (fact("Said by", html! { (strategy.trust) }))
                (fact("Helped", html! { (plural(helped, "time", "times")) ", last seen " (relative_time(site.now, strategy.last_seen)) }))
                @if !stale.is_empty() { (fact("Since then", stale_names(&stale))) }
                (fact("Id", html! { code { (excerpt(&strategy.id, 100)) } }))
            }))
            div class="acts" { (retire_or_restore(site, is_retired, Subject::Strategy, id, &format!("/strategies/{}", single_line(id)))) }
        }
        (section("text", "What it says", html! { "As an agent wrote it." }, html! { p class="words" { (untrusted(&strategy.insight)) } }))
        (section("readers", "Who got it", html! { "And whether they used it." }, record::recipients(site, &given)))
        (changed)
    };
    Ok(Page {
        title: "Strategy".to_owned(),
        breadcrumbs: vec![("/strategies".to_owned(), "Strategies".to_owned())],
        body,
    })
}

fn technologies(strategy: &Strategy) -> String {
    let known = [&strategy.language, &strategy.framework].into_iter().flatten();
    let known: Vec<&str> = known.map(String::as_str).collect();
    if known.is_empty() { "everything".to_owned() } else { known.join(", ") }
}

fn rows(site: &Site<'_>, strategies: &[Strategy], order: &Order) -> Markup {
    let most = strategies.iter().map(|strategy| strategy.helpfulness).max().unwrap_or(0) as f64;
    let row = |strategy: &Strategy| {
        let row = Row::new(
            html! {
                a href={ "/strategies/" (single_line(&strategy.id)) } { (excerpt(&strategy.insight, 240)) }
                (retired(strategy.state, strategy.reason.as_deref()))
                (retire_or_restore(site, strategy.state == RecordState::Retired, Subject::Strategy, &strategy.id, "/strategies"))
            },
            [
                badge(Tone::Calm, strategy.topic.as_str()),
                excerpt(&technologies(strategy), 60),
                html! { (count(strategy.helpfulness)) },
                meter(strategy.helpfulness as f64, most, Tone::Good),
                relative_time(site.now, strategy.last_seen),
            ],
        );
        if strategy.state == RecordState::Retired { row.dimmed() } else { row }
    };
    ordered_table("", &COLUMNS, Some(order), strategies.iter().map(row))
}
