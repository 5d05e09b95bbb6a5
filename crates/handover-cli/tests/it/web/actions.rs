//! Every action of the pages, by keyboard alone and on a dark phone, with the checker before and after.

use handover_testkit::{Browser, Look, Service, TestEnv};
use serde_json::json;

use super::{TOO_WIDE, has_no_complaint};
use crate::project;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// Something that a person does on a page.
struct Action {
    /// Where.
    page: String,
    /// What is opened, typed into, and pressed, in order: a selector, and the text if it is a field.
    steps: Vec<(String, Option<&'static str>)>,
    /// Where it leads, as the beginning of an address.
    leads: String,
    /// What the page says then.
    says: &'static str,
}

/// How it is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hands {
    Keyboard,
    Phone,
}

/// Everything twice: each pair leaves things as they were.
fn actions(known: &Known) -> Vec<Action> {
    let retire = |page: String, says| {
        let details = "main details.act:has(input[value=retire])";
        let steps = vec![
            (format!("{details} summary"), None),
            (format!("{details} input[name=reason]"), Some("it <b>misleads</b>")),
            (format!("{details} button"), None),
        ];
        Action { leads: page.clone(), page, steps, says }
    };
    let press = |page: &str, verb: &str, says| Action {
        page: page.to_owned(),
        steps: vec![(format!("main form:has(input[name=do][value={verb}]) button"), None)],
        leads: page.to_owned(),
        says,
    };
    let mut all = Vec::new();
    for (page, retired, restored) in [
        ("/packages/1".to_owned(), "Retired package 1: it <b>misleads</b>", "Restored package 1"),
        (format!("/notes/{}", known.note), "Retired note", "Restored note"),
        (format!("/strategies/{}", known.strategy), "Retired strategy", "Restored strategy"),
        (format!("/errors/{}", known.error), "Retired error", "Restored error"),
    ] {
        all.push(retire(page.clone(), retired));
        all.push(press(&page, "restore", restored));
    }
    let error = format!("/errors/{}", known.error);
    all.push(press(&error, "confirm", "It worked"));
    all.push(press(&error, "reject", "It did not"));
    // A statement that is outdated stays so until somebody says that it counts; and back.
    let amended = format!("/notes/{}", known.amended);
    all.push(press(&amended, "confirm", "Confirmed a replacement of"));
    all.push(press(&amended, "reject", "Rejected a replacement of"));
    all.push(press("/changes", "undo", "Undid a change of"));
    let replaced = format!("/packages/{}", known.replaced);
    for (verb, says) in
        [("confirm", "Confirmed a replacement of"), ("reject", "Rejected a replacement of")]
    {
        all.push(press(&replaced, verb, says));
        all.push(press("/changes", "undo", "Undid a change of"));
    }
    all.push(press("/sessions/s1", "close", "Closed session s1"));
    all.push(press("/sessions/s1", "reopen", "Reopened session s1"));
    all.push(press("/sessions/s1", "fail", "Closed session s1"));
    all.push(press("/changes", "undo", "Undid a change of session s1"));
    let page = format!("/receipts/{}", known.receipts[0]);
    all.push(Action {
        steps: vec![
            ("#why input[name=why]".to_owned(), Some("docs/a.md")),
            ("#why button".to_owned(), None),
        ],
        leads: format!("{page}?why="),
        says: "docs/a.md",
        page: page.clone(),
    });
    all.push(Action {
        steps: vec![("main form.inline button".to_owned(), None)],
        leads: format!("{page}/compare?with={}", known.receipts[1]),
        says: "side by side",
        page: format!("{page}/compare"),
    });
    all
}

struct Known {
    note: String,
    /// A note and a package that later ones replace.
    amended: String,
    replaced: String,
    strategy: String,
    error: String,
    /// The later one first.
    receipts: [String; 2],
}

