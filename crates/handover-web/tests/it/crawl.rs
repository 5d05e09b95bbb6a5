//! Every page reachable by links, for stores of all sorts: well formed, and without broken links.

use std::collections::BTreeSet;

use handover_model::{PackageId, RunPhase, Verdict};
use handover_store::ReceiptStep;
use proptest::prelude::*;
use serde_json::json;

use crate::fixture::Fixture;
use crate::markup;
use crate::run_scene::{Ends, STORIES, play};
use crate::scene::login;

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.replace('+', " ").into_bytes().into_iter();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: Vec<u8> = rest.by_ref().take(2).collect();
            let digits = std::str::from_utf8(&digits).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Follows every link from the overview; the addresses of all pages.
#[track_caller]
fn crawl(fixture: &Fixture) -> BTreeSet<String> {
    let mut known = BTreeSet::from(["/".to_owned()]);
    let mut open = vec!["/".to_owned()];
    while let Some(address) = open.pop() {
        assert!(known.len() < 2_000, "the pages never end: {address}");
        let (path, query) = address.split_once('?').unwrap_or((&address, ""));
        let query: Vec<(String, String)> = query
            .split('&')
            .filter_map(|field| field.split_once('='))
            .map(|(name, value)| (decoded(name), decoded(value)))
            .collect();
        let query: Vec<(&str, &str)> =
            query.iter().map(|(name, value)| (&**name, &**value)).collect();
        let response = fixture.get(&decoded(path), &query);
        // Answers are sent by a form, which has no page.
        let is_form = path.ends_with("/answers") || path.ends_with("/act");
        assert!([200, 303].contains(&response.status) || is_form, "{address}: {}", response.status);
        let is_file = path.ends_with(".svg") || path.ends_with("/report.html");
        if response.status != 200 || path.starts_with("/assets/") || is_file {
            continue;
        }
        for found in markup::check(&String::from_utf8(response.body).unwrap()) {
            assert!(found.starts_with('/') && !found.starts_with("//"), "{found} on {address}");
            let found = found.split('#').next().unwrap().to_owned();
            // Every list can be sorted by every column, in both directions.
            let is_another_order = found.contains("sort=-");
            if !is_another_order && known.insert(found.clone()) {
                open.push(found);
            }
        }
    }
    known.retain(|address| !address.starts_with("/assets/") && !address.starts_with("/theme"));
    known
}

#[track_caller]
fn assert_found(pages: &BTreeSet<String>, expected: &[&str]) {
    for address in expected {
        assert!(pages.contains(*address), "{address} is on no page: {pages:?}");
    }
}

#[test]
fn every_record_is_reached_from_the_overview() {
    let fixture = login();
    play(&fixture, "run_1", &STORIES, |story, phase, _| {
        Ends::With(match (story, phase) {
            ("1-2-logout", _) => Verdict::Blocked,
            (_, RunPhase::Review) => Verdict::Passed,
            _ => Verdict::Complete,
        })
    });
    let pages = crawl(&fixture);
    assert_found(
        &pages,
        &[
            "/sessions/s1",
            "/sessions/s1/packages?reach=nobody",
            "/packages/1",
            "/packages/4",
            "/receipts/r_rich",
            "/receipts/r_00000070",
            "/runs/run_1",
            "/runs/run_1/journal",
            "/runs/run_1/stories?story=1-2-logout",
            "/runs/run_1/steps?story=1-1-login&phase=gates&attempt=1",
            "/strategies",
            "/changes",
            "/receipts/r_rich/compare",
        ],
    );
    assert!(pages.iter().any(|page| page.starts_with("/errors/")), "{pages:?}");
}

#[test]
fn an_empty_project_has_pages() {
    let pages = crawl(&Fixture::new());
    assert_found(&pages, &["/sessions", "/runs", "/knowledge", "/notes", "/errors", "/strategies"]);
}

/// What an agent or a person can write, in links and titles.
const TEXTS: [&str; 6] = [
    "Plain words",
    "a&b=c?d#e%20f+g",
    "<i>\"quoted\"</i> 'too'",
    "../../etc/passwd",
    "日本語 \u{202e}turned\u{202c} 👩‍👧",
    "x",
];

