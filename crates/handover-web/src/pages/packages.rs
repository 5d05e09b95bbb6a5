//! The packages of a session: topic, consumers, and whether anyone received them.

use handover_model::{Delivery, Package, Priority, Role, SessionId};
use handover_store::PackageFilter;
use maud::{Markup, html};

use super::session::graph::{Reach, reach_of};
use super::session::{heading, reach_badge};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Paging, Row, Tone, badge, count, empty_state, excerpt, plural, relative_time, retired,
    role_name, section, table,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("packages", "/sessions/{session}/packages", "/sessions", render)];

/// Packages per page.
const LISTED: u32 = 100;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &SessionId = &route.id("session")?;
    let role = route.query("role");
    let only_undelivered = route.query("reach") == Some("nobody");
    let mut paging = Paging::read(route, LISTED);
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
    let is_filtered = role.is_some() || only_undelivered;
    let note = html! {
        @if is_filtered { "Newest first" } @else { (plural(usize::try_from(counts.packages).unwrap_or(usize::MAX), "package", "packages")) ", newest first" }
        @if let Some(role) = role { ", by " (excerpt(&role_name(role), 60)) }
        @if only_undelivered { ", that reached nobody" }
        ". "
        @if is_filtered { a href={ "/sessions/" (id) "/packages" } { "Show all" } }
        @else { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "Show those that reached nobody" } }
    };
    let body = html! {
        (heading(site, &session, "packages"))
        (section("packages", "Packages", note, html! {
            @if counts.packages == 0 {
                (empty_state("No packages yet.", "A package is a Markdown file that one role leaves for others:", &format!("handover package add docs/notes.md --kind research --session {id}")))
            } @else if packages.is_empty() && paging.from == 0 {
                (empty_state("None matches.", "Every package here reached somebody, or nobody of that role wrote one.", ""))
            } @else {
                (rows(site, &packages))
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

fn rows(site: &Site<'_>, packages: &[(Package, Reach)]) -> Markup {
    use Column::{Number, Text};
    let columns = [
        Text("Package"),
        Text("Kind"),
        Text("By"),
        Text("For"),
        Text("Reached"),
        Number("Version"),
        Number("Tokens"),
        Text("Written"),
    ];
    let row = |(package, reach): &(Package, Reach)| {
        let roles: Vec<String> =
            package.consumers.iter().map(|role| role_name(role.as_str())).collect();
        Row::new(
            html! {
                a href={ "/packages/" (package.id) } { (excerpt(package.title.as_deref().unwrap_or(&package.path), 90)) }
                p class="muted" { (excerpt(&package.summary, 140)) }
                (retired(package.state, package.reason.as_deref()))
            },
            [
                html! {
                    (package.kind)
                    @if package.priority >= Priority::High { " " (badge(Tone::Calm, package.priority.as_str())) }
                },
                html! { (role_name(package.producer.as_str())) },
                html! { @if roles.is_empty() { "everyone" } @else { (roles.join(", ")) } },
                reach_badge(*reach),
                html! { (package.version) },
                html! { (count(package.tokens)) },
                relative_time(site.now, package.created_at),
            ],
        )
    };
    table("", &columns, packages.iter().map(row))
}
