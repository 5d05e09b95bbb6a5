//! What is sent to others: `report` as one file, and the picture of a session.

use handover_testkit::{Browser, Look, Output, TestEnv};
use serde_json::json;

use super::{TOO_WIDE, demo, has_no_complaint, until};
use crate::project;
use crate::runs::Epic;

/// A secret that no report may have.
const SECRET: &str = "password=hunter2sEcretOfAll";

/// Opens a report without a network, and checks that it needs nothing.
#[track_caller]
fn is_self_contained(env: &TestEnv, file: &str, expected: &[&str]) {
    let html = fs_err::read_to_string(env.path(file)).unwrap();
    for sign in ["<script", "<link", "src=", "href=", "url(", "@import", "<form", "<button", "<b>"]
    {
        assert!(!html.contains(sign), "{sign} in {file}");
    }
    assert!(!html.contains("hunter2"), "a secret in {file}");
    let browser = Browser::start();
    browser.devtools("Network.enable", json!({}));
    let off =
        json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
    browser.devtools("Network.emulateNetworkConditions", off);
    for look in Look::ALL {
        browser.look(look);
        browser.go(&format!("file://{}", env.path(file).display()));
        let page = browser.text("main");
        for words in expected {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(browser.eval(TOO_WIDE), false, "{file} {look:?}");
        assert_eq!(browser.barriers(), Vec::<String>::new(), "{file} {look:?}");
    }
    let asked = browser.requests();
    let own = |url: &String| {
        url.starts_with("file://") && url.ends_with(file) || url.starts_with("data:")
    };
    assert!(asked.iter().all(own), "{asked:?}");
    has_no_complaint(&browser);
}

#[test]
fn a_run_is_one_file() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let question = format!("IMPLEMENTATION BLOCKED: 1-2-b - <b>which</b> key? {SECRET}");
    epic.script(&format!("1-2-b dev * | print \"{question}\""));
    epic.run(&[]).fails(3);
    let document = epic.env.run(["report", "--html", "report.html", "--json"]).ok().json();
    assert_eq!(document["report"]["file"], "report.html");
    let words = ["Epic 1", "1-1-a", "which", "Cost", "Final messages of the agents"];
    is_self_contained(&epic.env, "report.html", &words);
    let printed = epic.env.run(["report", "--html", "-"]).ok().stdout;
    assert!(printed.starts_with("<!DOCTYPE html>"));
}

/// A session with a package, a thought and a brief, all of which have a secret; the id of the receipt.
fn briefed(env: &TestEnv) -> String {
    let text = format!("# <b>Tokens</b> rotate\n\n## Summary\nOn every use.\n\nThe {SECRET}.\n");
    env.write("docs/a.md", text);
    env.run(["package", "add", "docs/a.md", "--kind", "research", "--producer", "developer"]).ok();
    let thought = format!("Keep the lock, {SECRET}.");
    let think = ["reasoning", "add", "--role", "developer", "--phase", "decisions", &thought];
    env.run(think).ok();
    let task = format!("Rotate the tokens with {SECRET}.");
    let words = ["assemble", "--role", "tech_lead", "--task", &task, "--deliver", "--json"];
    let made: Output = env.run(words).ok();
    made.json()["receipt"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_is_one_file() {
    let env = project();
    briefed(&env);
    env.run(["report", "s1", "--html", "session.html"]).ok();
    let words = ["Session s1", "<b>Tokens</b> rotate", "Who knew what", "tech lead"];
    is_self_contained(&env, "session.html", &words);
}

#[test]
fn a_receipt_is_one_file() {
    let env = project();
    let receipt = briefed(&env);
    env.run(["report", &receipt, "--html", "receipt.html"]).ok();
    let words =
        ["Rotate the tokens", "Outcome", "Why it knew what it knew", "<b>Tokens</b> rotate"];
    is_self_contained(&env, "receipt.html", &words);
}

#[test]
fn the_picture_of_a_session_is_a_file() {
    let (demo, browser) = demo();
    let page = format!("{}/sessions/login-rework", demo.url);
    browser.look(Look::DESK);
    browser.go(&page);
    browser.wait("return !document.querySelector('[data-png]').hidden");
    // As a picture of a page it is drawn, and a canvas may read it.
    browser.eval(
        "window.made = null; const make = URL.createObjectURL;
         URL.createObjectURL = (blob) => {
           blob.arrayBuffer().then((bytes) => {
             window.made = [blob.type, bytes.byteLength, String(new Uint8Array(bytes.slice(1, 4)))];
           });
           return make(blob);
         };
         document.querySelector('[data-png]').click()",
    );
    until(|| !browser.eval("return window.made").is_null());
    let made = browser.eval("return window.made");
    assert_eq!((&made[0], &made[2]), (&json!("image/png"), &json!("80,78,71")));
    assert!(made[1].as_u64().unwrap() > 10_000, "{made}");

    browser.go(&format!("{page}/picture.svg?theme=dark"));
    assert_eq!(browser.eval("return document.documentElement.tagName"), "svg");
    let fill = "return getComputedStyle(document.querySelector('.sheet')).fill";
    assert_eq!(browser.eval(fill), "rgb(27, 29, 32)", "its styles are inside");
    assert_eq!(browser.eval("return document.querySelectorAll('a, script, image, use').length"), 0);
    let svg = demo.get("/sessions/login-rework/picture.svg");
    assert!(svg.contains("xmlns=") && svg.contains("project manager"), "{svg}");
    has_no_complaint(&browser);
}