/// Something that happens in a session: what, who, text, which of the packages so far.
type Step = (u8, u8, usize, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..7_u8, 0..4_u8, 0..TEXTS.len(), 0..40_usize), 0..30)
}

fn happen(fixture: &Fixture, steps: &[Step]) {
    let roles = ["developer", "qa_expert", "tech_lead", "gardener_2"];
    let mut packages: Vec<PackageId> = Vec::new();
    for ((what, who, text, which), number) in steps.iter().zip(1_i64..) {
        let (who, text) = (roles[usize::from(*who)], TEXTS[*text]);
        let some: Vec<PackageId> = packages.iter().skip(which % 7).step_by(2).copied().collect();
        match what {
            0 | 1 => packages.extend(fixture.register(&[fixture.package(number, who, text, text)])),
            2 => fixture.think(number, who, text),
            3 => drop(fixture.receipt(number, who, &some, text)),
            4 => {
                let receipt = fixture.assemble(number, who, &some, text);
                if which % 2 == 0 {
                    let reason = fixture.redactor.clean(text);
                    fixture.advance(&receipt, number, &ReceiptStep::Failed { reason });
                }
            }
            5 => drop(fixture.error(number, text, (which % 2 == 0).then_some(text))),
            _ => {
                fixture.event(
                    number,
                    "verdict",
                    json!({"role": who, "verdict": text, "summary": text}),
                );
                fixture.strategy(number, text, (which % 2 == 0).then_some(text));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_any_session_are_well_formed(steps in steps()) {
        let fixture = Fixture::new();
        happen(&fixture, &steps);
        let pages = crawl(&fixture);
        // What was registered can be reached, whatever it is called.
        let registered = steps.iter().filter(|(what, ..)| *what < 2).count();
        let found = (1..=registered).filter(|id| pages.contains(&format!("/packages/{id}"))).count();
        prop_assert_eq!(found, registered, "{:?}", pages);
    }

    /// The numbers at the top of a session match its records.
    #[test]
    fn the_numbers_of_a_session_add_up(steps in steps()) {
        let fixture = Fixture::new();
        happen(&fixture, &steps);
        let page = crate::readable::readable(&fixture.page("/sessions/s1"));
        let count = |of: &[u8]| steps.iter().filter(|(what, ..)| of.contains(what)).count();
        let (packages, receipts, thoughts) = (count(&[0, 1]), count(&[3, 4]), count(&[2, 6]));
        let tabs = format!("[Packages {packages}](/sessions/s1/packages)");
        prop_assert!(page.contains(&tabs), "{} is not in {}", tabs, page);
        let tabs = format!("[Receipts {receipts}](/sessions/s1/receipts)");
        prop_assert!(page.contains(&tabs), "{} is not in {}", tabs, page);
        let tabs = format!("[Reasoning {thoughts}](/sessions/s1/reasoning)");
        prop_assert!(page.contains(&tabs), "{} is not in {}", tabs, page);
        // Each package reached someone or no one.
        let number = |line: &str, name: &str| -> Option<usize> {
            line.strip_prefix(name)?.split_whitespace().next()?.parse().ok()
        };
        let all = |name: &str| page.lines().find_map(|line| number(line, name)).unwrap_or(0);
        if packages > 0 {
            prop_assert_eq!(all("Reached someone: ") + all("Reached nobody: "), packages, "{}", page);
        }
    }
}

#[test]
fn long_diffs_are_cut_and_longer_ones_skipped() {
    let fixture = Fixture::new();
    let lines =
        |word: &str, count: usize| (0..count).map(|n| format!("{word} {n}\n")).collect::<String>();
    fixture.receipt(1, "developer", &[], &lines("old", 900));
    let second = fixture.receipt(2, "developer", &[], &lines("new", 900));
    let page = fixture.page(&format!("/receipts/{second}"));
    markup::check(&page);
    assert_eq!(page.matches("<ins>").count() + page.matches("<del>").count(), 400);
    assert!(page.contains("… and 1,400 more lines"), "{page}");
    let third = fixture.receipt(3, "developer", &[], &lines("long", 30_000));
    let page = fixture.page(&format!("/receipts/{third}"));
    assert!(page.contains("The texts are too long to be compared line by line."));
    assert!(!page.contains("<ins>"), "{} bytes", page.len());
}
