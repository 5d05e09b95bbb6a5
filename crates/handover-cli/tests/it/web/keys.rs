//! Everything that a person decides about a run, and the summary of a package, by keyboard alone.

use handover_testkit::{Browser, Look, Service};
use serde_json::json;

use super::actions::{Hands, is_clean};
use super::{has_no_complaint, until};
use crate::project;
use crate::runs::Epic;
use crate::runs::party::{asking, stuck};

/// A page, and a keyboard.
struct Keys {
    browser: Browser,
    run: String,
    _service: Service,
}

impl Keys {
    fn of(epic: &Epic) -> Self {
        let service = Service::start(&epic.env, &[]);
        let run = format!("{}/runs/{}", service.url, epic.status()["id"].as_str().unwrap());
        let browser = Browser::start();
        browser.look(Look::DESK);
        Self { browser, run, _service: service }
    }

    /// Fields are typed into, everything else is pressed.
    fn press(&self, page: &str, steps: &[(&str, Option<&str>)]) {
        self.browser.go(page);
        is_clean(&self.browser, Hands::Keyboard);
        for (css, text) in steps {
            Hands::Keyboard.touch(&self.browser, css, *text);
        }
    }
}

#[test]
fn a_question_is_answered() {
    let epic = asking(&["1-1-a"]);
    let keys = Keys::of(&epic);
    keys.press(
        &keys.run,
        &[("#questions textarea", Some("Use 8080.")), ("#questions form button", None)],
    );
    keys.browser.wait("return location.hash === '#answers'");
    assert!(keys.browser.text("#answers").contains("Use 8080."));
    is_clean(&keys.browser, Hands::Keyboard);
    has_no_complaint(&keys.browser);
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
}

#[test]
fn a_story_is_skipped_and_the_run_given_up() {
    let epic = asking(&["1-1-a", "1-2-b"]);
    let keys = Keys::of(&epic);
    let story = format!("{}/stories?story=1-1-a", keys.run);
    keys.press(&story, &[("#act input[name=reason]", Some("later")), ("#act button", None)]);
    until(|| epic.states() == ["failed", "blocked"]);
    keys.browser.wait("return document.body.textContent.includes('skipped by dashboard: later')");
    keys.press(
        &keys.run,
        &[
            ("#give-up summary", None),
            ("#give-up input[name=reason]", Some("another plan")),
            ("#give-up button", None),
        ],
    );
    until(|| epic.states() == ["failed", "failed"]);
    assert!(epic.reason(1).contains("abandoned by dashboard: another plan"), "{}", epic.reason(1));
    has_no_complaint(&keys.browser);
}

#[test]
fn a_story_is_retried() {
    let epic = stuck(&["1-1-a"]);
    let keys = Keys::of(&epic);
    let story = format!("{}/stories?story=1-1-a", keys.run);
    let steps = [("#retry input[name=reason]", Some("the key is there")), ("#retry button", None)];
    keys.press(&story, &steps);
    until(|| epic.states() == ["pending"]);
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
    has_no_complaint(&keys.browser);
}

#[test]
fn scenarios_are_approved_and_rejected() {
    let epic = Epic::new(&["1-1-a"]);
    let manual = |id: &str| json!({"id": id, "criterion": "1-1-a AC1", "kind": "manual", "steps": ["Look at it"], "expected": "It is nice"});
    let result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "epic-1", "phase": "uat", "verdict": "complete",
        "summary": "x", "scenarios": [manual("M1"), manual("M2")],
    });
    epic.script(&format!("* uat * | result '{result}'"));
    epic.run(&["--uat", "quick"]).ok();
    let keys = Keys::of(&epic);
    let first = "#approvals li:first-child form:has([value=approve])";
    let last = "#approvals li:last-child form:has([value=object])";
    for (form, note, word, item) in
        [(first, "as drawn", "approved", "first"), (last, "no mail came", "rejected", "last")]
    {
        let (field, button) = (format!("{form} input[name=reason]"), format!("{form} button"));
        keys.press(&keys.run, &[(&field, Some(note)), (&button, None)]);
        let item = format!("#approvals li:{item}-child");
        until(|| keys.browser.text(&item).contains(&format!("{word} {note} dashboard")));
        is_clean(&keys.browser, Hands::Keyboard);
    }
    has_no_complaint(&keys.browser);
    let said = epic.status()["uat"]["approvals"].clone();
    assert_eq!((&said[0]["holds"], &said[1]["holds"]), (&json!(true), &json!(false)), "{said}");
}

#[test]
fn a_summary_is_edited() {
    let env = project();
    env.write("docs/a.md", "# Tokens rotate\n\n## Summary\nOn every use.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    browser.look(Look::DESK);
    browser.go(&format!("{}/packages/1", service.url));
    let form = "main details.act:has(textarea)";
    for (css, text) in [
        (format!("{form} summary"), None),
        (format!("{form} textarea"), Some(" Or after an hour.")),
        (format!("{form} button"), None),
    ] {
        Hands::Keyboard.touch(&browser, &css, text);
    }
    browser.wait("return location.pathname === '/packages/2'");
    assert!(browser.text("#done").contains("Replaced"), "{}", browser.text("#done"));
    is_clean(&browser, Hands::Keyboard);
    let package = env.run(["package", "show", "2", "--json"]).ok().json();
    let summary = package["package"]["summary"].as_str().unwrap();
    assert!(
        summary.contains("Or after an hour.") && summary.contains("On every use."),
        "{summary}"
    );
    has_no_complaint(&browser);
}
