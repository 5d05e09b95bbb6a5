//! What people do on pages: open a drawer, retire and undo, with and without JavaScript, with keys alone.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::actions::{Hands, is_clean};
use super::{TOO_WIDE, asks_nobody_else, demo, has_no_complaint};
use crate::project;
use crate::stats::{age, ignored};

#[test]
fn a_package_is_retired_and_that_is_undone() {
    let env = project();
    env.write("docs/a.md", "# Tokens rotate\n\n## Summary\nOn every use.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    let state = || {
        let package = env.run(["package", "show", "1", "--json"]).ok().json();
        package["package"]["state"].as_str().unwrap().to_owned()
    };
    for script in [true, false] {
        browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": !script}));
        browser.look(if script { Look::DESK } else { Look::PHONE.dark() });
        browser.go(&format!("{}/packages/1", service.url));
        browser.click("details.act summary");
        browser.click("#reason-package-1");
        browser.keys("the <b>service</b> is gone");
        browser.click("details.act button");
        for _ in 0..200 {
            if state() == "retired" {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        assert_eq!(state(), "retired");
        let done = browser.text("#done");
        assert!(done.contains("Retired package 1: the <b>service</b> is gone"), "{done}");
        if script {
            // The checker is a script itself.
            assert_eq!(browser.barriers(), Vec::<String>::new());
        }
        browser.click("#done button");
        for _ in 0..200 {
            if state() == "live" {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        assert_eq!(state(), "live");
    }
    let log = env.run(["undo", "--list", "--json"]).ok().json();
    assert_eq!(log["operations"][0]["author"], "dashboard", "{log}");
    has_no_complaint(&browser);
}

#[test]
fn a_step_opens_as_a_drawer_and_by_keys() {
    let (demo, browser) = demo();
    let path = |name: &str| {
        let pages = demo.pages(handover_web::demo_paths());
        pages.into_iter().find(|(page, _)| *page == name).unwrap().1
    };
    for look in [Look::DESK, Look::PHONE.dark()] {
        browser.look(look);
        browser.go(&format!("{}{}", demo.url, path("run")));
        browser.wait("return document.getElementById('live').textContent === 'Live'");
        browser.eval("document.querySelector('#grid a[data-drawer]').focus()");
        browser.keys("\u{e007}");
        browser.wait("return document.querySelector('dialog.drawer[open] h1') !== null");
        let barriers = browser.barriers();
        assert!(barriers.is_empty(), "{look:?}: {barriers:#?}");
        assert_eq!(browser.eval(TOO_WIDE), false, "{look:?}");
        browser.keys("\u{e00c}");
        browser.wait("return document.querySelector('dialog[open]') === null");
    }
    browser.look(Look::DESK);
    browser.keys("?");
    browser.wait("return document.querySelector('dialog.help[open]') !== null");
    assert!(browser.barriers().is_empty(), "{:#?}", browser.barriers());
    browser.keys("\u{e00c}");
    browser.go(&format!("{}/sessions", demo.url));
    browser.keys("j");
    let first = browser.eval("return document.activeElement.getAttribute('href')");
    assert!(first.as_str().unwrap().starts_with("/sessions/"), "{first}");
    browser.eval("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))");
    browser.wait("return document.querySelector('dialog.palette[open]') !== null");
    browser.keys("knowl");
    browser.wait("return document.querySelector('dialog.palette a') && document.querySelector('dialog.palette a').textContent === 'Knowledge'");
    assert!(browser.barriers().is_empty(), "{:#?}", browser.barriers());
    browser.keys("\u{e007}");
    browser.wait("return location.pathname === '/knowledge'");
    asks_nobody_else(&browser, &demo.url);
    has_no_complaint(&browser);
}

#[test]
fn what_nobody_uses_is_retired_from_its_list() {
    let env = project();
    let text = "# T\n## Summary\nThe gateway retries twice, says gateway.\n";
    env.write("docs/gateway.md", text);
    let add = ["package", "add", "docs/gateway.md", "--kind", "research", "--priority", "high"];
    env.run(add.iter().chain(&["--session", "s1"])).ok();
    for n in 0..5 {
        ignored(&env, &format!("g{n}"));
    }
    age(&env, 20);
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    let page = format!("{}/use", service.url);
    for hands in [Hands::Keyboard, Hands::Phone] {
        browser.look(hands.look());
        browser.go(&page);
        is_clean(&browser, hands);
        browser.eval("window.before = true");
        hands.touch(&browser, "#never details.act summary", None);
        hands.touch(&browser, "#never input[name=reason]", Some("nobody <b>needs</b> it"));
        hands.touch(&browser, "#never details.act button", None);
        browser.wait("return window.before === undefined && document.readyState === 'complete'");
        let main = browser.text("main");
        assert!(main.contains("Retired package 1: nobody <b>needs</b> it"), "{main}");
        assert!(main.contains("Nothing: whatever agents received that often"), "{main}");
        is_clean(&browser, hands);
        let shown = env.run(["package", "show", "1", "--json"]).ok().json();
        assert_eq!(shown["package"]["state"], "retired", "{shown}");
        env.run(["package", "restore", "1"]).ok();
    }
    has_no_complaint(&browser);
}
