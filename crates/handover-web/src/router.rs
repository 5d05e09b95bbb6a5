//! Finds the page of a request.

use handover_model::Timestamp;
use handover_text::redact_message;
use maud::{Markup, html};

use crate::error::PageError;
use crate::layout::{self, Frame, NavEntry};
use crate::page::{FormOutcome, Page, PageEntry, Route};
use crate::request::{Method, PageRequest};
use crate::response::PageResponse;
use crate::site::Site;
use crate::view::untrusted;
use crate::{asset, form, pages, report, visit};

/// Answers a request. Failures become pages too.
pub fn answer(site: &Site<'_>, request: &PageRequest) -> PageResponse {
    match file(site, request) {
        Some(response) => response,
        None => {
            let mut response = page(site, request);
            visit::remember(request, site.now, &mut response);
            response
        }
    }
}

/// All that a page depends on besides the project, its state and the rights of the caller: requests with the same
/// address here have the same page. None for what is not a page, or is shown once.
pub fn shared_address(request: &PageRequest, now: Timestamp) -> Option<String> {
    let found =
        pages::ALL.iter().copied().flatten().find(|entry| entry.matches(&request.path).is_some());
    if found.is_none() || request.method != Method::Get || request.query("done").is_some() {
        return None;
    }
    let visited = ["/", "/away"].contains(&&*request.path);
    let before = visit::before(request, now).filter(|_| visited);
    let mut address = form_urlencoded::Serializer::new(String::new());
    address.append_pair("path", &request.path).append_pair("theme", layout::theme(request));
    address.append_pair("before", &before.map(|time| time.to_string()).unwrap_or_default());
    for (name, value) in &request.query {
        address.append_pair(name, value);
    }
    Some(address.finish())
}

/// What is not a page: assets, pictures and files to send; and the choice of a theme.
fn file(site: &Site<'_>, request: &PageRequest) -> Option<PageResponse> {
    asset::at(&request.path)
        .or_else(|| pages::session::picture::file(site, request))
        .or_else(|| report::file(site, request))
        .or_else(|| (request.path == "/theme").then(|| layout::choose_theme(request)))
}

/// Answers a request for a page, without what the browser has to remember ([`visit::remember`]).
pub fn page(site: &Site<'_>, request: &PageRequest) -> PageResponse {
    let found = pages::ALL.iter().copied().flatten().find_map(|entry| {
        entry.matches(&request.path).map(|params| (entry, Route { request, params }))
    });
    let (section, rendered) = match found {
        None => ("", Err(PageError::not_found("page", &request.path))),
        Some((entry, route)) => match request.method {
            Method::Get => (entry.section, (entry.render)(site, &route).map(|page| (200, page))),
            Method::Post => match submit(site, entry, &route) {
                Ok(FormOutcome::Redirect(path)) => return PageResponse::redirect(path),
                Ok(FormOutcome::Rejected(status, page)) => (entry.section, Ok((status, *page))),
                Err(error) => (entry.section, Err(error)),
            },
        },
    };
    let (section, (status, page)) = match rendered {
        Ok(rendered) => (section, rendered),
        Err(error) => ("", error_page(error)),
    };
    let done = request.query("done").filter(|_| request.method == Method::Get);
    let done = done.and_then(|done| pages::changes::told(site, &request.path, done));
    let frame = Frame { site, request, nav: &navigation(), section, done: done.as_ref() };
    let mut response = layout::render(&frame, &page);
    response.status = status;
    response
}

fn submit(site: &Site<'_>, entry: &PageEntry, route: &Route<'_>) -> Result<FormOutcome, PageError> {
    let token = route.request.form_field(form::TOKEN).unwrap_or_default();
    match entry.submit {
        Some(_) if site.may_write && token != site.form_token => Ok(pages::changes::refused(
            403,
            "The form is too old or comes from elsewhere. Go back, load the page again, and send it once more.",
            route,
        )),
        Some(submit) if site.may_write => submit(site, route),
        Some(_) | None => Err(PageError::not_found("form", &route.request.path)),
    }
}

