//! What worked and may work again.

use handover_model::Strategy;
use handover_store::StrategyFilter;
use maud::{Markup, html};

use crate::Site;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Column, Row, Tone, badge, count, empty, meter, plural, said, section, short, table, when,
};

/// How many are listed.
const LISTED: usize = 200;

pub(crate) fn page(site: &Site<'_>) -> Shown {
    let mut strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let all = strategies.len();
    strategies.truncate(LISTED);
    let note = html! { (plural(all, "strategy", "strategies")) ", most helpful first." };
    let body = html! {
        header class="page" {
            h1 { "Strategies" }
            p class="lead" { "What worked in one session and is told to every later one that fits." }
        }
        (section("strategies", "What worked", note, html! {
            @if strategies.is_empty() {
                (empty("No strategies yet.", "They are taken from the decisions and completions of a group that is done:", "handover strategy extract --group login"))
            } @else {
                (rows(site, &strategies))
            }
        }))
    };
    Ok(Page { title: "Strategies".to_owned(), part: Part::Strategies, above: Vec::new(), body })
}

fn rows(site: &Site<'_>, strategies: &[Strategy]) -> Markup {
    use Column::{Drawn, Number, Text};
    let columns = [
        Text("Insight"),
        Text("About"),
        Text("Holds for"),
        Number("Helped"),
        Drawn("Helped, as a bar"),
        Text("Last"),
    ];
    let most = strategies.iter().map(|strategy| strategy.helpfulness).max().unwrap_or(0) as f64;
    let row = |strategy: &Strategy| {
        let bound: Vec<&str> = [&strategy.language, &strategy.framework]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        Row::new(
            said(&strategy.insight),
            [
                badge(Tone::Calm, strategy.topic.as_str()),
                if bound.is_empty() {
                    html! { "everything" }
                } else {
                    short(&bound.join(", "), 60)
                },
                html! { (count(strategy.helpfulness)) },
                meter(strategy.helpfulness as f64, most, Tone::Good),
                when(site.now, strategy.last_seen),
            ],
        )
    };
    table("", &columns, strategies.iter().map(row))
}
