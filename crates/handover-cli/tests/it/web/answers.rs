//! A person answers the question of a run.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::{TOO_WIDE, arrives};
use crate::runs::party::{asking, prompt, stuck};

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

/// A developer that cannot go on ends the run; its story takes an answer all the same, and `--resume` uses it.
#[test]
fn a_blocked_story_takes_an_answer_after_the_end_of_its_run() {
    let epic = stuck(&["1-1-a"]);
    epic.env.write("after.txt", "x");
    let service = Service::start(&epic.env, &[]);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let page = format!("{}/runs/{run}", service.url);
    let browser = Browser::start();
    for look in Look::ALL {
        browser.look(look);
        browser.go(&page);
        assert_eq!(browser.barriers(), Vec::<String>::new(), "{look:?}");
        assert_eq!(browser.eval(TOO_WIDE), false, "{look:?}");
    }
    assert!(browser.text("#questions").contains("no key"));
    browser.go(&format!("{page}/stories?story=1-1-a"));
    let story = browser.text("main");
    assert!(!story.contains("Skip this story"), "the engine refuses that: {story}");
    browser.go(&page);
    browser.click("#questions textarea");
    browser.keys("The key is in the <i>vault</i>.");
    browser.click("#questions button");
    super::until(|| browser.text("main").contains("Everything is answered"));
    let needed = browser.text("#needed");
    assert!(needed.contains("handover run 1 --resume") && !needed.contains("no key"), "{needed}");
    assert!(browser.text("#answers").contains("1-1-a by dashboard"));
    browser.go(&format!("{}/changes", service.url));
    let changes = browser.text("#decided");
    assert!(changes.contains("Answered 1-1-a: The key is in the <i>vault</i>."), "{changes}");
    assert!(changes.contains("dashboard") && changes.contains("Epic 1"), "{changes}");

    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
    let asked = prompt(&epic, "1-1-a.dev.2..");
    assert!(
        asked.contains("no key") && asked.contains("The key is in the <i>vault</i>."),
        "{asked}"
    );
    assert!(asked.contains("handover/failed/1-1-a"), "it knows where the work is: {asked}");
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "b");
    browser.go(&page);
    assert!(!browser.text("main").contains("--resume"));
}