fn navigation() -> Vec<NavEntry> {
    let entries = pages::ALL.iter().copied().flatten();
    entries.filter_map(|entry| Some(NavEntry { path: entry.path, label: entry.nav? })).collect()
}

/// Every page of the demo project: its name, and its path with `{name}` for parameters.
pub fn demo_paths() -> Vec<(&'static str, String)> {
    let entries = pages::ALL.iter().copied().flatten();
    entries.map(|entry| (entry.name, format!("{}{}", entry.path, entry.demo_query))).collect()
}

fn error_page(error: PageError) -> (u16, Page) {
    match error {
        PageError::NotFound { what, id } => {
            let text = format!("There is no {what} {id}.");
            let next = html! { "It may have been purged, or the address is mistyped. Go to the " a href="/" { "overview" } " or search." };
            (404, explanation("Not found", &text, &next))
        }
        PageError::Store(error) => {
            let next = html! { "Run " code { "handover doctor" } " to find out why." };
            (503, explanation("The store does not answer", &error.to_string(), &next))
        }
        PageError::Engine(error) => {
            let next = html! { code { "handover run journal" } " shows the raw entries." };
            (500, explanation("This run cannot be read", &error.to_string(), &next))
        }
    }
}

fn explanation(title: &str, what: &str, next: &Markup) -> Page {
    Page {
        title: title.to_owned(),
        breadcrumbs: Vec::new(),
        body: html! {
            h1 { (title) }
            p class="lead" { (untrusted(&redact_message(what))) }
            p { (next) }
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn entries() -> impl Iterator<Item = &'static PageEntry> {
        pages::ALL.iter().copied().flatten()
    }

    #[test]
    fn names_and_paths_are_unique() {
        let names: HashSet<_> = entries().map(|entry| entry.name).collect();
        let paths: HashSet<_> = entries().map(|entry| entry.path).collect();
        assert_eq!(names.len(), entries().count());
        assert_eq!(paths.len(), entries().count());
    }

    #[test]
    fn every_section_is_a_page() {
        for entry in entries() {
            assert!(entries().any(|other| other.path == entry.section), "{}", entry.name);
        }
    }

    #[test]
    fn pages_are_shared_by_those_who_see_the_same() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let shared = |path: &str, query: &[(&str, &str)], cookies: &[(&str, &str)]| {
            let own = |list: &[(&str, &str)]| -> Vec<(String, String)> {
                list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
            };
            let mut request = PageRequest::get(path);
            (request.query, request.cookies) = (own(query), own(cookies));
            shared_address(&request, now)
        };
        let seen = [("handover_seen", "2024-01-01T00:00:00Z")];
        assert_eq!(shared("/sessions", &[], &seen), shared("/sessions", &[], &[]));
        assert!(shared("/sessions", &[], &[]).is_some());
        for (query, cookies) in [
            (&[][..], &seen[..]),
            (&[("before", "2024-01-01T00:00:00Z")], &[]),
            (&[("q", "x")], &[]),
            (&[], &[("handover_theme", "dark")]),
        ] {
            assert_ne!(shared("/", query, cookies), shared("/", &[], &[]), "{query:?} {cookies:?}");
        }
        for path in ["/theme", "/nothing", "/assets/x", "/runs/x/report.html"] {
            assert_eq!(shared(path, &[], &[]), None, "{path}");
        }
        assert_eq!(shared("/", &[("done", "op_1")], &[]), None, "shown once");
    }

    #[test]
    fn docs_list_every_page() {
        let docs = include_str!("../../../docs/dashboard.md");
        for entry in entries().filter(|entry| entry.submit.is_none()) {
            // The documentation writes `ID` for every parameter.
            let parts =
                entry.path.split('/').map(|part| if part.starts_with('{') { "ID" } else { part });
            let path = parts.collect::<Vec<_>>().join("/");
            assert!(docs.contains(&format!("`{path}`")), "docs/dashboard.md does not have {path}");
        }
    }
}
