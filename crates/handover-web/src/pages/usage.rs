//! What agents used of what they received: over time, by role, kind and section, and item by item; and what nobody uses,
//! with a way to retire it.

use std::collections::HashMap;

use handover_engine::stats::{
    self, Idle, ItemUses, Learning, Period, Stats, UseOf, UsePeriod, Uses,
};
use handover_model::{ItemKind, NoteId};
use handover_store::StrategyFilter;
use maud::{Markup, html};

use super::knowledge::tabs;
use crate::form::{Subject, retire_or_restore};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, excerpt, meter, plural, relative_time, role_name,
    section, single_line, table,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry::new("use", "/use", "/knowledge", render)];

/// Items on the page.
const LISTED: usize = 25;

fn render(site: &Site<'_>, _: &Route<'_>) -> PageResult {
    let stats = stats::of(site.store, site.project, None, site.now)?;
    let body = html! {
        header class="page" {
            h1 { "Use" }
            p class="lead" { "What agents opened, named or echoed of what they received, where their conversation was seen to its end." }
            (tabs("/use"))
        }
        @if stats.used.total.items == 0 {
            (empty_state("Nothing was judged yet.", "It is known once agents of a connected program have ended:", "handover host install"))
        } @else {
            (section("time", "Over time", html! { "Tokens of items whose agent was seen." }, periods(&stats.use_over_time)))
            (section("parts", "By role, kind and section", html! {}, parts(&stats)))
            (section("never", "Never used", html! { "Received at least five times and never used; critical and young records are not offered." }, never(site, &stats.never_used)))
            (section("items", "What costs most unused", html! { "Of " (plural(stats.use_by_item.len(), "item", "items")) "." }, items(site, &stats.use_by_item)))
            (section("learning", "Learning from use", html! {}, learning(&stats.learning)))
        }
    };
    Ok(Page { title: "Use".to_owned(), breadcrumbs: Vec::new(), body })
}

fn share(of: &UseOf) -> String {
    of.percent().map_or_else(|| "–".to_owned(), |percent| format!("{percent:.0} %"))
}

fn bar(of: &UseOf) -> Markup {
    meter(of.used_tokens as f64, of.tokens.max(1) as f64, Tone::Good)
}

fn periods(all: &[UsePeriod]) -> Markup {
    use Column::{Graphic, Number, Text};
    let columns = [
        Text("Period"),
        Number("Delivered"),
        Number("Judged"),
        Number("Used"),
        Number("Share"),
        Graphic("Share, as a bar"),
    ];
    let row = |period: &UsePeriod| {
        let of = &period.uses.total;
        Row::new(
            html! { (period.period.label()) },
            [
                html! { (count(period.delivered_tokens)) },
                html! { (count(of.tokens)) },
                html! { (count(of.used_tokens)) },
                html! { (share(of)) },
                bar(of),
            ],
        )
    };
    table("", &columns, all.iter().map(row))
}

fn parts(stats: &Stats) -> Markup {
    use Column::{Graphic, Number, Text};
    let mut columns = vec![
        Text("Part"),
        Text("Of"),
        Number("Items"),
        Number("Tokens"),
        Number("Share used"),
        Graphic("Share, as a bar"),
    ];
    // The same share in each part of the past.
    columns.extend(stats.use_over_time.iter().map(|period| Number(period.period.label())));
    let row = |name: &str, of_what: &str, of: &UseOf, part: &dyn Fn(&Uses) -> Option<UseOf>| {
        let mut cells = vec![
            badge(Tone::Calm, of_what),
            html! { (count(of.items)) },
            html! { (count(of.tokens)) },
            html! { (share(of)) },
            bar(of),
        ];
        cells.extend(stats.use_over_time.iter().map(|period| {
            html! { (share(&part(&period.uses).unwrap_or_default())) }
        }));
        Row::new(html! { (excerpt(name, 60)) }, cells)
    };
    let uses = &stats.used;
    let roles = uses.by_role.iter().map(|(role, of)| {
        row(&role_name(role.as_str()), "role", of, &|uses| uses.by_role.get(role).copied())
    });
    let kinds = uses
        .by_kind
        .iter()
        .map(|(kind, of)| row(kind.as_str(), "kind", of, &|uses| uses.by_kind.get(kind).copied()));
    let sections = uses
        .by_section
        .iter()
        .map(|(name, of)| row(name, "section", of, &|uses| uses.by_section.get(name).copied()));
    table("", &columns, roles.chain(kinds).chain(sections))
}

fn link(kind: ItemKind, id: &str) -> Option<String> {
    match kind {
        ItemKind::Package => Some(format!("/packages/{}", single_line(id))),
        ItemKind::Note => Some(format!("/notes/{}", single_line(id))),
        ItemKind::Strategy => Some(format!("/strategies/{}", single_line(id))),
        ItemKind::Error => Some(format!("/errors/{}", single_line(id))),
        ItemKind::Reasoning | ItemKind::Verdict => None,
    }
}

