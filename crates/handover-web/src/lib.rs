//! The dashboard: pages as functions from the store to HTML.
//!
//! [`answer`] is all there is: a request and what is known in, a response out. It reads no clock and
//! no socket; who asks, and whether they may, was settled by whoever calls it.

mod request;
mod response;

pub use request::{Method, PageRequest};
pub use response::PageResponse;

use handover_context::package_file::Places;
use handover_model::config::Config;
use handover_model::{ProjectId, Timestamp};
use handover_store::{Result, Store};
use handover_text::Redactor;

/// What pages are made of.
pub struct Site<'a> {
    /// The store, as far as whoever asks may see it.
    pub store: &'a dyn Store,
    /// How secrets are found: stored text passes it again on its way out.
    pub redactor: &'a Redactor,
    /// The rules of the project.
    pub config: &'a Config,
    /// Where package files may be.
    pub places: &'a Places,
    /// The project that is shown.
    pub project: &'a ProjectId,
    /// Whether whoever asks may change something; forms are only shown to them.
    pub may_write: bool,
    /// Now.
    pub now: Timestamp,
}

/// Answers a request for a page. What goes wrong becomes a page too.
pub fn answer(site: &Site<'_>, request: &PageRequest) -> PageResponse {
    let page = match (request.method, request.path.as_str()) {
        (Method::Get, "/") => overview(site),
        (Method::Get | Method::Post, _) => {
            return PageResponse::text(404, "There is no such page.");
        }
    };
    page.unwrap_or_else(|error| PageResponse::text(503, &error.to_string()))
}

fn overview(site: &Site<'_>) -> Result<PageResponse> {
    let sessions = site.store.sessions(None)?.len();
    Ok(PageResponse::html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Handover</title>\
         <h1>{}</h1><p>{sessions} sessions</p></html>\n",
        site.project
    )))
}
