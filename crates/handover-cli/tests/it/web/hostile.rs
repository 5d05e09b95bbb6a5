//! Hostile text from agents, in a real browser.

use handover_testkit::{Browser, Look, Service};

use serde_json::json;

use super::{TOO_WIDE, asks_nobody_else, has_no_complaint};
use crate::runs::Epic;

/// An epic whose agents say, write and find it: its developer completes the work, its reviewer never passes it.
fn said_by_agents(epic: &Epic, nasty: &str) {
    let review = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "1-1-a", "phase": "review", "verdict": "failed",
        "summary": nasty, "findings": [{"severity": "high", "file": nasty, "issue": nasty}],
    });
    epic.script(&format!(
        "* dev * | print '{nasty}' write a.txt '{nasty}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review * | print '{nasty}' result '{review}'"
    ));
    epic.run(&[]).fails(1);
}

#[test]
fn hostile_text_neither_runs_nor_leaks_nor_overflows() {
    let epic = Epic::new(&["1-1-a"]);
    let env = &epic.env;
    env.run(["session", "new", "s1"]).ok();
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
    let visible = nasty.split('\u{202e}').next().unwrap();
    let lesson = format!("One refresh at a time, behind a lock: {visible}");
    let add = ["reasoning", "add", "--role", "developer", "--phase", "decisions", "--group", "g1"];
    env.run(add.iter().chain(&[lesson.trim()])).ok();
    env.run(["strategy", "extract", "--group", "g1"]).ok();
    said_by_agents(&epic, &nasty);
    // Its end is only long.
    env.run(["note", "add", &nasty[..nasty.floor_char_boundary(1_500)]]).ok();
    env.run(["package", "retire", "1", "--reason", &nasty]).ok();
    env.run(["package", "restore", "1"]).ok();
    let metadata = json!({ "note": nasty }).to_string();
    env.run(["session", "new", "s2", "--metadata", &metadata]).ok();
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
    let service = Service::start(env, &[]);
    let browser = Browser::start();
    let first = |args: &[&str], list: &str, key: &str| {
        let all = env.run(args).ok().json();
        all[list][0][key].as_str().unwrap_or_else(|| panic!("{all}")).to_owned()
    };
    let run = format!("/runs/{}", epic.status()["id"].as_str().unwrap());
    let step = |phase: &str| format!("{run}/steps?story=1-1-a&phase={phase}&attempt=1");
    let receipt = answer["receipt"].as_str().unwrap();
    let others = env.run(["receipt", "list", "--json"]).ok().json();
    let others = others["receipts"].as_array().unwrap().clone();
    let other = others.iter().find(|one| one["id"] != receipt).unwrap()["id"].clone();
    let pages = [
        run.clone(),
        format!("{run}/journal"),
        format!("{run}/stories?story=1-1-a"),
        step("dev"),
        step("review"),
        step("gates"),
        format!("/notes/{}", first(&["note", "list", "--json"], "notes", "id")),
        "/notes".to_owned(),
        format!("/strategies/{}", first(&["strategy", "list", "--json"], "strategies", "id")),
        "/strategies".to_owned(),
        format!("/receipts/{receipt}/compare?with={}", other.as_str().unwrap()),
        format!("/receipts/{}", other.as_str().unwrap()),
        "/changes".to_owned(),
        "/".to_owned(),
        "/sessions/s1".to_owned(),
        "/sessions/s2".to_owned(),
        "/sessions/s1/packages".to_owned(),
        "/sessions/s1/reasoning".to_owned(),
        "/packages/1".to_owned(),
        format!("/receipts/{receipt}"),
        "/errors".to_owned(),
        format!("/errors/{}", first(&["error", "list", "--json"], "errors", "hash")),
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
    // What a step says is in it, and in the drawer, as text.
    for (page, section) in
        [(step("dev"), "#said"), (step("dev"), "#work"), (step("review"), "#findings")]
    {
        browser.go(&format!("{}{page}", service.url));
        let said = browser.text(section);
        assert!(said.contains("<script>window.pwned=1</script>"), "{page} {section}: {said}");
    }
    for look in [Look::DESK, Look::PHONE] {
        browser.look(look);
        browser.go(&format!("{}{run}", service.url));
        browser.wait("return document.getElementById('live').textContent === 'Live'");
        browser.eval(&format!(
            "document.querySelector('#grid a[href=\"{}\"]').click()",
            step("review")
        ));
        browser.wait("return document.querySelector('dialog.drawer[open] h1') !== null");
        let said = browser.text("dialog.drawer");
        assert!(said.contains("<script>window.pwned=1</script>"), "{said}");
        let elements = browser.eval("return document.querySelectorAll('dialog script, dialog img, dialog iframe, dialog a[href^=\"javascript\"], dialog a[href^=\"http\"]').length");
        assert_eq!(elements, 0, "{look:?}");
        assert_eq!(browser.eval("return window.pwned === undefined"), true, "{look:?}");
        assert_eq!(browser.eval(TOO_WIDE), false, "{look:?}");
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
