//! A run, a session or a receipt as a single self-contained HTML file.

use handover_engine::EngineError;
use handover_model::{ReceiptId, RunId, SessionId};
use handover_store::StoreError;
use maud::{DOCTYPE, Markup, html};

use crate::error::PageError;
use crate::page::Route;
use crate::pages::{self, run};
use crate::run_view::RunView;
use crate::view::{exact_time, single_line, unlinked};
use crate::{PageRequest, PageResponse, Site, asset};

/// Why a report cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run does not exist.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// The kind of record.
        what: String,
        /// Its id.
        id: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// The journal cannot be read.
    #[error(transparent)]
    Engine(EngineError),
}

impl From<PageError> for ReportError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::NotFound { what, id } => Self::NotFound { what, id },
            PageError::Store(error) => Self::Store(error),
            PageError::Engine(error) => Self::Engine(error),
        }
    }
}

/// The same project for somebody who has a file of it: they can change nothing.
fn reading<'a>(site: &Site<'a>) -> Site<'a> {
    Site { may_write: false, form_token: "", operation: site.operation.clone(), ..*site }
}

/// Renders the report of a run. Links are removed: its readers cannot reach the service.
pub fn report(site: &Site<'_>, id: &RunId) -> Result<String, ReportError> {
    let site = &reading(site);
    let view = RunView::read(site, id)?;
    let sections = run::sections(site, &view, run::Place::File)?;
    let body = html! {
        (run::heading(site, &view))
        (sections)
        (run::causes::of_run(&view))
        (run::agent_summaries(&view))
    };
    let from = html! { "from the journal of run " code { (view.run.id) } };
    Ok(document(site, &format!("Epic {}", view.run.epic), &body, &from))
}

/// Renders a session as one file.
pub fn report_session(site: &Site<'_>, id: &SessionId) -> Result<String, ReportError> {
    exported(site, &format!("/sessions/{id}"), &html! { "session " code { (id) } })
}

/// Renders a receipt as one file.
pub fn report_receipt(site: &Site<'_>, id: &ReceiptId) -> Result<String, ReportError> {
    exported(site, &format!("/receipts/{id}"), &html! { "receipt " code { (id) } })
}

/// `report.html` of a session, receipt or run, to be saved; none if the path is another one, or nothing is there.
pub(crate) fn file(site: &Site<'_>, request: &PageRequest) -> Option<PageResponse> {
    let (of, id) = request.path.strip_suffix("/report.html")?.trim_matches('/').split_once('/')?;
    let text = match of {
        "sessions" => report_session(site, &SessionId::new(id).ok()?),
        "receipts" => report_receipt(site, &ReceiptId::new(id).ok()?),
        "runs" => report(site, &RunId::new(id).ok()?),
        _ => return None,
    };
    let name = format!("attachment; filename=\"{}-{id}.html\"", of.trim_end_matches('s'));
    // As in the file itself: its styles are inside, and nothing else is loaded or run.
    let policy = "default-src 'none'; style-src 'unsafe-inline'".to_owned();
    Some(PageResponse {
        status: 200,
        content_type: "text/html; charset=utf-8",
        headers: vec![("content-security-policy", policy), ("content-disposition", name)],
        body: text.ok()?.into_bytes(),
    })
}

/// A page without everything that needs the service.
fn exported(site: &Site<'_>, path: &str, from: &Markup) -> Result<String, ReportError> {
    let site = &reading(site);
    let request = PageRequest::get(path);
    let found = pages::ALL.iter().copied().flatten().find_map(|entry| {
        entry.matches(&request.path).map(|params| (entry, Route { request: &request, params }))
    });
    let page = match found {
        Some((entry, route)) => (entry.render)(site, &route)?,
        None => return Err(PageError::not_found("page", &request.path).into()),
    };
    Ok(document(site, &page.title, &page.body, from))
}

fn document(site: &Site<'_>, title: &str, body: &Markup, from: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (single_line(title)) " · " (site.project) " · Handover" }
                style { (maud::PreEscaped(asset::STYLE.text)) }
            }
            body class="report" {
                main id="main" { (body) }
                footer { p { "Made by Handover, " (exact_time(site.now)) ", " (from) "." } }
            }
        }
    };
    let mut text = document.into_string();
    for (from, to) in [("<form", "</form>"), ("<button", "</button>"), ("<nav", "</nav>")] {
        text = without(&text, from, to);
    }
    // What bound an answer to its call, and where on which machine it was written, is nobody's business.
    for (before, after) in [
        ("&quot;nonce&quot;: &quot;", "&quot;"),
        ("&quot;nonce&quot;:&quot;", "&quot;"),
        ("Write one JSON object to the file `", "`"),
    ] {
        text = masked(&text, before, after);
    }
    without_links(&text)
}

/// Leaves out what is between two texts.
fn masked(html: &str, before: &str, after: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((head, tail)) = rest.split_once(before) {
        let hidden = tail.find(after).unwrap_or(0);
        out.extend([head, before, "…"]);
        rest = tail.get(hidden..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Without elements that are not inside each other. Stored text cannot have a `<`.
fn without(html: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, inside)) = rest.split_once(from) {
        out.push_str(before);
        rest = inside.split_once(to).map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// A link becomes a span; in a drawing, where there are none, a group.
fn without_links(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<svg") {
        let (text, drawing) = rest.split_at(at);
        let end = drawing.find("</svg>").unwrap_or(drawing.len());
        let (drawing, after) = drawing.split_at(end);
        out.push_str(&unlinked(text, "span"));
        out.push_str(&unlinked(drawing, "g"));
        rest = after;
    }
    out.push_str(&unlinked(rest, "span"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_links() {
        let html = "<p><a href=\"/runs\">Runs</a> and <a href=\"/x\" class=\"y\">&lt;a href=&quot;</a></p>";
        assert_eq!(
            without_links(html),
            "<p><span>Runs</span> and <span class=\"y\">&lt;a href=&quot;</span></p>"
        );
        let drawing =
            "<a href=\"/a\">A</a><svg x><a href=\"/b\"><rect></rect></a></svg><a href=\"/c\">C</a>";
        assert_eq!(
            without_links(drawing),
            "<span>A</span><svg x><g><rect></rect></g></svg><span>C</span>"
        );
    }
}
