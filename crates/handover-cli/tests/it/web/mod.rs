//! The dashboard in a real browser. `scripts/browser` installs it; a missing one fails the test.

mod acting;
mod actions;
mod answers;
mod commands;
mod hostile;
mod keys;
mod live;
mod pages;
mod people;
mod printed;
mod running;
mod sharing;
mod times;
mod views;

use std::path::Path;
use std::time::Duration;

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

/// Waits for the page that follows a submitted form, without JavaScript.
#[track_caller]
fn arrives(browser: &Browser, address: &str) {
    for _ in 0..200 {
        if browser.address() == address {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} is not {address}", browser.address());
}

/// Waits until something is so.
#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    for _ in 0..400 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never became so");
}
