//! The dashboard: pages as functions from the store to HTML.
//!
//! [`answer`] maps a request to a response. It reads no clock and no socket; authentication and
//! authorization are up to its caller.
//!
//! `pages` has a file per page, `view` the elements they share: untrusted text, times, numbers, tables,
//! charts. Text from agents and files is rendered through `view::untrusted`, `view::excerpt` or
//! `view::single_line`, so that it can neither become markup nor reorder the text around it. There are no
//! inline styles or scripts: the content security policy forbids them.

mod asset;
mod error;
mod experiment;
mod form;
mod layout;
mod markdown;
mod page;
mod pages;
mod report;
mod request;
mod response;
mod router;
mod run_view;
mod site;
mod steps;
mod view;
mod visit;

pub use experiment::experiment;
pub use report::{ReportError, report, report_receipt, report_session};
pub use request::{Method, PageRequest};
pub use response::PageResponse;
pub use router::{answer, demo_paths, page, shared_address};
pub use site::Site;
pub use visit::remember;
