//! The packages of a session: what each is about, for whom, and how far it came.

use handover_model::{Package, Priority, SessionId};
use handover_store::PackageFilter;
use maud::{Markup, html};

use super::session::scene::{Reach, Scene};
use super::session::{heading, reach_badge};
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Column, Row, Tone, badge, count, empty, plural, role_name, section, short, table, when,
};
use crate::{PageRequest, Site};

/// How many are listed on one page.
const LISTED: usize = 100;

pub(crate) fn page(site: &Site<'_>, request: &PageRequest, id: &SessionId) -> Shown {
    let role = request.field("role");
    let only_lost = request.field("reach") == Some("nobody");
    let from: usize = request.field("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    let (session, all, packages) = site.store.reading(|store| {
        let scene = Scene::read(store, id)?;
        let wanted: Vec<_> = scene
            .latest()
            .filter(|sent| role.is_none_or(|role| sent.producer.as_str() == role))
            .filter(|sent| !only_lost || sent.reach == Reach::Nobody)
            .map(|sent| (sent.id, sent.reach))
            .collect();
        let (ids, reaches): (Vec<_>, Vec<_>) =
            wanted.iter().rev().skip(from).take(LISTED).copied().unzip();
        let packages: Vec<_> = store.packages_by_id(&ids)?.into_iter().zip(reaches).collect();
        Ok((store.session(id)?, wanted.len(), packages))
    })?;
    let total =
        site.store.packages(id, &PackageFilter { limit: Some(1), ..PackageFilter::default() })?;
    let link = |from: usize| {
        let mut link = format!("/sessions/{id}/packages?from={from}");
        if let Some(role) = role {
            link.push_str("&role=");
            link.extend(form_urlencoded::byte_serialize(role.as_bytes()));
        }
        if only_lost {
            link.push_str("&reach=nobody");
        }
        link
    };
    let note = html! {
        (plural(all, "package", "packages")) ", newest first"
        @if let Some(role) = role { ", by " (short(&role_name(role), 60)) }
        @if only_lost { ", that reached nobody" }
        ". "
        @if role.is_some() || only_lost { a href={ "/sessions/" (id) "/packages" } { "Show all" } }
        @else { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "Show those that reached nobody" } }
    };
    let body = html! {
        (heading(site, &session, "packages"))
        (section("packages", "Packages", note, html! {
            @if total.is_empty() {
                (empty("No packages yet.", "A package is a Markdown file that one role leaves for others:", &format!("handover package add docs/notes.md --kind research --session {id}")))
            } @else if packages.is_empty() {
                (empty("None fits.", "Every package here reached somebody, or nobody of that role wrote one.", ""))
            } @else {
                (rows(site, &packages))
                nav class="pages" aria-label="More packages" {
                    @if from > 0 { a href=(link(from.saturating_sub(LISTED))) { "Newer" } }
                    @if from + LISTED < all { a href=(link(from + LISTED)) { "Older" } }
                }
            }
        }))
    };
    Ok(Page {
        title: format!("Packages of {id}"),
        part: Part::Sessions,
        above: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{id}"), id.to_string()),
        ],
        body,
    })
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
                a href={ "/packages/" (package.id) } { (short(package.title.as_deref().unwrap_or(&package.path), 90)) }
                p class="muted" { (short(&package.summary, 140)) }
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
                when(site.now, package.created_at),
            ],
        )
    };
    table("", &columns, packages.iter().map(row))
}
