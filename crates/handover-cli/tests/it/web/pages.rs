//! Every page: in both themes, at desktop and phone size, accessible.

use handover_testkit::{Browser, Look, Service};

use super::{TOO_WIDE, asks_nobody_else, demo, has_no_complaint};
use crate::project;

#[test]
fn every_page_fits_and_is_accessible() {
    let (demo, browser) = demo();
    for (name, path) in demo.pages(handover_web::demo_paths()) {
        for look in Look::ALL {
            browser.look(look);
            browser.go(&format!("{}{path}", demo.url));
            assert_eq!(browser.eval(TOO_WIDE), false, "{name} is too wide for {look:?}");
            assert_ne!(browser.text("h1"), "", "{name}");
            let barriers = browser.barriers();
            assert!(barriers.is_empty(), "{name} {look:?}: {barriers:#?}");
        }
    }
    asks_nobody_else(&browser, &demo.url);
    has_no_complaint(&browser);
}

#[test]
fn pages_show_what_happened() {
    let (demo, browser) = demo();
    let at = |name: &str| {
        let (_, path) = demo
            .pages(handover_web::demo_paths())
            .into_iter()
            .find(|(page, _)| *page == name)
            .unwrap();
        browser.go(&format!("{}{path}", demo.url));
        browser.text("main")
    };
    let overview = at("overview");
    for words in
        ["Needs a person", "brief failed", "which account should send invoices?", "Cost today"]
    {
        assert!(overview.contains(words), "{words}: {overview}");
    }
    let session = at("session");
    for words in [
        "Reached nobody",
        "What to tell customers",
        "developer",
        "opened OAuth at the identity provider",
    ] {
        assert!(session.contains(words), "{words}: {session}");
    }
    let lanes = browser.eval("return document.querySelectorAll('.picture .lane').length");
    let failed = browser.eval("return document.querySelectorAll('.picture circle.failed').length");
    let read = browser.eval("return document.querySelectorAll('.ways .read').length");
    assert_eq!((lanes.as_u64(), failed.as_u64()), (Some(7), Some(1)));
    assert!(read.as_u64().unwrap() >= 5, "{read}");
    let receipt = at("receipt");
    for words in [
        "Why it knew what it knew",
        "addressed to others",
        "another group",
        "Since the previous brief",
        "## Context for developer",
    ] {
        assert!(receipt.contains(words), "{words}: {receipt}");
    }
    assert!(!receipt.contains("tr0ub4dor"), "no secret");
    let package = at("package");
    for words in ["Who got it", "developer", "v2", "v1", "A refresh returns a new pair."] {
        assert!(package.contains(words), "{words}: {package}");
    }
    let run = at("run");
    for words in
        ["Invoices by mail", "By role", "tech lead", "handover/failed/1-4-invoice-mail", "Journal"]
    {
        assert!(run.contains(words), "{words}: {run}");
    }
    let error = at("error");
    assert!(error.contains("Confidence over time") && error.contains("0.8 since"), "{error}");
    let search = at("search");
    assert!(
        search.contains("found for “refresh token”") && search.contains("session login-rework"),
        "{search}"
    );
}

/// A row of a list is not cut off where there is room for all of it.
#[test]
fn the_stories_of_a_run_fit_on_a_desk() {
    let (demo, browser) = demo();
    for look in [Look::DESK, Look::DESK.dark()] {
        browser.look(look);
        for (name, path) in demo.pages(handover_web::demo_paths()) {
            browser.go(&format!("{}{path}", demo.url));
            let cut = "return [...document.querySelectorAll('.scroll')].filter((one) => one.querySelector(':scope > .grid') && one.scrollWidth > one.clientWidth).length";
            assert_eq!(browser.eval(cut), 0, "{name} {look:?}");
        }
    }
    let (_, path) = demo
        .pages(handover_web::demo_paths())
        .into_iter()
        .find(|(page, _)| *page == "run")
        .unwrap();
    browser.go(&format!("{}{path}", demo.url));
    assert_eq!(browser.eval("return document.querySelectorAll('.scroll > .grid').length"), 1);
}

#[test]
fn empty_pages_are_accessible_and_say_what_to_do() {
    let env = project();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    let pages = [
        "/",
        "/away",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1/packages",
        "/sessions/s1/reasoning",
        "/sessions/s1/receipts",
        "/runs",
        "/knowledge",
        "/knowledge?q=nothing",
        "/notes",
        "/errors",
        "/strategies",
        "/use",
        "/changes",
        "/search",
        "/search?q=nothing",
        "/nothing",
    ];
    for look in Look::ALL {
        browser.look(look);
        for page in pages {
            browser.go(&format!("{}{page}", service.url));
            assert_eq!(browser.eval(TOO_WIDE), false, "{page} is too wide for {look:?}");
            assert_eq!(browser.barriers(), Vec::<String>::new(), "{page} {look:?}");
        }
    }
    for page in [
        "/sessions/s1",
        "/runs",
        "/knowledge",
        "/notes",
        "/errors",
        "/strategies",
        "/use",
        "/changes",
    ] {
        browser.go(&format!("{}{page}", service.url));
        assert_ne!(browser.text("main .empty strong"), "", "{page}");
    }
    has_no_complaint(&browser);
}
