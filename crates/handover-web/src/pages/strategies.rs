//! What worked and may work again.

use handover_store::StrategyFilter;
use maud::html;

use crate::Site;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{Tone, badge, count, empty, meter, plural, said, section, short, when};

/// How many are listed.
const LISTED: usize = 200;

pub(crate) fn page(site: &Site<'_>) -> Shown {
    let mut strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let all = strategies.len();
    strategies.truncate(LISTED);
    let most = strategies.iter().map(|strategy| strategy.helpfulness).max().unwrap_or(0) as f64;
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
                table class="rows" {
                    thead { tr { th { "Insight" } th { "About" } th { "Holds for" } th class="number" { "Helped" } th class="wide" { span class="unseen" { "Helped, as a bar" } } th { "Last" } } }
                    tbody {
                        @for strategy in &strategies {
                            tr {
                                th scope="row" class="words" { (said(&strategy.insight)) }
                                td { (badge(Tone::Calm, strategy.topic.as_str())) }
                                td {
                                    @match (&strategy.language, &strategy.framework) {
                                        (None, None) => "everything",
                                        (language, framework) => {
                                            @if let Some(language) = language { (short(language, 30)) " " }
                                            @if let Some(framework) = framework { (short(framework, 30)) }
                                        }
                                    }
                                }
                                td class="number" { (count(strategy.helpfulness)) }
                                td class="wide" { (meter(strategy.helpfulness as f64, most, Tone::Good)) }
                                td { (when(site.now, strategy.last_seen)) }
                            }
                        }
                    }
                }
            }
        }))
    };
    Ok(Page { title: "Strategies".to_owned(), part: Part::Strategies, above: Vec::new(), body })
}