fn named(kind: ItemKind, id: &str, title: &str) -> Markup {
    html! {
        (badge(Tone::Calm, kind.as_str())) " "
        @match link(kind, id) {
            Some(link) => { a href=(link) { (excerpt(title, 120)) } }
            None => { (excerpt(title, 120)) }
        }
    }
}

fn never(site: &Site<'_>, all: &[Idle]) -> Markup {
    use Column::{Number, Text};
    if all.is_empty() {
        return html! { p { "Nothing: whatever agents received that often was used at least once." } };
    }
    let columns = [Text("Item"), Number("Briefs"), Number("Tokens"), Text("Retire")];
    let row = |idle: &Idle| {
        let subject = match idle.kind {
            ItemKind::Package => Some(Subject::Package),
            ItemKind::Note => Some(Subject::Note),
            ItemKind::Strategy => Some(Subject::Strategy),
            ItemKind::Reasoning | ItemKind::Error | ItemKind::Verdict => None,
        };
        Row::new(
            named(idle.kind, &idle.id, &idle.title),
            [
                html! { (count(idle.judged)) },
                html! { (count(idle.tokens)) },
                html! {
                    @match subject.filter(|_| site.may_write) {
                        Some(subject) => { (retire_or_restore(site, false, subject, &idle.id, "/use")) }
                        None => { code { (single_line(&idle.command)) } }
                    }
                },
            ],
        )
    };
    table("", &columns, all.iter().map(row))
}

/// What the listed items are called, as far as they are still there.
fn titles(site: &Site<'_>, all: &[ItemUses]) -> HashMap<(ItemKind, String), String> {
    let title = |one: &ItemUses| match one.kind {
        ItemKind::Package => {
            let package = site.store.package(one.id.parse().ok()?).ok()?;
            Some(package.title.unwrap_or(package.path))
        }
        ItemKind::Note => {
            let note = site.store.note(site.project, &NoteId::new(&one.id).ok()?).ok()?;
            Some(if note.title.is_empty() { note.text } else { note.title })
        }
        ItemKind::Strategy | ItemKind::Error | ItemKind::Reasoning | ItemKind::Verdict => None,
    };
    let listed = all.iter().take(LISTED);
    let mut titles: HashMap<_, _> = listed
        .filter_map(|one| {
            Some(((one.kind, one.id.clone()), title(one).filter(|it| !it.is_empty())?))
        })
        .collect();
    for strategy in
        site.store.strategies(site.project, &StrategyFilter::default()).unwrap_or_default()
    {
        titles.insert((ItemKind::Strategy, strategy.id), strategy.insight);
    }
    titles
}

fn items(site: &Site<'_>, all: &[ItemUses]) -> Markup {
    use Column::{Number, Text};
    let titles = titles(site, all);
    let mut columns = vec![
        Text("Item"),
        Number("Briefs"),
        Number("Judged"),
        Number("Used"),
        Number("Unused tokens"),
        Text("Last used"),
    ];
    // The share of its tokens that was used in each part of the past.
    columns.extend(Period::ALL.map(|period| Number(period.label())));
    let row = |one: &ItemUses| {
        let mut cells = vec![
            html! { (count(one.briefs)) },
            html! { (count(one.uses.items)) },
            html! { (count(one.uses.used)) },
            html! { (count(one.uses.tokens - one.uses.used_tokens)) },
            html! {
                @match one.last_used {
                    Some(at) => { (relative_time(site.now, at)) }
                    None => { "never" }
                }
            },
        ];
        cells.extend(Period::ALL.map(|period| {
            html! { (share(&one.over_time.get(&period).copied().unwrap_or_default())) }
        }));
        Row::new(
            named(
                one.kind,
                &one.id,
                titles.get(&(one.kind, one.id.clone())).map_or(one.id.as_str(), String::as_str),
            ),
            cells,
        )
    };
    table("", &columns, all.iter().take(LISTED).map(row))
}

fn learning(learning: &Learning) -> Markup {
    let state = learning.kinds.iter().map(|(kind, state)| match state.enough {
        true => format!("{kind}s by {:.0} uses", state.judged),
        false => format!("{kind}s not yet ({:.0} of {:.0} uses)", state.judged, state.needed),
    });
    let state: Vec<String> = state.collect();
    html! {
        p {
            @if state.is_empty() { "Nothing to learn from yet." } @else { (state.join(", ")) "." }
            " " (count(learning.applied.briefs)) " briefs with it, " (count(learning.held_out.briefs)) " held out to compare; "
            code { "handover stats" } " has the intervals."
        }
    }
}
