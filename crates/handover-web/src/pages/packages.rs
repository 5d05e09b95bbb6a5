//! The packages of a session: topic, consumers, and whether anyone received them.

use handover_model::{Delivery, Package, Priority, Role, SessionId};
use handover_store::PackageFilter;
use maud::{Markup, html};

use super::session::graph::{Reach, reach_of};
use super::session::{heading, reach_badge};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, count, empty_state, excerpt, kept_views,
    ordered_table, plural, relative_time, retired, role_name, section,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("packages", "/sessions/{session}/packages", "/sessions", render)];

/// Packages per page.
const LISTED: u32 = 100;

const COLUMNS: [Column; 8] = [
    Column::Text("Package"),
    Column::Text("Kind"),
    Column::Text("By"),
    Column::Text("For"),
    Column::Text("Reached"),
    Column::Number("Version"),
    Column::Number("Tokens"),
    Column::Text("Written"),
];

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &SessionId = &route.id("session")?;
    let role = route.query("role");
    let only_undelivered = route.query("reach") == Some("nobody");
    let (mut paging, order) = (Paging::read(route, LISTED), Order::read(route, &COLUMNS));
    let (session, counts, mut packages) = site.store.reading(|store| {
        let filter = PackageFilter {
            undelivered: only_undelivered,
            skip: paging.from,
            limit: Some(paging.limit()),
            ..PackageFilter::default()
        };
        let packages = match role.map(Role::new).transpose() {
            Ok(producer) => store.packages(id, &PackageFilter { producer, ..filter })?,
            // What is no role has written nothing.
            Err(_) => Vec::new(),
        };
        let packages = packages.into_iter().map(|package| {
            let deliveries = store.package_deliveries(package.id)?;
            let reach = deliveries.iter().map(reach).max().unwrap_or(Reach::Undelivered);
            Ok((package, reach))
        });
        let packages = packages.collect::<handover_store::Result<Vec<_>>>()?;
        Ok((store.session(id)?, store.session_counts(id)?, packages))
    })?;
    paging.keep(&mut packages);
    order.apply(&mut packages, key);
    let in_order = if order.is_chosen() { "sorted" } else { "newest first" };
    let is_filtered = role.is_some() || only_undelivered;
    let note = html! {
        @if is_filtered { @if order.is_chosen() { "Sorted" } @else { "Newest first" } }
        @else { (plural(usize::try_from(counts.packages).unwrap_or(usize::MAX), "package", "packages")) ", " (in_order) }
        @if let Some(role) = role { ", by " (excerpt(&role_name(role), 60)) }
        @if only_undelivered { ", that reached nobody" }
        ". "
        @if is_filtered { a href={ "/sessions/" (id) "/packages" } { "Show all" } }
        @else { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "Show those that reached nobody" } }
    };
    let body = html! {
        (heading(site, &session, "packages"))
        (kept_views())
        (section("packages", "Packages", note, html! {
            @if counts.packages == 0 {
                (empty_state("No packages yet.", "A package is a Markdown file that one role leaves for others:", &format!("handover package add docs/notes.md --kind research --session {id}")))
            } @else if packages.is_empty() && paging.from == 0 {
                (empty_state("None matches.", "Every package here reached somebody, or nobody of that role wrote one.", ""))
            } @else {
                (rows(site, &packages, &order))
                (paging.links("packages"))
            }
        }))
    };
    Ok(Page {
        title: format!("Packages of {id}"),
        breadcrumbs: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{id}"), id.to_string()),
        ],
        body,
    })
}

/// How far a delivery got.
fn reach(delivery: &Delivery) -> Reach {
    match reach_of(delivery.state) {
        Reach::Undelivered => Reach::Undelivered,
        _ if delivery.read_at.is_some() => Reach::Read,
        arrived @ (Reach::Delivered | Reach::Confirmed | Reach::Read) => arrived,
    }
}

fn name(package: &Package) -> &str {
    package.title.as_deref().unwrap_or(&package.path)
}

fn consumers(package: &Package) -> String {
    let roles: Vec<String> =
        package.consumers.iter().map(|role| role_name(role.as_str())).collect();
    if roles.is_empty() { "everyone".to_owned() } else { roles.join(", ") }
}

fn key((package, reach): &(Package, Reach), column: usize) -> Key {
    match column {
        0 => Key::text(name(package)),
        1 => Key::text(package.kind.as_str()),
        2 => Key::text(package.producer.as_str()),
        3 => Key::text(consumers(package)),
        4 => Key::Number(f64::from(*reach as u8)),
        5 => Key::Number(f64::from(package.version)),
        6 => Key::Number(package.tokens as f64),
        _ => Key::Number(package.created_at.as_micros() as f64),
    }
}

fn rows(site: &Site<'_>, packages: &[(Package, Reach)], order: &Order) -> Markup {
    let row = |(package, reach): &(Package, Reach)| {
        Row::new(
            html! {
                a href={ "/packages/" (package.id) } { (excerpt(name(package), 90)) }
                p class="muted" { (excerpt(&package.summary, 140)) }
                (retired(package.state, package.reason.as_deref()))
            },
            [
                html! {
                    (package.kind)
                    @if package.priority >= Priority::High { " " (badge(Tone::Calm, package.priority.as_str())) }
                },
                html! { (role_name(package.producer.as_str())) },
                html! { (consumers(package)) },
                reach_badge(*reach),
                html! { (package.version) },
                html! { (count(package.tokens)) },
                relative_time(site.now, package.created_at),
            ],
        )
    };
    ordered_table("", &COLUMNS, Some(order), packages.iter().map(row))
}
