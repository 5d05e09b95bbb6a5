//! How people use it: by keyboard, with a chosen theme, without JavaScript.

use handover_testkit::Look;
use serde_json::json;

use super::demo;

const BACKGROUND: &str = "return getComputedStyle(document.body).backgroundColor";
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

#[test]
fn everything_is_reachable_by_keyboard() {
    let (demo, browser) = demo();
    browser.look(Look::DESK);
    browser.go(&format!("{}/sessions/login-rework", demo.url));
    browser.keys(TAB);
    assert_eq!(browser.eval("return document.activeElement.textContent"), "Skip to content");
    browser.keys(ENTER);
    assert!(browser.address().ends_with("#main"));

    browser.eval("document.activeElement.blur()");
    browser.keys("/");
    assert_eq!(browser.eval("return document.activeElement.name"), "q");
    browser.keys("grace period");
    browser.keys(ENTER);
    browser.wait("return location.pathname === '/search'");
    assert!(browser.text("main").contains("a grace period of 30 seconds"));

    // Marks of the picture are links like any other, in the order of the page.
    browser.go(&format!("{}/sessions/login-rework", demo.url));
    for _ in 0..60 {
        browser.keys(TAB);
        if browser.eval("return document.activeElement.closest('.picture') !== null") == true {
            break;
        }
    }
    let name = browser.eval("return document.activeElement.querySelector('title').textContent");
    assert!(name.as_str().unwrap().contains("project manager"), "{name}");
    let wider = "return parseFloat(getComputedStyle(document.activeElement.querySelector('rect, circle')).strokeWidth) > 3";
    assert_eq!(browser.eval(wider), true, "the focus is seen");
    browser.keys(ENTER);
    browser.wait("return !location.pathname.endsWith('/login-rework')");
}

#[test]
fn theme_follows_the_system_until_one_is_chosen() {
    let (demo, browser) = demo();
    let colour = || browser.eval(BACKGROUND).as_str().unwrap().to_owned();
    browser.look(Look::DESK);
    browser.go(&demo.url);
    let light = colour();
    browser.look(Look::DESK.dark());
    let dark = colour();
    assert_ne!(light, dark);
    browser.click("footer a[href*='to=light']");
    assert_eq!(colour(), light);
    browser.go(&format!("{}/errors", demo.url));
    assert_eq!(colour(), light, "it is remembered");
    browser.look(Look::DESK);
    browser.click("footer a[href*='to=dark']");
    assert_eq!((colour(), browser.address()), (dark, format!("{}/errors", demo.url)));
    browser.click("footer a[href*='to=auto']");
    assert_eq!(colour(), light);
}

#[test]
fn pages_work_without_javascript() {
    let (demo, browser) = demo();
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    for (name, path) in demo.pages(handover_web::demo_paths()) {
        browser.go(&format!("{}{path}", demo.url));
        assert!(browser.text("main").len() > 60, "{name}");
    }
    browser.click("footer a[href*='to=dark']");
    browser.click(".top nav a[href='/sessions']");
    assert!(browser.text("main").contains("login-rework"));
}
