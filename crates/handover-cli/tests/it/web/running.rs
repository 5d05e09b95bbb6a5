//! What people decide about a run on its pages: leave a story out, give the run up, approve what only a person can
//! check.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::{TOO_WIDE, arrives, has_no_complaint};
use crate::runs::Epic;
use crate::runs::party::{asking, prompt, stuck_in};

/// The pages of the latest run.
fn pages(epic: &Epic, service: &Service) -> String {
    format!("{}/runs/{}", service.url, epic.status()["id"].as_str().unwrap())
}

/// Looks at a page in every way before its forms are used without JavaScript.
#[track_caller]
fn inspect(browser: &Browser, page: &str) {
    for look in Look::ALL {
        browser.look(look);
        browser.go(page);
        assert_eq!(browser.barriers(), Vec::<String>::new(), "{page} {look:?}");
        assert_eq!(browser.eval(TOO_WIDE), false, "{page} {look:?}");
    }
    has_no_complaint(browser);
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.go(page);
}

#[test]
fn a_story_is_skipped_and_the_run_goes_on() {
    let epic = asking(&["1-1-a", "1-2-b"]);
    let service = Service::start(&epic.env, &[]);
    let run = pages(&epic, &service);
    let story = format!("{run}/stories?story=1-1-a");
    let browser = Browser::start();
    inspect(&browser, &story);
    browser.click("#act input[name=reason]");
    browser.keys("not <b>needed</b>, password=hunter2sEcretOfAll");
    browser.click("#act button");
    super::until(|| epic.states() == ["failed", "blocked"]);
    arrives(&browser, &story);
    let page = browser.text("main");
    assert!(page.contains("skipped by dashboard: not <b>needed</b>"), "{page}");
    assert!(!page.contains("hunter2") && !page.contains("Skip this story"), "{page}");
    assert!(
        page.contains("handover run 1 --resume") && page.contains("Retry this story"),
        "{page}"
    );

    epic.env.run(["answer", "1-2-b", "Use 8080."]).ok();
    epic.run(&["--resume"]).fails(1);
    assert_eq!(epic.states(), ["failed", "done"]);
    assert!(epic.reason(0).contains("skipped by dashboard"), "{}", epic.reason(0));
    assert_eq!(epic.git(&["show", "handover/failed/1-1-a:1-1-a.txt"]), "half", "its work is kept");
    browser.go(&story);
    assert!(!browser.text("main").contains("Skip this story"));
}

/// Of a run that is over: its other story depends on it, and is done after it.
#[test]
fn a_story_is_retried_after_the_end_of_its_run() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let waits = crate::runs::story("1-2-b").replace("\n## Tasks", "\nDepends on: 1.1\n\n## Tasks");
    epic.env.write("docs/stories/1-2-b.md", waits);
    epic.commit_all("depends");
    stuck_in(&epic);
    assert_eq!(epic.states(), ["blocked", "blocked"]);
    let service = Service::start(&epic.env, &[]);
    let run = pages(&epic, &service);
    let story = format!("{run}/stories?story=1-1-a");
    let browser = Browser::start();
    browser.go(&format!("{run}/stories?story=1-2-b"));
    assert!(!browser.text("main").contains("Retry this story"), "the other one decides");
    inspect(&browser, &story);
    browser.click("#retry input[name=reason]");
    browser.keys("the key is <b>there</b> now");
    browser.click("#retry button");
    super::until(|| epic.states() == ["pending", "pending"]);
    browser.go(&story);
    assert!(!browser.text("main").contains("Retry this story"));
    browser.go(&format!("{}/changes", service.url));
    let changes = browser.text("#decided");
    let retried = "Retried 1-1-a: the key is <b>there</b> now\ndashboard";
    assert!(changes.contains(retried), "{changes}");

    // What waited for it is begun, and has a question of its own.
    epic.run(&["--resume"]).fails(3);
    assert_eq!(epic.states(), ["done", "blocked"]);
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("the key is <b>there</b> now"));
    epic.env.run(["answer", "1-2-b", "It is there, too."]).ok();
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    browser.go(&story);
    assert!(!browser.text("main").contains("Retry this story"), "it is done");
}

