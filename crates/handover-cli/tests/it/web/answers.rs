//! A person answers the question of a run.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::{TOO_WIDE, arrives};
use crate::runs::party::{asking, prompt};

#[test]
fn answers_a_question_without_javascript() {
    let epic = asking(&["1-1-a"]);
    let service = Service::start(&epic.env, &[]);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let page = format!("{}/runs/{run}", service.url);
    let browser = Browser::start();
    for look in [Look::DESK, Look::PHONE.dark()] {
        browser.look(look);
        browser.go(&page);
        assert_eq!(browser.barriers(), Vec::<String>::new());
        assert_eq!(browser.eval(TOO_WIDE), false);
    }
    browser.look(Look::DESK);
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.go(&page);
    assert!(browser.text("#questions").contains("Which port for 1-1-a?"));
    browser.click("#questions textarea");
    browser.keys("  ");
    browser.click("#questions button");
    arrives(&browser, &format!("{page}/answers"));
    let refused = browser.text("#questions");
    assert!(refused.contains("the answer is empty"), "{refused}");
    assert_eq!(epic.states(), ["blocked"]);

    browser.click("#questions textarea");
    browser.keys("Use <b>port</b> 8080.");
    browser.click("#questions button");
    arrives(&browser, &format!("{page}#answers"));
    assert!(browser.text("#answers").contains("Use <b>port</b> 8080."));
    assert!(browser.text("#needed").contains("handover run 1 --resume"));
    assert!(!browser.text("main").contains("Waiting for an answer"));

    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("Use <b>port</b> 8080."));
    browser.go(&page);
    assert!(browser.text("#answers").contains("8080"));
    assert!(!browser.text("main").contains("--resume"));
}

#[test]
fn keeps_typed_text_while_others_answer() {
    let epic = asking(&["1-1-a", "1-2-b"]);
    let service = Service::start(&epic.env, &[]);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let browser = Browser::start();
    browser.look(Look::DESK);
    browser.go(&format!("{}/runs/{run}", service.url));
    browser.wait("return document.getElementById('live').textContent === 'Live'");
    browser.click("#answer-1");
    browser.keys("Use 9090.");
    browser.eval("document.activeElement.blur()");
    epic.env.run(["answer", "1-1-a", "Use 8080."]).ok();
    browser.wait("return Number(document.documentElement.dataset.refreshed) > 0");
    assert_eq!(browser.eval("return document.getElementById('answer-1').value"), "Use 9090.");
    browser.click("#answer-1 ~ button");
    browser.wait("return location.hash === '#answers'");
    let answers = browser.text("#answers");
    assert!(answers.contains("Use 8080.") && answers.contains("Use 9090."), "{answers}");
}
