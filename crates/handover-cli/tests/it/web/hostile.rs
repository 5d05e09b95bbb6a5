//! Hostile text from agents, in a real browser.

use handover_testkit::{Browser, Look, Service};

use super::{TOO_WIDE, asks_nobody_else, has_no_complaint};
use crate::project;

#[test]
fn hostile_text_neither_runs_nor_leaks_nor_overflows() {
    let env = project();
    let nasty = format!(
        "<script>window.pwned=1</script><img src=http://evil.example/x onerror=window.pwned=1> \u{202e}turned \u{1b}[31mred {} ](javascript:window.pwned=1)",
        "W".repeat(3_000)
    );
    let text = format!(
        "---\ntype: research\nproducer: developer\n---\n# {nasty}\n\n## Summary\n{nasty}\n\n![x](http://evil.example/y.png)\n\n[go](javascript:window.pwned=1)\n\n<iframe src=http://evil.example></iframe>\n\n    {nasty}\n\n| {nasty} | b |\n|---|---|\n| {nasty} | c |\n"
    );
    env.write("docs/nasty.md", &text);
    env.run(["package", "add", "docs/nasty.md"]).ok();
    env.run_with(&nasty, ["reasoning", "add", "--role", "developer", "--phase", "decisions", "-"])
        .ok();
    env.run(["error", "resolve", "--message", &nasty, "--solution", &nasty, "--command", &nasty])
        .ok();
    env.run([
        "session",
        "new",
        "s2",
        "--metadata",
        &serde_json::json!({ "note": nasty }).to_string(),
    ])
    .ok();
    let answer = env
        .run([
            "assemble",
            "--session",
            "s1",
            "--role",
            "tech_lead",
            "--task",
            "turned red",
            "--deliver",
            "--json",
        ])
        .ok()
        .json();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    let errors = env.run(["error", "list", "--json"]).ok().json();
    let pages = [
        "/".to_owned(),
        "/sessions/s1".to_owned(),
        "/sessions/s2".to_owned(),
        "/sessions/s1/packages".to_owned(),
        "/sessions/s1/reasoning".to_owned(),
        "/packages/1".to_owned(),
        format!("/receipts/{}", answer["receipt"].as_str().unwrap()),
        "/errors".to_owned(),
        format!("/errors/{}", errors["errors"][0]["hash"].as_str().unwrap()),
        "/search?q=%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E".to_owned(),
        "/search?q=turned".to_owned(),
        "/away?since=2020-01-01T00:00:00Z".to_owned(),
        "/sessions/s1?scale=time".to_owned(),
        "/knowledge?sort=what".to_owned(),
        "/knowledge?q=turned&sort=%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E".to_owned(),
    ];
    for look in [Look::DESK, Look::PHONE] {
        browser.look(look);
        for page in &pages {
            browser.go(&format!("{}{page}", service.url));
            assert_eq!(browser.eval("return window.pwned === undefined"), true, "{page}");
            assert_eq!(browser.eval(TOO_WIDE), false, "{page} at {look:?}");
            let elements = browser.eval("return document.querySelectorAll('main script, main img, main iframe, main a[href^=\"javascript\"], main a[href^=\"http\"]').length");
            assert_eq!(elements, 0, "{page}");
            assert_eq!(browser.eval("return /[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.test(document.documentElement.outerHTML)"), false, "{page}");
        }
    }
    // As a document of its own, the picture is not a page.
    browser.go(&format!("{}/sessions/s1/picture.svg", service.url));
    assert_eq!(browser.eval("return document.documentElement.tagName"), "svg");
    assert_eq!(browser.eval("return window.pwned === undefined"), true);
    let elements = "return document.querySelectorAll('script, image, a, foreignObject').length";
    assert_eq!(browser.eval(elements), 0);
    asks_nobody_else(&browser, &service.url);
    has_no_complaint(&browser);
}
