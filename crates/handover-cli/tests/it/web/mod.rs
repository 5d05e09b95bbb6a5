//! The dashboard in a real browser. `scripts/browser` installs it; a missing one fails the test.

mod acting;
mod answers;
mod commands;
mod hostile;
mod live;
mod pages;
mod people;

use std::path::Path;

use handover_testkit::{Browser, Demo};

/// The demo's project, and a browser.
fn demo() -> (Demo, Browser) {
    (Demo::start(Path::new(crate::handover())), Browser::start())
}

/// Whether the page overflows horizontally.
const TOO_WIDE: &str =
    "return document.documentElement.scrollWidth > document.documentElement.clientWidth";

/// What pages may request: themselves, their assets, their events.
#[track_caller]
fn asks_nobody_else(browser: &Browser, url: &str) {
    let elsewhere: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|request| !request.starts_with(&format!("{url}/")) && !request.starts_with("data:"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}

/// Console errors, except those for pages that are meant to be missing.
#[track_caller]
fn has_no_complaint(browser: &Browser) {
    let complaints: Vec<String> =
        browser.complaints().into_iter().filter(|line| !line.contains("404 (Not Found)")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