#[test]
fn a_run_is_given_up() {
    let epic = asking(&["1-1-a", "1-2-b"]);
    let service = Service::start(&epic.env, &[]);
    let run = pages(&epic, &service);
    let browser = Browser::start();
    inspect(&browser, &run);
    browser.click("#give-up summary");
    browser.click("#give-up input[name=reason]");
    browser.keys("another plan");
    browser.click("#give-up button");
    super::until(|| epic.states() == ["failed", "failed"]);
    browser.go(&run);
    let page = browser.text("main");
    assert!(page.contains("the run was abandoned by dashboard: another plan"), "{page}");
    assert!(!page.contains("Which port"), "nothing is asked any more: {page}");
    epic.run(&["--resume"]).fails(1);
    for story in ["1-1-a", "1-2-b"] {
        let kept = epic.git(&["show", &format!("handover/failed/{story}:{story}.txt")]);
        assert_eq!(kept, "half", "{story}");
    }
    browser.go(&run);
    assert!(!browser.text("main").contains("Give this run up"), "it is over");
}

#[test]
fn what_only_a_person_can_check_is_approved() {
    let epic = Epic::new(&["1-1-a"]);
    let manual = |id: &str, criterion: &str| json!({"id": id, "criterion": criterion, "kind": "manual", "steps": ["Look at it"], "expected": "It is nice"});
    let result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "epic-1", "phase": "uat", "verdict": "complete",
        "summary": "x", "scenarios": [manual("M1", "1-1-a <i>AC1</i>"), manual("M2", "1-1-a AC2")],
    });
    epic.script(&format!("* uat * | result '{result}'"));
    epic.run(&["--uat", "quick"]).ok();
    let service = Service::start(&epic.env, &[]);
    let run = pages(&epic, &service);
    let browser = Browser::start();
    inspect(&browser, &run);
    assert!(browser.text("#approvals").contains("1-1-a <i>AC1</i>"));
    browser.click("#approvals li:first-child input[name=reason]");
    browser.keys("as <b>drawn</b>");
    browser.click("#approvals li:first-child button");
    arrives(&browser, &format!("{run}#approvals"));
    super::until(|| browser.text("#approvals").contains("approved"));
    browser.click("#approvals li:last-child form:last-child input[name=reason]");
    browser.keys("the mail never came");
    browser.click("#approvals li:last-child form:last-child button");
    super::until(|| browser.text("#approvals li:last-child").contains("rejected"));
    let first = browser.text("#approvals li:first-child");
    assert!(first.contains("approved as <b>drawn</b> dashboard"), "{first}");
    let last = browser.text("#approvals li:last-child");
    assert!(last.contains("the mail never came"), "{last}");
    // The last word counts.
    browser.click("#approvals li:last-child button");
    super::until(|| browser.text("#approvals li:last-child").contains("approved"));
    let changes = format!("{}/changes", service.url);
    browser.go(&changes);
    let changes = browser.text("#decided");
    assert!(changes.contains("Rejected M2: the mail never came\ndashboard"), "{changes}");
    let status = epic.status();
    let said = &status["uat"]["approvals"];
    assert_eq!((&said[0]["scenario"], &said[0]["holds"]), (&json!("M1"), &json!(true)));
    assert_eq!((&said[1]["scenario"], &said[1]["by"]), (&json!("M2"), &json!("dashboard")));
    let report = epic.env.run(["report", "--html", "-"]).ok().stdout;
    assert!(report.contains("as &lt;b&gt;drawn&lt;/b&gt;"), "{report}");
    let again = epic.env.run(["run", "uat", "1", "--gate", "skip"]).ok().stdout;
    assert!(again.contains("approved by dashboard: as <b>drawn</b>"), "{again}");
}