fn filled() -> (TestEnv, Known) {
    let env = project();
    env.write("docs/a.md", "# Tokens rotate\n\n## Summary\nOn every use.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let added = |args: &[&str]| {
        let note = env.run(["note", "add"].iter().chain(args).chain(&["--json"])).ok().json();
        note["note"]["id"].as_str().unwrap().to_owned()
    };
    let amended = added(&["Map tiles are cached on the device for 7 days."]);
    added(&["Eviction is up to the operating system.", "--supersedes", &amended]);
    for (file, days) in [("old.md", "7 days"), ("new.md", "30 days, 7 days was too short")] {
        let text =
            format!("# Cache of map tiles\n\nMap tiles are cached on the device for {days}.\n");
        env.write(file, text);
        env.run(["package", "add", file, "--kind", "decisions", "--producer", "tech_lead"]).ok();
    }
    let replaced = env.run(["package", "list", "--json"]).ok().json();
    let replaced =
        replaced["packages"].as_array().unwrap().iter().find(|one| one["path"] == "old.md");
    let replaced = replaced.unwrap()["id"].to_string();
    // It is known that one may replace the other, and nothing is decided.
    env.run(["package", "confirm", &replaced]).ok();
    env.run(["undo"]).ok();
    let note = added(&["Prices are in cents."]);
    let resolve =
        ["error", "resolve", "--message", "connect ECONNREFUSED", "--solution", "start it"];
    env.run(resolve).ok();
    let says = "One refresh at a time, behind a lock.";
    let add =
        ["reasoning", "add", "--role", "developer", "--phase", "decisions", says, "--group", "g1"];
    env.run(add).ok();
    env.run(["strategy", "extract", "--group", "g1"]).ok();
    for (role, task) in [
        ("developer", "Rotate the tokens."),
        ("tech_lead", "Look at it."),
        ("developer", "Rotate them again."),
    ] {
        env.run(["assemble", "--role", role, "--task", task, "--deliver"]).ok();
    }
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    let receipt = |nth: usize| receipts["receipts"][nth]["id"].as_str().unwrap().to_owned();
    let text = |args: &[&str], list: &str, key: &str| {
        let all = env.run(args).ok().json();
        all[list][0][key].as_str().unwrap_or_else(|| panic!("{all}")).to_owned()
    };
    let known = Known {
        note,
        amended,
        replaced,
        strategy: text(&["strategy", "list", "--json"], "strategies", "id"),
        error: text(&["error", "list", "--json"], "errors", "hash"),
        receipts: [receipt(0), receipt(2)],
    };
    (env, known)
}

impl Hands {
    pub(super) fn look(self) -> Look {
        match self {
            Self::Keyboard => Look::DESK,
            Self::Phone => Look::PHONE.dark(),
        }
    }

    /// Presses or types.
    pub(super) fn touch(self, browser: &Browser, css: &str, text: Option<&str>) {
        match self {
            Self::Phone => browser.click(css),
            Self::Keyboard => {
                let is_there = format!("return document.activeElement.matches({})", json!(css));
                let found = (0..150).any(|_| {
                    browser.keys(TAB);
                    browser.eval(&is_there) == true
                });
                assert!(found, "Tab never reaches `{css}` on {}", browser.address());
                let seen = "const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none' || style.boxShadow !== 'none'";
                assert_eq!(browser.eval(seen), true, "the focus of `{css}` is seen");
            }
        }
        match (text, self) {
            (Some(text), _) => browser.keys(text),
            (None, Self::Keyboard) => browser.keys(ENTER),
            (None, Self::Phone) => {}
        }
    }
}

#[track_caller]
pub(super) fn is_clean(browser: &Browser, hands: Hands) {
    let page = browser.address();
    assert_eq!(browser.barriers(), Vec::<String>::new(), "{hands:?} {page}");
    assert_eq!(browser.eval(TOO_WIDE), false, "{hands:?} {page}");
}

#[test]
fn every_action_works_by_keyboard_and_on_a_phone() {
    let (env, known) = filled();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    for hands in [Hands::Keyboard, Hands::Phone] {
        browser.look(hands.look());
        for action in actions(&known) {
            browser.go(&format!("{}{}", service.url, action.page));
            is_clean(&browser, hands);
            browser.eval("window.before = true");
            for (css, text) in &action.steps {
                hands.touch(&browser, css, *text);
            }
            browser
                .wait("return window.before === undefined && document.readyState === 'complete'");
            let address = browser.address();
            assert!(address.starts_with(&format!("{}{}", service.url, action.leads)), "{address}");
            let main = browser.text("main");
            assert!(main.contains(action.says), "{} on {address}: {main}", action.says);
            is_clean(&browser, hands);
        }
    }
    has_no_complaint(&browser);
    let session = env.run(["session", "show", "s1", "--json"]).ok().json();
    assert_eq!(session["session"]["status"], "active", "{session}");
}

#[test]
fn the_address_of_a_page_is_copied_by_button_and_key() {
    let (env, known) = filled();
    let service = Service::start(&env, &[]);
    let browser = Browser::start();
    let grant = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": service.url});
    browser.devtools("Browser.grantPermissions", grant);
    browser.look(Look::DESK);
    let copied = || {
        let read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(String(e)))";
        browser.eval_async(read).as_str().unwrap().to_owned()
    };
    for page in [format!("/receipts/{}", known.receipts[0]), "/sessions/s1".to_owned()] {
        let address = format!("{}{page}", service.url);
        browser.go(&address);
        Hands::Keyboard.touch(&browser, "[data-copy]", None);
        browser.wait("return document.querySelector('[data-copy]').textContent === 'Copied'");
        assert_eq!(copied(), address);
    }
    let filtered = format!("{}/knowledge?type=note", service.url);
    browser.go(&filtered);
    browser.keys("c");
    browser.wait("return document.getElementById('live').textContent === 'Link copied'");
    assert_eq!(copied(), filtered);
}
