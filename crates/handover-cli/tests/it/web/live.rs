//! Pages update live.

use handover_testkit::{Browser, Look, Service};

use crate::project;

#[test]
fn changes_appear_without_a_reload() {
    let env = project();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    browser.look(Look::DESK);
    browser.go(&format!("{}/sessions/s1", service.url));
    browser.wait("return document.getElementById('live').textContent === 'Live'");
    assert!(browser.text("main").contains("Nothing has happened here yet."));
    browser.eval("window.stayed = true");

    env.write("docs/a.md", "# Tokens rotate\n\n## Summary\nOn every use.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research", "--producer", "developer"]).ok();
    browser.wait("return document.querySelectorAll('.picture rect.sent').length === 1");
    assert!(browser.text("main").contains("Tokens rotate"));

    // The scroll position stays, and only what changed is replaced.
    browser.eval(
        "window.tale = document.getElementById('tale'); document.querySelector('#tale a').focus()",
    );
    env.run(["assemble", "--role", "tech_lead", "--task", "rotate", "--deliver"]).ok();
    browser.wait("return document.querySelectorAll('.picture circle.brief').length === 1");
    browser.wait("return document.querySelectorAll('.ways path').length === 1");
    assert!(browser.text("main").contains("brief delivered: 1 package"));
    assert_eq!(browser.eval("return document.activeElement.getAttribute('href')"), "/packages/1");
    assert_eq!(browser.eval("return window.stayed"), true, "the page was not loaded again");
}

#[test]
fn reconnects_to_a_restarted_service() {
    let env = project();
    let service = Service::start(&env, &[]);
    let port = service.url.rsplit(':').next().unwrap().to_owned();
    let browser = Browser::start();
    browser.go(&format!("{}/sessions", service.url));
    browser.wait("return document.getElementById('live').textContent === 'Live'");
    service.stop(&env).ok();
    browser.wait("return document.getElementById('live').className === 'off'");
    env.run(["session", "new", "meanwhile"]).ok();
    let mut again = env.start(["serve", "--port", &port]);
    browser.wait("return document.body.textContent.includes('meanwhile')");
    browser.wait("return document.getElementById('live').textContent === 'Live'");
    again.kill().unwrap();
    again.wait().unwrap();
}
