//! Views that somebody keeps, lists that are sorted, a summary that is edited.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::{TOO_WIDE, demo, has_no_complaint, until};
use crate::project;

#[test]
fn a_view_is_kept_and_forgotten() {
    let (demo, browser) = demo();
    browser.look(Look::DESK);
    browser.go(&format!("{}/knowledge", demo.url));
    browser.wait("return document.querySelector('[data-views]').hidden");
    browser.go(&format!("{}/knowledge?type=note&sort=what", demo.url));
    browser.wait("return !document.querySelector('[data-views]').hidden");
    browser.click(".views button");
    assert_eq!(browser.text(".views a"), "Knowledge: note, by what");
    assert_eq!(browser.barriers(), Vec::<String>::new());
    browser.go(&format!("{}/knowledge", demo.url));
    browser.wait("return document.querySelector('.views a') !== null");
    browser.click(".views a");
    browser.wait("return location.search === '?type=note&sort=what'");
    browser.eval("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))");
    browser.keys("by what");
    browser
        .wait("return document.querySelector('dialog.palette').textContent.includes('kept view')");
    browser.keys("\u{e00c}");
    browser.wait("return document.querySelector('dialog[open]') === null");
    browser.click(".view button");
    assert_eq!(browser.eval("return document.querySelectorAll('.view').length"), 0);
    // What another program put there is text, and leads nowhere else.
    browser.eval(
        "localStorage.setItem('handover-views', JSON.stringify([{name: '<img src=x>', href: '/runs'}, {name: 'x', href: 'javascript:alert(1)'}, {name: 'y', href: '//evil.example/'}, null, 7]))",
    );
    browser.go(&format!("{}/knowledge?type=note", demo.url));
    browser.wait("return document.querySelector('.views a') !== null");
    assert_eq!(browser.eval("return document.querySelectorAll('.views a').length"), 1);
    assert_eq!(browser.text(".views a"), "<img src=x>");
    has_no_complaint(&browser);
}

#[test]
fn lists_are_sorted_without_javascript() {
    let (demo, browser) = demo();
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    for look in [Look::DESK, Look::PHONE.dark()] {
        browser.look(look);
        browser.go(&format!("{}/knowledge?type=package", demo.url));
        browser.click(".ordered thead a");
        until(|| browser.address().ends_with("?type=package&sort=what"));
        let first = browser.text(".rows tbody th");
        browser.click(".ordered thead a");
        until(|| browser.address().ends_with("?type=package&sort=-what"));
        assert_ne!(browser.text(".rows tbody th"), first, "{look:?}");
    }
}

#[test]
fn a_summary_is_edited() {
    let env = project();
    env.write("docs/a.md", "# Tokens rotate\n\n## Summary\nOn every use.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    for look in Look::ALL {
        browser.look(look);
        browser.go(&format!("{}/packages/1", service.url));
        browser.eval("for (const one of document.querySelectorAll('details')) one.open = true");
        assert_eq!(browser.barriers(), Vec::<String>::new(), "{look:?}");
        assert_eq!(browser.eval(TOO_WIDE), false, "{look:?}");
    }
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.go(&format!("{}/packages/1", service.url));
    browser.click("details.act:last-of-type summary");
    browser.click("#summary");
    browser.keys(" And <b>after</b> an hour.");
    browser.click(".edit button");
    until(|| browser.address().contains("/packages/2?done="));
    let page = browser.text("main");
    assert!(page.contains("On every use. And <b>after</b> an hour."), "{page}");
    browser.click("#done button");
    let summary = |id: &str| {
        let shown = env.run(["package", "show", id, "--json"]).ok().json();
        shown["package"]["summary"].as_str().unwrap().to_owned()
    };
    until(|| browser.text("main").contains("Undid a change"));
    assert_eq!(summary("3"), "On every use.");
    let log = env.run(["undo", "--list", "--json"]).ok().json();
    assert_eq!(log["operations"][1]["author"], "dashboard", "{log}");
}

#[test]
fn the_overview_says_what_happened_meanwhile() {
    let (demo, browser) = demo();
    browser.look(Look::DESK);
    browser.go(&demo.url);
    assert!(!browser.text("main").contains("Since your last visit"));
    let cookie = json!({"url": demo.url, "name": "handover_seen", "value": "2024-01-01T00:00:00Z"});
    for look in Look::ALL {
        browser.devtools("Network.setCookie", cookie.clone());
        browser.look(look);
        browser.go(&demo.url);
        assert!(browser.text("#away").starts_with("Since your last visit"), "{look:?}");
        assert_eq!(browser.barriers(), Vec::<String>::new(), "{look:?}");
    }
    browser.click("#away a");
    browser.wait("return location.pathname === '/away'");
    let page = browser.text("main");
    for words in ["While you were away", "Runs", "Briefs that never arrived", "Written"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    has_no_complaint(&browser);
}
