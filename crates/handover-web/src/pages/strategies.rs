//! The strategies of the project.

use handover_model::{RecordState, Strategy};
use handover_store::StrategyFilter;
use maud::{Markup, html};

use crate::form::{Subject, retire_or_restore};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, excerpt, meter, plural, relative_time, retired,
    section, table, untrusted,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("strategies", "/strategies", "/knowledge", render)];

/// Strategies on the page.
const LISTED: usize = 200;

fn render(site: &Site<'_>, _: &Route<'_>) -> PageResult {
    let mut strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let all = strategies.len();
    strategies.truncate(LISTED);
    let note = html! { (plural(all, "strategy", "strategies")) ", most helpful first." };
    let body = html! {
        header class="page" {
            h1 { "Strategies" }
            p class="lead" { "What worked in one session and is passed on to later ones with the same technology." }
        }
        (section("strategies", "What worked", note, html! {
            @if strategies.is_empty() {
                (empty_state("No strategies yet.", "They are extracted from the decisions and completions of a group that is done:", "handover strategy extract --group login"))
            } @else {
                (rows(site, &strategies))
            }
        }))
    };
    Ok(Page { title: "Strategies".to_owned(), breadcrumbs: Vec::new(), body })
}

fn rows(site: &Site<'_>, strategies: &[Strategy]) -> Markup {
    use Column::{Graphic, Number, Text};
    let columns = [
        Text("Insight"),
        Text("About"),
        Text("Applies to"),
        Number("Helped"),
        Graphic("Helped, as a bar"),
        Text("Last"),
    ];
    let most = strategies.iter().map(|strategy| strategy.helpfulness).max().unwrap_or(0) as f64;
    let row = |strategy: &Strategy| {
        let technologies: Vec<&str> = [&strategy.language, &strategy.framework]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let row = Row::new(
            html! {
                (untrusted(&strategy.insight))
                (retired(strategy.state, strategy.reason.as_deref()))
                (retire_or_restore(site, strategy.state == RecordState::Retired, Subject::Strategy, &strategy.id, "/strategies"))
            },
            [
                badge(Tone::Calm, strategy.topic.as_str()),
                if technologies.is_empty() {
                    html! { "everything" }
                } else {
                    excerpt(&technologies.join(", "), 60)
                },
                html! { (count(strategy.helpfulness)) },
                meter(strategy.helpfulness as f64, most, Tone::Good),
                relative_time(site.now, strategy.last_seen),
            ],
        );
        if strategy.state == RecordState::Retired { row.dimmed() } else { row }
    };
    table("", &columns, strategies.iter().map(row))
}
