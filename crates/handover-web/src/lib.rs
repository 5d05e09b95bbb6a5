//! The dashboard: pages as functions from the store to HTML.
//!
//! [`answer`] is all there is: a request and what is known in, a response out. It reads no clock and
//! no socket; who asks, and whether they may, was settled by whoever calls it.
//!
//! `pages` has a file per page, `show` what they have in common: words, times, figures, charts.
//! Whatever agents or files wrote goes through `show::said` or `show::plain`, so that it can
//! neither become markup nor turn the text around it. Nothing is styled or scripted inline: the
//! content security policy forbids it.

mod asset;
mod journal;
mod layout;
mod markdown;
mod pages;
mod report;
mod request;
mod response;
mod route;
mod show;

pub use report::{ReportError, report};
pub use request::{Method, PageRequest};
pub use response::PageResponse;
pub use route::answer;

use handover_context::package_file::ProjectPaths;
use handover_model::config::Config;
use handover_model::{ProjectId, Timestamp};
use handover_store::Store;
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
    pub places: &'a ProjectPaths,
    /// The project that is shown.
    pub project: &'a ProjectId,
    /// Whether whoever asks may change something; forms are only shown to them.
    pub may_write: bool,
    /// The name of this machine among those that work on one run.
    pub machine: &'a str,
    /// Now.
    pub now: Timestamp,
}
