//! A package: its text, versions and recipients.

use handover_context::package_file::{FileState, file_state};
use handover_model::{AmendmentDecision, Edit, ItemKind, ItemRef, Package, PackageId, RecordState};
use handover_store::Given;
use maud::{Markup, html};

use super::record;
use crate::error::PageError;
use crate::form::{Subject, Verb, button, edit_summary, retire_or_restore};
use crate::markdown;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Tone, badge, bytes, count, excerpt, fact, facts, plural, relative_time, retired, role_name,
    section, stale_names, untrusted,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("package", "/packages/{package}", "/sessions", render)];

/// Bytes of the text that are shown.
const SHOWN: usize = 60_000;
/// Versions that are listed.
const VERSIONS: usize = 50;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: PackageId = route.id("package")?;
    let (package, history, body) = site.store.reading(|store| {
        Ok((store.package(id)?, store.package_history(id)?, store.package_body(id)?))
    })?;
    let mut given = Vec::new();
    for version in history.iter().rev().take(VERSIONS) {
        let id = version.id.to_string();
        given.extend(site.store.given(site.project, ItemKind::Package, &id, record::RECIPIENTS)?);
    }
    let when = |one: &Given| (one.delivery.delivered_at, one.delivery.receipt.clone());
    given.sort_by_key(|one| std::cmp::Reverse(when(one)));
    given.truncate(record::RECIPIENTS as usize);
    let versions_of: Vec<PackageId> = history.iter().map(|version| version.id).collect();
    let changed = record::history(
        site,
        |edit| matches!(edit, Edit::Package { id, .. } | Edit::Version { id, .. } if versions_of.contains(id)),
    )?;
    let title = package.title.as_deref().unwrap_or(&package.path);
    let clean = site.redactor.clean(&body);
    let shown = clean.as_str().get(..clean.as_str().floor_char_boundary(SHOWN)).unwrap_or_default();
    let page = html! {
        header class="page" {
            h1 { (excerpt(title, 160)) }
            p class="lead" { (untrusted(&package.summary)) }
            @if let Some(next) = package.superseded_by {
                p class="notice warn" { "Superseded by a later version: " a href={ "/packages/" (next) } { "read that one" } "." }
            }
            (retired(package.state, package.reason.as_deref()))
            (acts(site, &package)?)
            (details(site, &package, shown)?)
        }
        div class="columns" {
            div {
                (section("versions", "Versions", html! { (plural(history.len(), "version", "versions")) }, versions(site, &history, id)))
                (changed)
            }
            (section("file", "The file", html! { "As it was registered, " (bytes(package.size_bytes)) ", without secrets." }, html! {
                article class="paper" { (markdown::render(shown)) }
                @if shown.len() < clean.as_str().len() { p class="note" { "Truncated; the rest is in the file." } }
            }))
        }
        (section("readers", "Who got it", html! { "Of any version." }, record::recipients(site, &given)))
    };
    let session = &package.session;
    Ok(Page {
        title: title.chars().take(80).collect(),
        breadcrumbs: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{session}"), session.to_string()),
            (format!("/sessions/{session}/packages"), "Packages".to_owned()),
        ],
        body: page,
    })
}

/// What can be done with it.
fn acts(site: &Site<'_>, package: &Package) -> Result<Markup, PageError> {
    let (id, back) = (package.id.to_string(), format!("/packages/{}", package.id));
    let is_retired = package.state == RecordState::Retired;
    let earlier = ItemRef { kind: ItemKind::Package, id: id.clone() };
    let replaced = site.store.amendments(site.project)?;
    let mut decisions =
        replaced.iter().filter(|one| one.earlier == earlier).map(|one| one.decision);
    // What was rejected counts again, and nothing is left to decide.
    let decision = decisions.find(|decision| *decision != AmendmentDecision::Rejected);
    Ok(html! {
        div class="acts" {
            (retire_or_restore(site, is_retired, Subject::Package, &id, &back))
            @if !is_retired && package.superseded_by.is_none() { (edit_summary(site, &id, &package.summary, &back)) }
            @if let Some(decision) = decision.filter(|_| !is_retired) {
                @if decision == AmendmentDecision::Open { (button(site, Verb::Confirm, Subject::Package, &id, &back)) }
                (button(site, Verb::Reject, Subject::Package, &id, &back))
            }
        }
    })
}

fn details(site: &Site<'_>, package: &Package, text: &str) -> Result<Markup, PageError> {
    let named = format!("{}\n{}\n{text}", package.summary, package.files.join("\n"));
    let stale = site.fresh.names(&named).stale;
    let consumers: Vec<String> =
        package.consumers.iter().map(|role| role_name(role.as_str())).collect();
    let replaced = record::replacements(site, ItemKind::Package, &package.id.to_string())?;
    Ok(facts(html! {
        (fact("Kind", html! { (package.kind) ", " (package.priority) " priority" }))
        (fact("By", html! { (role_name(package.producer.as_str())) ", " (relative_time(site.now, package.created_at)) }))
        (fact("For", html! {
            @if consumers.is_empty() { "everyone" } @else { (consumers.join(", ")) }
            @match &package.group { Some(group) => { " of group " (group) }, None => {} }
        }))
        (fact("Costs", html! { (count(package.tokens)) " tokens to read" }))
        (fact("File", html! {
            code { (excerpt(&package.path, 160)) }
            @match file_state(site.paths, package) {
                FileState::Current => {},
                FileState::Elsewhere => { " " (badge(Tone::Calm, "on another machine")) },
                FileState::Changed => { " " (badge(Tone::Warn, "changed since")) },
                FileState::Vanished => { " " (badge(Tone::Warn, "gone")) },
            }
        }))
        @if !package.files.is_empty() {
            (fact("About", html! {
                @for (nth, file) in package.files.iter().take(12).enumerate() { @if nth > 0 { ", " } code { (excerpt(file, 100)) } }
                @if package.files.len() > 12 { " and " (count(package.files.len() - 12)) " others" }
            }))
        }
        @if !stale.is_empty() { (fact("Since then", stale_names(&stale))) }
        (replaced)
    }))
}

fn versions(site: &Site<'_>, history: &[Package], id: PackageId) -> Markup {
    html! {
        ol class="list versions" {
            @for version in history.iter().rev().take(VERSIONS) {
                li {
                    span class="muted" { "v" (version.version) " " }
                    @if version.id == id { strong { (excerpt(&version.summary, 140)) } }
                    @else { a href={ "/packages/" (version.id) } { (excerpt(&version.summary, 140)) } }
                    span class="muted" { " " (relative_time(site.now, version.created_at)) }
                }
            }
        }
    }
}
